"""How long does the upkeep of a large cluster take: rebuild, verify, copy from a file?

All in players per second, with one Redis:

- rebuild: an empty Redis is filled from PostgreSQL until the board is complete; this is asked with
  a Cluster of three as well, where the others would hardly differ;
- rebuild anew: `toprung rebuild` on a complete one, which is read meanwhile;
- verify: `toprung verify`, which holds events against cards and cards against Redis;
- migrate: `toprung migrate` from a file with the same players to an empty cluster, which also
  compares both sides in the end.

Rounds change nothing: each is done once, for each takes long.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import cluster, harness, library
from benchmarks.http_cluster import write_settings
from toprung.domain.board import Board


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_upkeep")
    harness.print_header("Upkeep of a cluster", players=options.size)
    with cluster.truth() as postgres:
        for kind in (cluster.ONE, cluster.THREE):
            with (
                cluster.index(kind) as (url, nodes),
                cluster.process(postgres, url, nodes) as opened,
            ):
                if kind == cluster.ONE:
                    board, _ = opened.create("blitz")
                    opened.fill(board, options.size)
                else:
                    board = opened.run(opened.profile.journal.board("blitz"))
                    opened.await_index(board)
                _repair(report, opened, board, kind, options.size)
                cluster.add_longest_script(report, opened.log, kind, options.size)
    report.add_figure("migrate and compare, players", _migrate(options.size), "/s", cluster.ONE)
    return report


def _repair(
    report: harness.Report, opened: cluster.OpenCluster, board: Board, kind: str, size: int
) -> None:
    """What restores or checks a whole index."""

    def derive() -> None:
        opened.empty_index()
        opened.await_index(board)

    def verify() -> None:
        assert opened.run(opened.profile.verify()) == []

    jobs: dict[str, Callable[[], None]] = {"rebuild": derive}
    if kind == cluster.ONE:
        jobs["rebuild anew"] = lambda: opened.run(opened.profile.rebuild())
        jobs["verify"] = verify
    for name, job in jobs.items():
        report.add_figure(f"{name}, players", size / harness.timed(job), "/s", kind)


def _migrate(size: int) -> float:
    """Copy a file with the same players, by the command: players per second."""
    with (
        library.database(size, "best") as (path, boards, _),
        tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder,
        cluster.truth() as postgres,
        cluster.index() as (url, _),
    ):
        boards.close()
        target = write_settings(Path(folder) / "cluster.toml", postgres.url, url)
        return size / harness.timed(lambda: _copy(path, target))


def _copy(path: Path, target: str) -> None:
    command = [sys.executable, "-m", "toprung", "migrate", "--from", str(path), "--to", target]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    harness.main(run)
