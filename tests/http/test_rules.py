"""Rules that are read can be put back: by every way in, on every profile."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings

import toprung
from tests.conftest import RunningService
from tests.http.conftest import MakeBoard, Targets, pointers, problem_of
from toprung import client
from toprung.cli import main
from toprung.testing import strategies as some

RULES = {
    "decimals": 2,
    "score_min": "0.50",
    "score_max": 9.5,
    "max_increase": "1",
    "windows": [
        "daily",
        {"name": "cup", "starts": "2026-09-22T02:00:00+02:00", "ends": "2100-12-21T00:00:00.5Z"},
    ],
}
FEW = settings(
    max_examples=max(5, settings().max_examples // 4),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
_numbers = itertools.count()

Capture = pytest.CaptureFixture[str]


@pytest.fixture(params=["library", "client"])
def boards(request: pytest.FixtureRequest, service: RunningService, targets: Targets) -> Any:
    if request.param == "library":
        with toprung.open(targets.fresh()) as found:
            yield found
    else:
        with client.connect(service.url) as found:
            yield found


def test_rules_are_in_the_form_in_which_they_are_set(boards: Any) -> None:
    board = boards.create(f"form-{next(_numbers)}", **RULES)
    rules = board.rules()
    assert (rules.score_min, rules.score_max) == (Decimal("0.50"), Decimal("9.50"))
    assert str(rules.max_increase) == "1.00"
    assert rules.windows == (
        "daily",
        {"name": "cup", "starts": "2026-09-22T00:00:00Z", "ends": "2100-12-21T00:00:00.500000Z"},
    )
    assert (rules.scopes, rules.id, rules.read_window) == (("global",), board.id, "daily")
    assert [each for each in boards.list(limit=1000) if each.id == board.id] == [rules]
    boards.patch(board.id, score_min=rules.score_min, windows=rules.windows)
    assert dict(board.rules()) == dict(rules)
    with pytest.raises(KeyError):
        rules["id"]


@FEW
@given(rules=some.rules())
def test_put_back_by_library_or_client(boards: Any, rules: dict[str, Any]) -> None:
    board = boards.create(f"back-{next(_numbers)}", **rules)
    read = board.rules()
    for put_back in (boards.replace, boards.patch):
        assert dict(put_back(board.id, **read).rules()) == dict(read)
    copy = boards.create(f"copy-{next(_numbers)}", **read).rules()
    assert dict(copy) == dict(read)


@FEW
@given(rules=some.rules())
def test_put_back_over_http(http: httpx2.Client, rules: dict[str, Any]) -> None:
    url = f"/v1/boards/http-{next(_numbers)}"
    kind = {"content-type": "application/json"}
    body = json.dumps(rules, default=str)
    assert http.put(url, content=body, headers=kind).status_code == 201
    for numbers in ({"numbers": "number"}, {"numbers": "string"}):
        read = http.get(url, params=numbers)
        for method in ("PUT", "PATCH"):
            again = http.request(method, url, params=numbers, content=read.content, headers=kind)
            assert again.status_code == 200
            assert _rules(again.text) == _rules(read.text)


def _rules(text: str) -> Any:
    """What a board answers, to the last digit, without its periods: they may end any time."""
    answer = json.loads(text, parse_float=str, parse_int=str)
    del answer["periods"]
    return answer


@FEW
@given(rules=some.rules())
def test_put_back_by_command(
    service: RunningService, capsys: Capture, rules: dict[str, Any]
) -> None:
    board = f"cli-{next(_numbers)}"

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        assert main([*arguments, "--url", service.url, "--json"]) == 0
        return _rules(capsys.readouterr().out)

    with client.connect(service.url) as boards:
        boards.create(board, **rules)
    shown = run("board", "show", board)
    assert run("board", "change", board, *_options(shown)) == shown


def _options(shown: dict[str, Any]) -> list[str]:
    """The options that set what a command has shown."""
    as_text: dict[str, Callable[[Any], list[str]]] = {
        "windows": lambda windows: [f"--window={_text(window)}" for window in windows],
        "scopes": lambda scopes: [f"--scope={scope}" for scope in scopes],
        "public": lambda public: ["--public" if public else "--private"],
    }
    options = []
    for name, value in shown.items():
        if name != "id" and value is not None:
            usual = [f"--{name.replace('_', '-')}={value}"]
            options += as_text[name](value) if name in as_text else usual
    return options


def _text(window: Any) -> str:
    if isinstance(window, str):
        return window
    retain = {"retain": int(window["retain"])} if "retain" in window else {}
    return json.dumps(window | retain)


def test_an_id_that_is_sent_must_be_the_boards_own(
    http: httpx2.Client, make_board: MakeBoard
) -> None:
    board = make_board()
    body = {"id": "another", "title": "x"}
    problem = problem_of(http.put(f"/v1/boards/{board}", json=body), 422, "invalid")
    assert pointers(problem) == ["/id"]
    assert board in problem["errors"][0]["detail"]
