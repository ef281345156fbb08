"""Background work is killed wherever it is: nothing is lost, and nothing of ours happens twice.

`TOPRUNG_CRASH_ROUNDS` says how often at random (25 in an ordinary run, 1,000 in a soak); the seed
is the one in the header of the run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import pytest

from tests.crash.worker import Life

WORKER = Path(__file__).with_name("worker.py")
POINTS = [
    "leases.take",
    "followers.states",
    "followers.read",
    "follower.derive",
    "followers.commit",
    "effects.due",
    "sender.send",
    "effects.settle",
    "jobs.records",
    "job.run",
    "jobs.note",
    "leases.release",
]
"""Where background work meets its stores and the world outside: every fail point."""

KILLED = -signal.SIGKILL
ROUNDS = int(os.environ.get("TOPRUNG_CRASH_ROUNDS", "0")) or (
    1000 if os.environ.get("TOPRUNG_SOAK") else 25
)


def run_lives(
    target: Path, folder: Path, lives: Iterable[Life], worker: Path = WORKER
) -> list[list[int]]:
    """The exit codes of each life's processes, and of the check after it."""
    text = "".join(msgspec.json.encode(life).decode() + "\n" for life in lives)
    done = subprocess.run(
        [sys.executable, str(worker), str(target), str(folder / "outside.log")],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    found = [msgspec.json.decode(line, type=list[int]) for line in done.stdout.splitlines()]
    assert all(codes[-1] == 0 for codes in found), done.stderr
    return found


def lives_at_points(processes: int, points: Sequence[str] = POINTS) -> list[Life]:
    """Dying once at every point, before and after the call."""
    sides = [(point, is_after) for point in points for is_after in (False, True)]
    return [Life(point, is_after, processes=processes) for point, is_after in sides]


def random_lives(rng: random.Random, processes: int, rounds: int = ROUNDS) -> list[Life]:
    """Half of them die at some call, half at some moment."""
    return [
        Life(count=rng.randrange(1, 150), processes=processes)
        if rng.random() < 0.5
        else Life(seconds=rng.uniform(0.02, 0.4), processes=processes)
        for _ in range(rounds)
    ]


def test_killed_at_every_fail_point(tmp_path: Path) -> None:
    found = run_lives(tmp_path / "scores.db", tmp_path, lives_at_points(processes=1))
    assert [codes[0] for codes in found] == [KILLED] * 2 * len(POINTS)


@pytest.mark.slow
def test_killed_at_random(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    found = run_lives(tmp_path / "scores.db", tmp_path, random_lives(random.Random(seed), 1))
    assert len(found) == ROUNDS
    assert {codes[0] for codes in found} <= {KILLED, 0}
    assert sum(codes[0] == KILLED for codes in found) > ROUNDS // 2
