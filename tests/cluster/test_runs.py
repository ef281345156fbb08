"""Runs of which two processes submit different scores at once, and one of them is killed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import toprung
from tests.crash.test_runs import RUNS, check, killed_after, lines, prepared, started
from toprung.errors import RunsUnavailable
from toprung.service.run_secrets import rotate


@pytest.fixture
def target(cluster_file: Path, tmp_path: Path) -> str:
    with cluster_file.open("a") as file:
        file.write(f'run_secrets = "{tmp_path / "secrets"}"\n')
    return str(cluster_file)


def test_the_first_of_two_processes_wins(
    target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rng = random.Random(f"{request.config.getoption('--hypothesis-seed')} runs")
    rotate(tmp_path / "secrets", 0)
    bodies = prepared(target, tmp_path)
    both = [started(target, tmp_path / f"{at}.json") for at in range(2)]
    first = killed_after(both[0], rng.randrange(1, RUNS))
    second = lines(both[1])
    assert both[1].communicate()[1] == ""
    assert len(second) == RUNS
    check(target, bodies, [first, second])


def test_without_a_file_that_all_share_there_are_no_runs(target: str, tmp_path: Path) -> None:
    """One that a process made for itself would be unknown to the others."""
    with toprung.open(target) as boards:
        board = boards.create("cup")
        with pytest.raises(RunsUnavailable, match="TOPRUNG_RUN_SECRETS"):
            board.run("ann")
        assert not (tmp_path / "secrets").exists()
        rotate(tmp_path / "secrets", 0)
        assert board.run("ann").key
