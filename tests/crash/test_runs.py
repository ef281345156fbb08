"""A process is killed while it submits signed scores, and another submits other scores of the same
runs: each run counts once, for whoever was first, and its retry is a replay."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toprung
from toprung.errors import RunUsed

WORKER = Path(__file__).with_name("run_worker.py")
RUNS = 40


def prepared(target: str, folder: Path) -> list[list[dict[str, Any]]]:
    """The bodies of two submitters, who have a score each for every run."""
    bodies: list[list[dict[str, Any]]] = [[], []]
    with toprung.open(target) as boards:
        board = boards.create("cup", policy="sum", windows=["all-time"])
        for number in range(RUNS):
            player = f"p{number}"
            run = board.run(player)
            for score, some in enumerate(bodies, 1):
                signature = run.sign("cup", player, score)
                some.append(
                    {"player": player, "score": score, "run": run.run, "signature": signature}
                )
    for at, some in enumerate(bodies):
        (folder / f"{at}.json").write_text(json.dumps(some))
    return bodies


def started(target: str, file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), target, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(process: subprocess.Popen[str], count: int | None = None) -> dict[str, str]:
    """What a submitter says of each player, up to so many lines."""
    assert process.stdout is not None
    found: dict[str, str] = {}
    while count is None or len(found) < count:
        line = process.stdout.readline()
        if not line.endswith("\n"):
            break
        player, said = line.split()
        found[player] = said
    return found


def killed_after(process: subprocess.Popen[str], count: int) -> dict[str, str]:
    found = lines(process, count)
    os.kill(process.pid, signal.SIGKILL)
    found |= lines(process)  # what it said before it died counts
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return found


def check(target: str, bodies: list[list[dict[str, Any]]], told: list[dict[str, str]]) -> None:
    """Every run has one submission, of whoever was told so; retries are replays."""
    with toprung.open(target) as boards:
        board = boards["cup"]
        for number in range(RUNS):
            player = f"p{number}"
            (past,) = board.submissions(player).submissions
            winner = int(past.score) - 1
            assert board.standing(player).score == past.score
            assert board.submit(**bodies[winner][number]).replayed
            with pytest.raises(RunUsed):
                board.submit(**bodies[1 - winner][number])
            assert told[1 - winner].get(player, "used") == "used"
            assert told[winner].get(player) != "used"
        assert boards.verify() == []


def test_whoever_is_first_wins_although_it_is_killed(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rng = random.Random(f"{request.config.getoption('--hypothesis-seed')} runs")
    target = str(tmp_path / "scores.db")
    bodies = prepared(target, tmp_path)
    first = killed_after(started(target, tmp_path / "0.json"), rng.randrange(1, RUNS))
    second = started(target, tmp_path / "1.json")
    told = lines(second)
    assert second.communicate()[1] == ""
    assert len(told) == RUNS
    check(target, bodies, [first, told])
