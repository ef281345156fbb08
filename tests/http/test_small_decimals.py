"""Small decimals are digits wherever JSON shows them, never `1E-9`: in every answer and command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest
from websockets.sync.client import connect

from tests.conftest import RunningService
from tests.http.conftest import MakeBoard
from toprung import client
from toprung.cli import main

SMALL = "0.000000001"
NOTHING = "0.000000000"
RULES = {"decimals": 9, "score_min": NOTHING, "max_increase": SMALL, "windows": ["all-time"]}

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def tiny(http: httpx2.Client, make_board: MakeBoard) -> str:
    """A board on which a billionth leads."""
    board = make_board(**RULES)
    rows = [{"player": "tiny-a", "score": SMALL}, {"player": "tiny-b", "score": NOTHING}]
    http.post(f"/v1/boards/{board}/scores/batch", json=rows)
    http.put("/v1/players/tiny-a/friends/tiny-b")
    return board


def assert_plain(text: str, *numbers: str) -> None:
    """JSON with these numbers in it, and no exponent."""
    lowered = text.lower()
    assert "e-" not in lowered.replace("tiny-", "")
    for number in numbers:
        assert f":{number}" in text, text


READS = {
    "": (SMALL, NOTHING),
    "/standings": (SMALL, NOTHING),
    "/standings/tiny-a": (SMALL,),
    "/standings/tiny-b/around": (SMALL, NOTHING),
    "/around?score=0": (SMALL, NOTHING),
    "/standings/tiny-a/friends": (SMALL, NOTHING),
    "/distribution?buckets=1": (SMALL, NOTHING),
    "/players/tiny-a/submissions": (SMALL,),
}


@pytest.mark.parametrize("path", READS)
def test_every_read(http: httpx2.Client, tiny: str, path: str) -> None:
    answer = http.get(f"/v1/boards/{tiny}{path}")
    assert answer.status_code == 200, answer.text
    assert_plain(answer.text, *READS[path])


def test_other_answers(http: httpx2.Client, tiny: str) -> None:
    body = {"player": "tiny-a", "score": SMALL}
    assert_plain(http.post(f"/v1/boards/{tiny}/scores", json=body).text, SMALL)
    players = {"players": ["tiny-a", "tiny-b"]}
    found = http.post(f"/v1/boards/{tiny}/standings/lookup", json=players).text
    assert_plain(found, SMALL, NOTHING)
    assert_plain(http.get("/v1/players/tiny-a/standings").text, SMALL)
    listed = http.get("/v1/boards", params={"limit": 1000}).text
    assert_plain(listed, SMALL)


def test_live(service: RunningService, tiny: str) -> None:
    with connect(service.url.replace("http", "ws") + "/v1/live") as socket:
        socket.send(json.dumps({"subscribe": {"id": "a", "board": tiny, "top": 2}}))
        assert_plain(str(socket.recv(timeout=20)), SMALL, NOTHING)


def test_client(service: RunningService, tiny: str) -> None:
    with client.connect(service.url) as boards:
        board = boards[tiny]
        assert board.rules().max_increase == Decimal("1E-9")
        assert [each.score for each in board.top()] == [Decimal("1E-9"), Decimal("0E-9")]
        result = board.submit("tiny-c", Decimal("1E-9"))
        assert result.standings["all-time"].score == Decimal("1E-9")


@pytest.fixture(params=["service", "file"])
def where(request: pytest.FixtureRequest, tiny: str, tmp_path: Path) -> Iterator[list[str]]:
    """A board for commands, and how they are told of it."""
    if request.param == "service":
        yield [tiny, "--url", request.getfixturevalue("service").url]
        return
    file = str(tmp_path / "tiny.db")
    main(["board", "create", "tiny", "--db", file, "--decimals=9", f"--max-increase={SMALL}",
          f"--score-min={NOTHING}"])  # fmt: skip
    main(["submit", "tiny", "tiny-b", "0", "--db", file])
    main(["submit", "tiny", "tiny-a", SMALL, "--db", file])
    yield ["tiny", "--db", file]


def test_commands(where: list[str], tmp_path: Path, capsys: Capture) -> None:
    board, *target = where

    def said(*arguments: str) -> str:
        capsys.readouterr()
        assert main([*arguments, *target]) == 0
        return capsys.readouterr().out

    assert_plain(said("submit", board, "tiny-a", SMALL, "--json"), SMALL)
    assert_plain(said("top", board, "--json"), SMALL, NOTHING)
    assert_plain(said("rank", board, "tiny-a", "--json"), SMALL)
    assert_plain(said("board", "show", board, "--json"), SMALL, NOTHING)
    assert_plain(said("export", board, "--format", "jsonl"), SMALL, NOTHING)
    for command in (("top", board), ("export", board), ("board", "show", board)):
        shown = said(*command)
        assert SMALL in shown
        assert "E-" not in shown
