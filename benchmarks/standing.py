"""How long does it take to read a player's standing through the synchronous library?

Rank, score, total, percentile and the time it was achieved, for random players, one call at a
time. Against redis-py's ZREVRANK + ZSCORE + ZCARD in one pipeline over loopback TCP, count(*) on
an indexed PostgreSQL table (by index, and by a window function over everybody), and the
leaderboard package's `score_and_rank_for`.
"""

from __future__ import annotations

import argparse

from benchmarks import harness, library, peers


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("standing")
    harness.print_header("One standing through the synchronous library", players=options.size)
    with peers.opened(options.size) as boards:
        asked = library.names(options.size, peers.CALLS, harness.SEED)
        more = {"PostgreSQL, rank() over all": ("PostgreSQL", "window_rank")}
        medians = peers.compare(options, boards, "standing", asked, more)
    report.add_latencies("standing", medians)
    report.add_bar("standing", medians["Redis"].mean / medians["toprung"].mean)
    return report


if __name__ == "__main__":
    harness.main(run)
