"""Bad input: each kind has its own error, says what is wrong, and changes nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

import toprung
from toprung import errors
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.answers import all_answers
from toprung.waiting.blocking import run_blocking

Call = Callable[[toprung.Leaderboards], Any]
PLAYERS = ("ann", "bob", "cy")
INT64_MAX = 2**63 - 1


@pytest.fixture(scope="module")
def boards() -> Iterator[toprung.Leaderboards]:
    clock = FrozenClock("2026-11-15T12:30:00Z")
    with toprung.open("memory:", clock=clock) as opened:
        blitz = opened.create(
            "blitz",
            scopes=["country"],
            windows=["all-time", "daily", {"name": "weekly", "retain": 1}],
        )
        opened.set_player("ann", name="Ann", attributes={"country": "DE"})
        blitz.submit_many([("ann", 10), ("bob", 20), ("cy", 10)])
        blitz.submit("ann", 11, key="used", details={"n": 1})
        total = opened.create("total", policy="sum", subscore="desc", max_increase=INT64_MAX)
        total.submit("ann", INT64_MAX - 1, subscore=INT64_MAX)
        limited = opened.create("limited", score_min=0, score_max=100, max_increase=10, decimals=1)
        limited.submit("ann", 50)
        opened.befriend("ann", "bob")
        yield opened


def on(board_id: str, verb: str, *args: Any, **options: Any) -> Call:
    """A call of a board's method."""
    return lambda boards: getattr(boards[board_id], verb)(*args, **options)


def of(verb: str, *args: Any, **options: Any) -> Call:
    """A call of a method of all boards."""
    return lambda boards: getattr(boards, verb)(*args, **options)


READS: list[tuple[str, tuple[Any, ...]]] = [
    ("standing", ("ann",)),
    ("lookup", (["ann"],)),
    ("total", ()),
    ("top", (3,)),
    ("standings", (3,)),
    ("around", ("ann",)),
    ("around_score", (10,)),
    ("friends", ("ann",)),
    ("distribution", ()),
]

MISSING: list[tuple[dict[str, Any], type[errors.ToprungError], str]] = [
    ({"window": "hourly"}, errors.UnknownWindow, "has no window 'hourly'.*all-time, daily"),
    ({"window": "daily", "period": "2026-W46"}, errors.UnknownPeriod, "no period '2026-W46'"),
    ({"window": "daily", "period": "2026-11-16"}, errors.UnknownPeriod, "has not begun"),
    ({"window": "daily", "period": "2026-02-30"}, errors.UnknownPeriod, "2026-02-30"),
    ({"window": "daily", "period": "2026-11-01"}, errors.PeriodGone, "no longer retained"),
    ({"window": "weekly", "period": "2026-W45"}, errors.PeriodGone, "no longer retained"),
    ({"scope": "platform:pc"}, errors.UnknownScope, "it has: global, country:<value>"),
    ({"scope": "country"}, errors.UnknownScope, "country"),
    ({"scope": "country:" + "x" * 65}, errors.Invalid, "at most 64 bytes"),
    ({"scope": "country:a\nb"}, errors.Invalid, "control characters"),
]

