"""How long does one submission take, with one caller sending one at a time?

Ours is on disk when the call returns, has changed four windows and knows their ranks. Against
the multi-window recipe in redis-py (four ZINCRBY, three EXPIRE and ZREVRANK in one MULTI: nothing
on disk), the leaderboard package's `change_score_for` (one window, not on disk), an UPDATE with a
commit in PostgreSQL (one table), and a bare SQLite commit of one row, which is what the disk alone
takes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import bare, harness, library, peers


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_one")
    harness.print_header("One submission at a time, four windows", players=options.size)
    with (
        peers.opened(options.size) as boards,
        tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder,
        bare.sqlite(Path(folder)) as rows,
    ):
        asked = library.names(options.size, peers.CALLS, harness.SEED)
        contestants = {**boards, "bare SQLite commit": rows}
        medians = peers.compare(options, contestants, "submit", asked)
    report.add_latencies("submit one", medians)
    return report


if __name__ == "__main__":
    harness.main(run)
