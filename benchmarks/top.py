"""How long does it take to read the first 100 standings?

Against ZREVRANGE WITHSCORES by redis-py, an ordered SELECT with LIMIT on an indexed table, and
the leaderboard package's `top`. Ours carry ranks and times as well; with names, also what the
players are called.
"""

from __future__ import annotations

import argparse

from benchmarks import harness, peers

COUNT = 100


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("top")
    harness.print_header(f"The first {COUNT}", players=options.size)
    with peers.opened(options.size) as boards:
        more = {"toprung, with names": ("toprung", "top_with_names")}
        medians = peers.compare(options, boards, "top", [COUNT] * 1_000, more)
    report.add_latencies("top 100", medians)
    return report


if __name__ == "__main__":
    harness.main(run)