WRITES: list[tuple[Call, type[errors.ToprungError], str]] = [
    # submissions
    (on("blitz", "submit", "ann", 1, at="2026-11-15T12:31:01Z"), errors.FutureSubmission, "60 sec"),
    (on("blitz", "submit", "ann", 12, key="used"), errors.KeyReused, "'used' was used before"),
    (on("blitz", "submit", "ann", 11, key="used"), errors.KeyReused, "used before"),
    (on("total", "submit", "ann", 2, subscore=0), errors.ScoreOverflow, "64-bit"),
    (on("total", "submit", "ann", 0, subscore=1), errors.ScoreOverflow, "64-bit"),
    (on("limited", "submit", "ann", 60.1), errors.ExcessiveIncrease, r"max_increase of 10\.0"),
    (on("limited", "submit", "bob", -0.1), errors.Invalid, r"score: must be at least 0\.0"),
    (on("limited", "submit", "bob", "100.1"), errors.Invalid, r"at most 100\.0"),
    (on("limited", "submit", "bob", Decimal("1.25")), errors.Invalid, "more than 1 decimal"),
    (on("blitz", "submit", "ann", 1.5), errors.Invalid, "more than 0 decimals"),
    (on("blitz", "submit", "ann", 2**63), errors.Invalid, "must be between"),
    (on("blitz", "submit", "ann", 1e300), errors.Invalid, "too large to be exact"),
    (on("blitz", "submit", "ann", float("nan")), errors.Invalid, "finite"),
    (on("blitz", "submit", "ann", "NaN"), errors.Invalid, "not a number"),
    (on("blitz", "submit", "ann", True), errors.Invalid, "not a boolean"),
    (on("blitz", "submit", "ann", None), errors.Invalid, "must be a number"),
    (on("blitz", "submit", "ann", 1, subscore=1), errors.Invalid, "declares no subscore"),
    (on("blitz", "submit", "ann", 1, at="yesterday"), errors.Invalid, "RFC 3339"),
    (on("blitz", "submit", "ann", 1, at="2026-11-15T12:00:00"), errors.Invalid, "at: "),
    (on("blitz", "submit", "ann", 1, at="1969-12-31T23:59:59Z"), errors.Invalid, "1970"),
    (on("blitz", "submit", "ann", 1, details="x" * 1024), errors.Invalid, "1024 bytes"),
    (on("blitz", "submit", "ann", 1, details={1, 2}.__iter__), errors.Invalid, "JSON"),
    (on("blitz", "submit", "ann", 1, key=""), errors.Invalid, "key: must not be empty"),
    (on("blitz", "submit", "ann", 1, key="k" * 129), errors.Invalid, "128 bytes"),
    (on("blitz", "remove", "nobody"), errors.UnknownPlayer, "there is no player 'nobody'"),
    # players and friends
    (of("befriend", "ann", "ann"), errors.Invalid, "own friend"),
    (of("befriend", "ann", "a/b"), errors.Invalid, "other: "),
    (of("erase", "nobody"), errors.UnknownPlayer, "nobody"),
    (of("player", "nobody"), errors.UnknownPlayer, "nobody"),
    (of("set_player", "ann", attributes={"country": "x" * 65}), errors.Invalid, "at most 64 bytes"),
    (of("set_player", "ann", attributes={"country": "\u00e9" * 33}), errors.Invalid, "64 bytes"),
    (of("set_player", "ann", attributes={"country": ""}), errors.Invalid, "must not be empty"),
    (of("set_player", "ann", attributes={"Country": "DE"}), errors.Invalid, "a-z"),
    (of("set_player", "ann", attributes={"global": "DE"}), errors.Invalid, "reserved"),
    (of("set_player", "ann", name=""), errors.Invalid, "name: must not be empty"),
    (of("set_player", "ann", avatar_url="javascript:alert(1)"), errors.Invalid, "http"),
    (of("patch_player", "ann", name=""), errors.Invalid, "name: must not be empty"),
    (of("patch_player", "ann", attributes={"Country": None}), errors.Invalid, "a-z"),
    (of("patch_player", "ann", attributes={"country": 7}), errors.Invalid, "must be text"),
    (of("patch_player", "ann", attributes=["country"]), errors.Invalid, "object of names"),
    # boards
    (of("create", "blitz"), errors.Invalid, "already exists"),
    (of("create", "Blitz"), errors.Invalid, "board: "),
    (of("create", ""), errors.Invalid, "board: "),
    (of("create", "x" * 65), errors.Invalid, "board: "),
    (of("create", "new", windows=[]), errors.Invalid, "windows: "),
    (of("create", "new", windows=["daily", "daily"]), errors.Invalid, "windows/1/name"),
    (of("create", "new", windows=["fortnightly"]), errors.Invalid, "windows/0"),
    (of("create", "new", timezone="Mars/Olympus"), errors.Invalid, "IANA time zone"),
    (of("create", "new", scopes=["friends"]), errors.Invalid, "reserved"),
    (of("create", "new", decimals=10), errors.Invalid, "decimals: "),
    (of("create", "new", score_min=2, score_max=1), errors.Invalid, "score_min"),
    (of("create", "new", colour="red"), errors.Invalid, "colour: is not a rule of a board"),
    (of("patch", "blitz", order="asc"), errors.FixedRule, "order: cannot change"),
    (of("patch", "blitz", policy="sum"), errors.FixedRule, "policy: cannot change"),
    (of("patch", "blitz", decimals=2), errors.FixedRule, "decimals: cannot change"),
    (of("patch", "blitz", subscore="asc"), errors.FixedRule, "subscore: cannot change"),
    (of("patch", "blitz", tie_break="last"), errors.FixedRule, "tie_break: cannot change"),
    (of("replace", "blitz", timezone="Europe/Berlin"), errors.FixedRule, "timezone: cannot"),
    (of("patch", "other", title="x"), errors.UnknownBoard, "there is no board 'other'"),
    (of("delete", "other"), errors.UnknownBoard, "there is no board 'other'"),
    (of("board", "other"), errors.UnknownBoard, "there is no board 'other'"),
]

BAD_PLAYERS = ["", ".", "..", "a/b", "a\\b", "a\nb", "\x00", "\x7f", "x" * 129, "\ud800", 7, None]

BAD_OPTIONS: list[tuple[Call, str]] = [
    (on("blitz", "top", 0), "n: "),
    (on("blitz", "top", 1001), "n: "),
    (on("blitz", "standings", 1001), "limit: "),
    (on("blitz", "standings", 3, from_rank=0), "from_rank: "),
    (on("blitz", "standings", 3, cursor="nonsense"), "cursor: "),
    (on("blitz", "standings", 3, from_rank=1, min_score=1), "cannot be combined"),
    (on("blitz", "standings", 3, min_score=2, max_score=1), "min_score: "),
    (on("blitz", "around", "ann", -1), "above: "),
    (on("blitz", "around", "ann", 1, 101), "below: "),
    (on("blitz", "lookup", ["p"] * 1001), "players: "),
    (on("blitz", "lookup", "ann"), "players: "),
    (on("blitz", "distribution", 201), "buckets: "),
    (on("blitz", "top", 3, ranking="alphabetical"), "ranking: "),
    (on("blitz", "submissions", "ann", 0), "limit: "),
    (on("blitz", "submissions", "ann", 1, "nonsense"), "cursor: "),
    (of("list", "", 0), "limit: "),
]


