"""What tells a webhook is killed wherever it is: who leads and who was erased is told all the same.

Numbers of rounds and the seed are as in `test_background`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.test_background import KILLED, ROUNDS, lives_at_points, random_lives, run_lives

WORKER = Path(__file__).with_name("webhook_worker.py")
POINTS = [
    "leases.take",
    "webhooks.all",
    "followers.states",
    "followers.read",
    "followers.find_rows",
    "followers.rows",
    "followers.rows_of_player",
    "followers.commit",
    "effects.due",
    "sender.send",
    "effects.settle",
    "leases.release",
]
"""Where what tells webhooks meets its stores and the receiver: every fail point."""


def test_killed_at_every_fail_point(tmp_path: Path) -> None:
    lives = lives_at_points(1, POINTS)
    found = run_lives(tmp_path / "scores.db", tmp_path, lives, WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives)


@pytest.mark.slow
def test_killed_at_random(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    lives = random_lives(random.Random(seed), 1)
    found = run_lives(tmp_path / "scores.db", tmp_path, lives, WORKER)
    assert len(found) == ROUNDS
    assert sum(codes[0] == KILLED for codes in found) > ROUNDS // 2
