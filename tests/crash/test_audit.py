"""What sequences the audit log is killed wherever it is: every event is a leaf, once.

Numbers of rounds and the seed are as in `test_background`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.test_background import KILLED, ROUNDS, lives_at_points, random_lives, run_lives

WORKER = Path(__file__).with_name("audit_worker.py")
POINTS = [
    "leases.take",
    "followers.states",
    "followers.read",
    "follower.derive",
    "audit.log_rows",
    "audit.secrets",
    "followers.find_rows",
    "followers.commit",
    "leases.release",
]
"""Where the sequencer meets its stores: every fail point."""


def test_killed_at_every_fail_point(tmp_path: Path) -> None:
    lives = lives_at_points(1, POINTS)
    found = run_lives(tmp_path / "scores.db", tmp_path, lives, WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives)


@pytest.mark.slow
def test_killed_at_random(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    lives = random_lives(random.Random(seed), 1)
    assert len(run_lives(tmp_path / "scores.db", tmp_path, lives, WORKER)) == ROUNDS