def refuse(
    boards: toprung.Leaderboards, call: Call, error: type[errors.ToprungError], message: str
) -> None:
    """The call raises exactly this error, and every answer is as before."""
    before = run_blocking(all_answers(boards._face_of, PLAYERS))
    with pytest.raises(error, match=message) as refusal:
        call(boards)
    assert refusal.type is error
    assert run_blocking(all_answers(boards._face_of, PLAYERS)) == before


@pytest.mark.parametrize(("call", "error", "message"), WRITES)
def test_write_is_refused(
    boards: toprung.Leaderboards, call: Call, error: type[errors.ToprungError], message: str
) -> None:
    refuse(boards, call, error, message)


@pytest.mark.parametrize(("read", "arguments"), READS, ids=[read for read, _ in READS])
@pytest.mark.parametrize(("options", "error", "message"), MISSING)
def test_read_of_what_is_not_there(
    boards: toprung.Leaderboards,
    read: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    error: type[errors.ToprungError],
    message: str,
) -> None:
    refuse(boards, on("blitz", read, *arguments, **options), error, message)


@pytest.mark.parametrize(("call", "message"), BAD_OPTIONS)
def test_option_is_refused(boards: toprung.Leaderboards, call: Call, message: str) -> None:
    refuse(boards, call, errors.Invalid, message)


@pytest.mark.parametrize("player", BAD_PLAYERS, ids=repr)
@pytest.mark.parametrize(
    "verb", ["submit", "standing", "around", "friends", "submissions", "remove"]
)
def test_player_id_is_refused(boards: toprung.Leaderboards, player: Any, verb: str) -> None:
    arguments = (player, 1) if verb == "submit" else (player,)
    refuse(boards, on("blitz", verb, *arguments), errors.Invalid, "player: ")


@pytest.mark.parametrize("player", BAD_PLAYERS, ids=repr)
@pytest.mark.parametrize(
    "verb", ["set_player", "patch_player", "player", "erase", "friends", "standings"]
)
def test_player_id_is_refused_everywhere(
    boards: toprung.Leaderboards, player: Any, verb: str
) -> None:
    refuse(boards, of(verb, player), errors.Invalid, "player: ")


@pytest.mark.parametrize("read", ["standing", "around"])
def test_player_without_entry(boards: toprung.Leaderboards, read: str) -> None:
    refuse(boards, on("blitz", read, "nobody"), errors.NotRanked, "'nobody' has no entry")


def test_bad_rows_of_a_batch_do_not_sink_the_others(boards: toprung.Leaderboards) -> None:
    board = boards.create("batch")
    rows: list[Any] = [
        ("ann", 1),
        ("a/b", 1),
        {"player": "bob", "score": 2},
        {"player": "bob"},
        {"player": "bob", "score": 1, "colour": "red"},
        "nonsense",
        ("cy", "x"),
        {"player": "cy", "score": 1, "at": "2030-01-01T00:00:00Z"},
    ]
    result = board.submit_many(rows)
    assert result.accepted == 2
    assert [(row.index, row.field) for row in result.rejected] == [
        (1, "player"),
        (3, "score"),
        (4, "colour"),
        (5, ""),
        (6, "score"),
        (7, "at"),
    ]
    assert board.total() == 2
    boards.delete("batch")


def test_empty_ladder_answers_zero(boards: toprung.Leaderboards) -> None:
    board = boards["blitz"]
    empty: list[dict[str, Any]] = [
        {"scope": "country:ZZ"},
        {"window": "daily", "period": "2026-11-14"},
    ]
    for options in empty:
        assert board.total(**options) == 0
        assert board.top(3, **options) == []
        page = board.standings(3, **options)
        assert (page.total, page.standings, page.next, page.prev) == (0, (), None, None)
        assert board.around_score(5, **options).total == 0
        assert board.friends("ann", **options).total == 0
        assert board.lookup(["ann"], **options).missing == ("ann",)
        assert board.distribution(**options) == toprung.Distribution(0, ())


def test_five_thousand_friends_are_enough() -> None:
    with toprung.open("memory:") as boards:
        for number in range(5000):
            boards.befriend("ann", f"friend-{number}")
        boards.befriend("friend-0", "ann")
        before = boards.friends("ann")
        for pair in (("ann", "one-more"), ("one-more", "ann")):
            with pytest.raises(errors.TooManyFriends, match="'ann' has 5000 friends"):
                boards.befriend(*pair)
        assert boards.friends("ann") == before
        with pytest.raises(errors.UnknownPlayer):
            boards.player("one-more")
        boards.unfriend("ann", "friend-7")
        boards.befriend("ann", "one-more")
        assert len(boards.friends("ann")) == 5000
