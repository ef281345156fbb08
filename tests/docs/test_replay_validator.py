"""The worked example of a replay validator, on a file and on a service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import toprung
from tests.http.serving import serving
from toprung.client import connect
from toprung.http.settings import ServiceSettings

EXAMPLE = Path(__file__).parents[2] / "examples" / "replay_validator.py"
HONEST = {"seed": 7, "moves": [3, 1, 4]}


def gold(seed: int, moves: list[int]) -> int:
    """What the game of the example gives, written again."""
    import random

    drawn = random.Random(seed)
    doors = [drawn.randrange(100) for _ in range(100)]
    return sum(doors[move] for move in moves)


def send(board: Any) -> dict[str, int]:
    """Games, honest and not, all of which wait; their ids."""
    score = gold(**HONEST)  # type: ignore[arg-type]
    games: dict[str, tuple[int, Any]] = {
        "honest": (score, HONEST),
        "liar": (score + 1, HONEST),
        "silent": (score, None),
        "twice": (score, {"seed": 7, "moves": [3, 3]}),
        "elsewhere": (score, {"seed": 7, "moves": [100]}),
        "nonsense": (score, {"seed": "7", "moves": {}}),
    }
    ids = {}
    for player, (claimed, details) in games.items():
        result = board.submit(player, claimed, details=details)
        assert result.status == "pending"
        ids[player] = result.submission
    return ids


def run(*arguments: str) -> str:
    command = [sys.executable, str(EXAMPLE), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def check(board: Any, said: str) -> None:
    assert said.endswith("decided 6\n")
    assert [each.player for each in board.top(10)] == ["honest"]
    (past,) = board.submissions("liar").submissions
    assert past.status == "rejected"
    assert past.verdict.by == "replay-validator"
    assert past.verdict.reason.startswith("the replay gives ")
    reasons = {
        player: board.submissions(player).submissions[0].verdict.reason
        for player in ("silent", "twice", "elsewhere", "nonsense")
    }
    assert reasons == {
        "silent": "there is no replay",
        "twice": "the replay opens a door twice",
        "elsewhere": "the replay opens doors that do not exist",
        "nonsense": "the replay is not one of this game",
    }


def test_on_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "scores.db")
    rules: Any = {"review": {"when": {"top": 100}, "else": "reject"}}
    with toprung.open(path) as boards:
        send(boards.create("gold", **rules))
    said = run(path)
    with toprung.open(path) as boards:
        check(boards["gold"], said)


def test_on_a_service() -> None:
    with serving(ServiceSettings()) as running, connect(str(running.http.base_url)) as boards:
        rules: Any = {"review": {"when": {"top": 100}, "else": "reject"}}
        board = boards.create("gold", **rules)
        send(board)
        check(board, run(str(running.http.base_url)))
