"""A bad value is refused in the same words by the library, a service, its client and the CLI."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

import toprung
from tests.http.serving import Serving, serving
from toprung import client
from toprung.cli import main
from toprung.cli.outcome import OPTION_NAMES
from toprung.domain.access import VERBS
from toprung.domain.board import CHOICES
from toprung.domain.ranking import RANKINGS
from toprung.errors import Invalid, ToprungError
from toprung.http.settings import ServiceSettings
from toprung.operations.requests import INCLUDES, NUMBERS
from toprung.testing.clock import FrozenClock

NOW = "2026-11-15T12:00:00Z"


class Case(NamedTuple):
    """One bad value, by each way in that can say it."""

    call: Callable[[Any], object]
    """Of the library and of the client."""
    http: tuple[str, str, dict[str, Any], Any] | None = None
    """Method, path, query and body."""
    cli: str | None = None


class Told(NamedTuple):
    field: str
    detail: str


def rule(name: str, value: Any, cli: str | None = None) -> Any:
    case = Case(
        lambda boards: boards.create("new", **{name: value}),
        ("PUT", "/v1/boards/new", {}, {name: value}),
        f"board create new {cli}" if cli else None,
    )
    return pytest.param(case, id=f"rule-{name}-{str(value)[:30]}")


def read(method: str, option: str, value: Any, cli: str | None = None) -> Any:
    """An option of a read of the board `b`, which has the player `ann`."""
    arguments, path, command = READS[method]
    parameter = PARAMETERS.get(option, option)
    case = Case(
        lambda boards: getattr(boards["b"], method)(*arguments, **{option: value}),
        ("GET", f"/v1/boards/b{path}", {**needed(method), parameter: value}, None)
        if isinstance(value, str | int) and not isinstance(value, bool)
        else None,
        f"{command} {cli}" if cli else None,
    )
    return pytest.param(case, id=f"{method}-{option}-{str(value)[:30]}")


READS: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "standing": (("ann",), "/standings/ann", "rank b ann"),
    "standings": ((), "/standings", "top b"),
    "around": (("ann",), "/standings/ann/around", "around b ann"),
    "around_score": ((5,), "/around", "around b --score 5"),
    "friends": (("ann",), "/standings/ann/friends", "friend top b ann"),
    "find": (("a",), "/find", "find b a"),
    "distribution": ((), "/distribution", "distribution b"),
    "submissions": (("ann",), "/players/ann/submissions", "submissions b ann"),
    "periods": ((), "/periods", "periods b"),
    "scopes": ((), "/scopes", ""),
}
PARAMETERS = {"from_rank": "from"}


def needed(method: str) -> dict[str, str]:
    return {"around_score": {"score": "5"}, "find": {"text": "a"}}.get(method, {})


def score(cli: str | None = None, /, **members: Any) -> Any:
    """A submission of the board `b`."""
    body = {"player": "ann", "score": 1} | members
    case = Case(
        lambda boards: boards["b"].submit(**body),
        ("POST", "/v1/boards/b/scores", {}, body),
        f"submit b {cli}" if cli else None,
    )
    return pytest.param(case, id=f"score-{str(members)[:40]}")


def players(value: Any) -> Any:
    path = "/v1/boards/b/standings/lookup"
    case = Case(lambda boards: boards["b"].lookup(value), ("POST", path, {}, {"players": value}))
    return pytest.param(case, id=f"players-{str(value)[:30]}")


def profile(method: str, cli: str | None = None, /, **members: Any) -> Any:
    name = {"PUT": "set_player", "PATCH": "patch_player"}[method]
    case = Case(
        lambda boards: getattr(boards, name)("ann", **members),
        (method, "/v1/players/ann", {}, members),
        f"player {name.removesuffix('_player')} ann {cli}" if cli else None,
    )
    return pytest.param(case, id=f"{name}-{str(members)[:40]}")


def key(cli: str | None = None, /, **members: Any) -> Any:
    body = {"name": "game"} | members
    case = Case(
        lambda boards: boards.keys.create(**body),
        ("POST", "/v1/keys", {}, body),
        f"keys create {cli}" if cli else None,
    )
    return pytest.param(case, id=f"key-{str(members)[:40]}")


def everywhere(path: str, call: Callable[[str, Any], object], cli: str) -> list[Any]:
    """A bad board or player id in a path; {} stands for it."""
    return [
        pytest.param(
            Case(
                partial(call, bad),
                ("GET", path.format(quote(bad)), {}, None),
                cli.format(shlex.quote(bad)),
            ),
            id=f"{path}-{bad[:20]}",
        )
        for bad in ("Bad!", "x" * 200, "a\\b")
    ]


def on_board(method: str, arguments: tuple[Any, ...], *rest: Any) -> object:
    """A call of a method of the board `b`: `rest` is options, if any, and the boards."""
    *options, boards = rest
    return getattr(boards["b"], method)(*arguments, **(options[0] if options else {}))


def created(name: str, value: Any, boards: Any) -> object:
    return boards.create("new", **{name: value})


def listed(after: Any, boards: Any) -> object:
    return boards.list(after)


SEASON = {"name": "s", "starts": "2026-01-01T00:00:00Z"}
RULES = [
    rule("title", 5),
    rule("title", "x" * 201, f"--title {'x' * 201}"),
    *(rule(name, "up", f"--{name.replace('_', '-')} up") for name in CHOICES),
    *(rule(name, value) for name in CHOICES for value in (5, True, ["asc"], {"a": 1})),
    rule("decimals", 10, "--decimals 10"),
    rule("decimals", -1, "--decimals=-1"),
    rule("decimals", "two", "--decimals two"),
    rule("decimals", 1.5, "--decimals 1.5"),
    rule("decimals", True),
    rule("decimals", [2]),
    rule("decimals", 10**30, f"--decimals {10**30}"),
    rule("windows", "daily"),
    rule("windows", []),
    rule("windows", {"name": "daily"}),
    rule("windows", ["dayly"], "--window dayly"),
    rule("windows", [""], "--window ''"),
    rule("windows", [5]),
    rule("windows", [None]),
    rule("windows", ["daily", "daily"], "--window daily --window daily"),
    rule("windows", ["daily"] * 65),
    *(
        rule("windows", [window], f"--window {shlex.quote(json.dumps(window))}")
        for window in (
            {},
            {"name": 5},
            {"name": "daily", "retain": 0},
            {"name": "daily", "retain": "5"},
            {"name": "daily", "retain": 1.5},
            {"name": "daily", "retain": 65},
            {"name": "all-time", "retain": 2},
            {"name": "daily", "colour": "red"},
            {"name": "Cup", "cron": "0 12 * * *"},
            {"name": "cup", "cron": 5},
            {"name": "cup", "cron": "0 25 * * *"},
            {"name": "cup", "cron": "0 12 * *"},
            SEASON,
            SEASON | {"ends": 5},
            SEASON | {"ends": "tomorrow"},
            SEASON | {"ends": "2025-01-01T00:00:00Z"},
        )
    ),
    rule("default_window", "nope", "--default-window nope"),
    rule("default_window", 5),
    rule("timezone", "Mars/Base", "--timezone Mars/Base"),
    rule("timezone", 5),
    rule("scopes", "country"),
    rule("scopes", ["Country"], "--scope Country"),
    rule("scopes", ["friends"], "--scope friends"),
    rule("scopes", [5]),
    rule("scopes", {"country": 1}),
    rule("scopes", [f"a{n}" for n in range(9)]),
    rule("public", "yes"),
    rule("public", 1),
    *(
        rule(name, value, f"--{name.replace('_', '-')}={value}")
        for name in ("score_min", "score_max", "max_increase")
        for value in ("much", "1.5", 10**30, "1e400", "")
    ),
    *(rule("score_min", value) for value in (True, [1], {"a": 1})),
    rule("max_increase", -1, "--max-increase=-1"),
    rule("colour", "red"),
    rule("version", 3),
]
QUERIES = [
    *(
        read(method, option, value, cli and f"--{option}={value}")
        for method in ("standing", "standings", "around", "around_score", "friends", "find")
        for option, value, cli in (
            ("ranking", "best", "yes"),
            ("window", "hourly", "yes"),
            ("scope", "team:x", "yes"),
            ("scope", "country:" + "x" * 65, "yes"),
            ("period", "2020", "yes"),
            ("ranking", 5, ""),
            ("ranking", ["dense"], ""),
            ("window", ["daily"], ""),
            ("window", True, ""),
            ("period", ["all"], ""),
            ("scope", 5.5, ""),
        )
    ),
    *(
        read(method, "limit", value, cli and f"--count={value}")
        for method in ("standings", "friends", "find", "submissions")
        for value, cli in (
            (0, "yes"),
            (-1, "yes"),
            (1001, "yes"),
            ("many", "yes"),
            ("1.5", "yes"),
            (10**20, "yes"),
            (True, ""),
            (2.0, ""),
            (None, ""),
            ("5", ""),
        )
        if (value, cli) != ("5", "")
    ),
    *(
        read(method, option, value, f"--{option}={value}")
        for method in ("around", "around_score")
        for option in ("above", "below")
        for value in (-1, 101, "few")
    ),
    *(read("distribution", "buckets", value, f"--buckets={value}") for value in (0, 201, "x")),
    *(read("standings", "from_rank", value, f"--from={value}") for value in (0, -1, "x", 2**63)),
    *(read("standings", "cursor", value) for value in ("junk", "", "x" * 2000, ["x"])),
    read("friends", "cursor", "junk"),
    read("submissions", "cursor", "junk", "--cursor junk"),
    *(read("standings", name, "much") for name in ("min_score", "max_score")),
    *(read("standings", name, "1.5") for name in ("min_score", "max_score")),
    *(read(method, "window", "nope", "") for method in ("distribution", "periods", "scopes")),
    *(read(method, "window", [1], "") for method in ("distribution", "periods", "scopes")),
    read("scopes", "period", "2020"),
    pytest.param(
        Case(
            lambda boards: boards["b"].around_score("much"),
            ("GET", "/v1/boards/b/around", {"score": "much"}, None),
            "around b --score much",
        ),
        id="around_score-score-much",
    ),
    *(
        pytest.param(
            Case(
                partial(on_board, "find", (text,)),
                ("GET", "/v1/boards/b/find", {"text": text}, None),
                f"find b {shlex.quote(text)}",
            ),
            id=f"find-text-{text[:20]!r}",
        )
        for text in ("", "x" * 257, "\x01")
    ),
    pytest.param(
        Case(
            lambda boards: boards.list(limit=0), ("GET", "/v1/boards", {"limit": "0"}, None), None
        ),
        id="list-limit",
    ),
]
SCORES = [
    *(score(f"ann '{value}'", score=value) for value in ("much", "1.5", "", "1e400", "NaN")),
    score(f"ann {10**30}", score=10**30),
    score(f"ann {10**40}", score=10**40),
    *(score(score=value) for value in (True, None, [1], {"a": 1}, 1.5)),
    *(score(f"{shlex.quote(value)} 1", player=value) for value in ("", "a/b", "..", "x" * 129)),
    *(score(player=value) for value in (5, None, True, ["ann"], {"a": 1}, "\x00")),
    *(
        score(f"ann 1 --at '{value}'", at=value)
        for value in ("yesterday", "2026-11-15", "2026-02-30T00:00:00Z", "2027-01-01T00:00:00Z", "")
    ),
    *(score(at=value) for value in (5, True, [NOW], {"a": 1})),
    score("ann 1 --subscore much", subscore="much"),
    *(score(subscore=value) for value in (True, [1], 1.5, 10**30)),
    score(f"ann 1 --details '\"{'x' * 1100}\"'", details="x" * 1100),
    score(f"ann 1 --details {2**64}", details=2**64),
    score(details={"a": [2**64]}, key=5),
    score("ann 1 --submission-key ''", key=""),
    score(f"ann 1 --submission-key {'k' * 129}", key="k" * 129),
    *(score(key=value) for value in (5, True, ["k"], {"a": 1})),
    score(key=5, details={"a": 1.5}),
]
PEOPLE = [
    *(players(value) for value in ("ann", {"ann": 1}, 5, None, True, ["a/b"], [5], ["p"] * 1001)),
    *(profile(m, f"--name '{' '}'", name=" ") for m in ("PUT", "PATCH")),
    *(profile(m, f"--name {'x' * 257}", name="x" * 257) for m in ("PUT", "PATCH")),
    *(profile(m, "--avatar-url ftp://x", avatar_url="ftp://x") for m in ("PUT", "PATCH")),
    *(profile(m, name=value) for m in ("PUT", "PATCH") for value in (5, True, ["x"])),
    *(profile(m, "--attribute Country=PT", attributes={"Country": "PT"}) for m in ("PUT", "PATCH")),
    *(
        profile(m, attributes=value)
        for m in ("PUT", "PATCH")
        for value in (["x"], 5, {"country": 5}, {"country": ["x"]}, {"country": ""})
    ),
    key("--name ' '", name=" "),
    key("--verb fly", verbs=["fly"]),
    key("--board 'no way'", boards=["no way"]),
    key("--owner ''", owner=""),
    *(key(name=value) for value in (5, True, ["x"])),
    *(key(verbs=value) for value in ("read", [], [5], {"read": 1}, None)),
    *(key(boards=value) for value in ("b", [], [5], {"b": 1}, None)),
    *(key(owner=value) for value in (5, ["x"])),
    *everywhere("/v1/boards/{}", lambda bad, boards: boards.board(bad), "board show {}"),
    *everywhere(
        "/v1/players/{}/friends",
        lambda bad, boards: boards.friends(bad),
        "friend list {}",
    )[1:],
]
NOT_JSON = [  # what only callers in Python can say
    *(
        pytest.param(Case(partial(created, name, value)), id=name)
        for name, value in (
            ("title", b"text"),
            ("title", "\ud800"),
            ("title", object()),
            ("policy", {"best"}),
            ("decimals", float("nan")),
            ("scopes", {"country"}),
            ("windows", [SEASON | {"ends": datetime(2027, 1, 1)}]),  # noqa: DTZ001
            ("windows", [{5: 6}]),
            ("windows", iter(["daily"])),
            ("score_min", float("nan")),
            ("score_min", 1e300),
            ("score_min", b"5"),
            ("public", object()),
        )
    ),
    *(
        pytest.param(Case(partial(on_board, "top", (wrong,))), id=f"top-{wrong}")
        for wrong in (0, 1001, "5", None, 2.5, True)
    ),
    *(
        pytest.param(Case(partial(on_board, "standings", (), options)), id=str(options))
        for options in (
            {"cursor": "x", "from_rank": 1},
            {"from_rank": 1, "min_score": 1},
            {"cursor": "x", "max_score": 1},
            {"min_score": 2, "max_score": 1},
        )
    ),
    *(
        pytest.param(Case(partial(on_board, "lookup", (value,))), id=f"lookup-{value!r}")
        for value in (5, {"ann": 1}, b"ann", object)
    ),
    *(
        pytest.param(Case(partial(listed, value)), id=f"list-{value!r}")
        for value in (5, None, ["a"])
    ),
]
ALL = [*RULES, *QUERIES, *SCORES, *PEOPLE, *NOT_JSON]


def fill(boards: Any) -> None:
    boards.create("b", windows=["all-time", "daily"], scopes=["country"], subscore="asc")
    boards["b"].submit("ann", 1)


@pytest.fixture(scope="module")
def served() -> Iterator[Serving]:
    with serving(ServiceSettings(), FrozenClock(NOW)) as running:
        with client.connect(running.url) as boards:
            fill(boards)
        yield running


@pytest.fixture(scope="module")
def library() -> Iterator[toprung.Leaderboards]:
    with toprung.open("memory:", clock=FrozenClock(NOW)) as boards:
        fill(boards)
        yield boards


@pytest.fixture(scope="module")
def remote(served: Serving) -> Iterator[client.Leaderboards]:
    with client.connect(served.url) as boards:
        yield boards


def told(error: ToprungError) -> Told:
    return Told(error.field if isinstance(error, Invalid) else "", error.detail)


def raised(call: Callable[[Any], object], boards: Any) -> Told:
    with pytest.raises(ToprungError) as caught:
        call(boards)
    return told(caught.value)


def answered(running: Serving, method: str, path: str, query: Any, body: Any) -> Told:
    answer = running.http.request(
        method,
        path,
        params=query,
        content=None if body is None else json.dumps(body),
        headers={"content-type": "application/json"},
    )
    problem = answer.json()
    assert 400 <= answer.status_code < 500, answer.text
    if answer.status_code != 422:
        return Told("", problem["detail"])
    (one,) = problem["errors"]
    return Told(one["pointer"].removeprefix("/"), one["detail"])


HTTP_NAMES = {"from_rank": "from"}


@pytest.mark.parametrize("case", ALL)
def test_library_service_and_client_say_the_same(
    case: Case, library: toprung.Leaderboards, remote: client.Leaderboards, served: Serving
) -> None:
    expected = raised(case.call, library)
    assert expected.detail
    assert raised(case.call, remote) == expected
    if case.http is not None:
        name = HTTP_NAMES.get(expected.field, expected.field)
        assert answered(served, *case.http) == expected._replace(field=name)


COMMANDS = [case for case in ALL if case.values[0].cli]


@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_says_the_same(
    case: Case,
    library: toprung.Leaderboards,
    served: Serving,
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = raised(case.call, library)
    assert main([*shlex.split(case.cli or ""), "--url", served.url]) == 1
    name = OPTION_NAMES.get(expected.field, expected.field)
    said = f"toprung: {name}: {expected.detail}\n" if name else f"toprung: {expected.detail}\n"
    assert capsys.readouterr() == ("", said)


def test_a_command_on_a_file_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "new.db")
    assert main(["board", "create", "new", "--policy", "most", "--db", file]) == 1
    said = 'toprung: policy: must be one of "best", "latest", "sum"\n'
    assert capsys.readouterr() == ("", said)
    assert main(["watch", "new", "--count", "101", "--db", file]) == 1
    said = "toprung: count: must be a whole number from 1 to 100\n"
    assert capsys.readouterr() == ("", said)


ROWS: list[Any] = [
    {"player": "ann", "score": 2},
    {},
    {"player": "ann"},
    {"score": 2},
    {"player": 5, "score": 2},
    {"player": ["ann"], "score": 2},
    {"player": "ann", "score": [2]},
    {"player": "ann", "score": 10**40},
    {"player": "ann", "score": 2, "speed": 3},
    {"player": "ann", "score": 2, "at": 5},
    {"player": "ann", "score": 2, "at": {"a": [1] * 100}},
    {"player": "ann", "score": 2, "subscore": True},
    {"player": "ann", "score": 2, "key": 5, "details": {"a": 1.5}},
    {"player": "ann", "score": 2, "details": "x" * 2000},
    {"player": "ann", "score": 2, "details": [2**64], "at": 5},
    {**{f"m{n}": n for n in range(50)}, "player": "ann", "score": 2},
    {"player": "bob", "score": 2},
]


def test_rows_of_a_batch_are_refused_in_the_same_words(
    library: toprung.Leaderboards, remote: client.Leaderboards, served: Serving
) -> None:
    expected = library["b"].submit_many(ROWS).rejected
    assert [row.index for row in expected] == list(range(1, len(ROWS) - 1))
    assert remote["b"].submit_many(ROWS).rejected == expected
    answer = served.http.post("/v1/boards/b/scores/batch", content=json.dumps(ROWS), headers=JSON)
    assert answer.json()["rejected"] == [
        {"pointer": f"/{row.index}/{row.field}".rstrip("/"), "detail": row.detail}
        for row in expected
    ]


JSON = {"content-type": "application/json"}


def named(choices: Any) -> str:
    return ", ".join("null" if choice is None else f'"{choice}"' for choice in choices)


@pytest.mark.parametrize(
    ("path", "choices"),
    [
        ("/v1/boards/b/standings?ranking=best", RANKINGS),
        ("/v1/boards/b/standings/ann?ranking=", RANKINGS),
        ("/v1/boards/b/standings?numbers=text", NUMBERS),
        ("/v1/boards/b/standings?include=everything", INCLUDES),
        ("/v1/boards/b?numbers=5", NUMBERS),
        ("/readyz?for=ever", ("all", "reads", "writes")),
        ("/v1/boards/b/live?numbers=none", NUMBERS),
    ],
)
def test_a_query_names_the_choices(served: Serving, path: str, choices: Any) -> None:
    found = answered(served, "GET", path, None, None)
    assert found.detail == f"must be one of {named(choices)}"


@pytest.mark.parametrize("name", CHOICES)
def test_a_rule_names_the_choices(library: toprung.Leaderboards, name: str) -> None:
    found = raised(lambda boards: boards.create("new", **{name: "up"}), library)
    assert found == Told(name, f"must be one of {named(CHOICES[name])}")


def test_verbs_and_windows_are_named(library: toprung.Leaderboards) -> None:
    found = raised(lambda boards: boards.keys.create("x", ["fly"]), library)
    assert found.detail.endswith(", ".join(VERBS))
    found = raised(lambda boards: boards.create("new", windows=["dayly"]), library)
    assert "all-time, hourly, daily, weekly, monthly, yearly" in found.detail


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("top=0", Told("top", "must be a whole number from 1 to 100")),
        ("top=x", Told("top", "must be a whole number from 1 to 100")),
        ("friends=yes&player=ann", Told("friends", 'must be "true"')),
        ("player=a%2Fb", Told("player", 'must not contain "/" or "\\"')),
        ("colour=red", Told("colour", "is not a known parameter")),
        ("window=daily&window=daily", Told("window", "is given twice")),
    ],
)
def test_what_only_a_query_has(served: Serving, query: str, expected: Told) -> None:
    assert answered(served, "GET", f"/v1/boards/b/live?{query}", None, None) == expected


def test_a_body_that_is_no_object(served: Serving) -> None:
    for method, path in (
        ("PUT", "/v1/boards/new"),
        ("POST", "/v1/boards/b/scores"),
        ("POST", "/v1/boards/b/standings/lookup"),
        ("PUT", "/v1/players/ann"),
        ("POST", "/v1/keys"),
        ("POST", "/v1/backup"),
    ):
        bodies: list[Any] = [[], "text", 5, True]
        for body in bodies:
            found = answered(served, method, path, None, body)
            assert found == Told("", "must be an object"), (path, body)
