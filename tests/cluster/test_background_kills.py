"""Two processes of a cluster share background work, and one of them is killed or stopped."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.test_archives import CLUSTER_POINTS, later_lives
from tests.crash.test_archives import POINTS as ARCHIVE_POINTS
from tests.crash.test_archives import WORKER as ARCHIVE_WORKER
from tests.crash.test_audit import POINTS as AUDIT_POINTS
from tests.crash.test_audit import WORKER as AUDIT_WORKER
from tests.crash.test_background import (
    KILLED,
    POINTS,
    ROUNDS,
    lives_at_points,
    random_lives,
    run_lives,
)
from tests.crash.test_endings import POINTS as ENDING_POINTS
from tests.crash.test_endings import WORKER as ENDING_WORKER
from tests.crash.test_snapshots import POINTS as SNAPSHOT_POINTS
from tests.crash.test_snapshots import WORKER as SNAPSHOT_WORKER
from tests.crash.test_webhooks import WORKER
from tests.crash.worker import OUSTED, Life

WRITES = ["followers.commit", "effects.settle", "jobs.note"]
"""What a process that wakes up after its lease has ended must not get through."""

WEBHOOK_ROUNDS = 5
ARCHIVE_ROUNDS = max(5, ROUNDS // 5)

BEFORE_WRITES = ["followers.read", "follower.derive", "sender.send", "job.run"]
"""Where it is before it comes to a write."""


def test_killed_at_every_fail_point(cluster_file: Path, tmp_path: Path) -> None:
    found = run_lives(cluster_file, tmp_path, lives_at_points(processes=2))
    assert [codes[0] for codes in found] == [KILLED] * 2 * len(POINTS)
    assert {codes[1] for codes in found} <= {0, OUSTED}


@pytest.mark.slow
def test_killed_at_random(
    cluster_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    found = run_lives(cluster_file, tmp_path, random_lives(random.Random(seed), 2))
    assert len(found) == ROUNDS
    assert sum(codes[0] == KILLED for codes in found) > ROUNDS // 2


def test_two_processes_sequence_the_audit_log_and_one_is_killed(
    cluster_file: Path, tmp_path: Path
) -> None:
    lives = lives_at_points(2, AUDIT_POINTS)
    found = run_lives(cluster_file, tmp_path, lives, AUDIT_WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives)
    assert {codes[1] for codes in found} <= {0, OUSTED}


@pytest.mark.slow
def test_webhooks_are_told_whoever_is_killed(
    cluster_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    lives = [
        *(Life(point, is_after=True, processes=2) for point in ("followers.commit", "sender.send")),
        *random_lives(random.Random(seed), 2, WEBHOOK_ROUNDS),
    ]
    assert len(run_lives(cluster_file, tmp_path, lives, WORKER)) == len(lives)


def test_a_process_that_wakes_up_too_late_changes_nothing(
    cluster_file: Path, tmp_path: Path
) -> None:
    lives = [
        Life(point, count=count, is_paused=True)
        for point in (*BEFORE_WRITES, *WRITES)
        for count in (1, 2)
    ]
    found = run_lives(cluster_file, tmp_path, lives)
    for life, codes in zip(lives, found, strict=True):
        assert codes[0] == OUSTED or (codes[0] == 0 and life.point not in WRITES), life


def test_periods_are_ended_once_whoever_is_killed(cluster_file: Path, tmp_path: Path) -> None:
    lives = lives_at_points(2, ENDING_POINTS)
    found = run_lives(cluster_file, tmp_path, lives, ENDING_WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives)
    assert {codes[1] for codes in found} <= {0, OUSTED}


@pytest.mark.slow
def test_periods_are_ended_once_whoever_is_killed_at_random(
    cluster_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    lives = random_lives(random.Random(seed), 2)
    assert len(run_lives(cluster_file, tmp_path, lives, ENDING_WORKER)) == ROUNDS


def test_snapshots_are_taken_once_whoever_is_killed(cluster_file: Path, tmp_path: Path) -> None:
    lives = lives_at_points(2, SNAPSHOT_POINTS)
    found = run_lives(cluster_file, tmp_path, lives, SNAPSHOT_WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives)
    assert {codes[1] for codes in found} <= {0, OUSTED}


@pytest.mark.slow
def test_snapshots_are_taken_once_whoever_is_killed_at_random(
    cluster_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    lives = random_lives(random.Random(seed), 2)
    assert len(run_lives(cluster_file, tmp_path, lives, SNAPSHOT_WORKER)) == ROUNDS


def test_periods_are_archived_once_whoever_is_killed(cluster_file: Path, tmp_path: Path) -> None:
    lives = lives_at_points(2, ARCHIVE_POINTS)[::2]
    lives += lives_at_points(2, ["journal.record", "store.delete"])[1::2]
    lives += lives_at_points(2, CLUSTER_POINTS)
    lives += later_lives(2, [("script.expire", 2)])
    found = run_lives(cluster_file, tmp_path, lives, ARCHIVE_WORKER)
    assert [codes[0] for codes in found] == [KILLED] * len(lives)
    assert {codes[1] for codes in found} <= {0, OUSTED}


@pytest.mark.slow
def test_periods_are_archived_once_whoever_is_killed_at_random(
    cluster_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    lives = random_lives(random.Random(seed), 2, ARCHIVE_ROUNDS)
    assert len(run_lives(cluster_file, tmp_path, lives, ARCHIVE_WORKER)) == ARCHIVE_ROUNDS
