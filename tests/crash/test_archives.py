"""What archives periods is killed wherever it is: each is archived once, and nothing is lost.

Numbers of rounds and the seed are as in `test_background`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash.test_background import KILLED, ROUNDS, lives_at_points, random_lives, run_lives
from tests.crash.worker import Life

WORKER = Path(__file__).with_name("archive_worker.py")
POINTS = [
    "reader.read",
    "store.write",
    "index.create",
    "entries.create",
    "journal.record",
    "store.without",
    "store.delete",
    "jobs.note",
    "followers.commit",
]
"""Where archiving meets the truth and the store: every fail point."""
MEMORY_POINTS = ["memory.prune", "late.record", "checkpoint.write"]
CLUSTER_POINTS = ["script.release", "script.expire", "late.record"]
"""Where what was archived is let go of; cards lose it when they are written the next time."""


def later_lives(processes: int, points: Sequence[tuple[str, int]]) -> list[Life]:
    """Dying at a later call of a point, which is of another kind: before and after it."""
    return [
        Life(point, is_after, count, processes=processes)
        for point, count in points
        for is_after in (False, True)
    ]


def lives() -> list[Life]:
    """Dying at every point; and at later records, notes and releases."""
    later = [("journal.record", 5), ("journal.record", 7), ("jobs.note", 3), ("memory.prune", 2)]
    later.append(("store.delete", 13))  # of an archive that is not kept any more
    return [*lives_at_points(1, [*POINTS, *MEMORY_POINTS]), *later_lives(1, later)]


def test_killed_at_every_fail_point(tmp_path: Path) -> None:
    found = run_lives(tmp_path / "scores.db", tmp_path, lives(), WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives())


@pytest.mark.slow
def test_killed_at_random(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    random_ones = random_lives(random.Random(seed), 1)
    assert len(run_lives(tmp_path / "scores.db", tmp_path, random_ones, WORKER)) == ROUNDS
