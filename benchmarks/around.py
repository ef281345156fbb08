"""How long does it take to read a random player's neighbours, five above and five below?

Against ZREVRANK then ZREVRANGE by redis-py, count(*) then OFFSET on an indexed table, and the
leaderboard package's `around_me`.
"""

from __future__ import annotations

import argparse

from benchmarks import harness, library, peers


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("around")
    harness.print_header("A random player and the ten around", players=options.size)
    with peers.opened(options.size) as boards:
        asked = library.names(options.size, peers.CALLS, harness.SEED)
        more = {"toprung, with names": ("toprung", "around_with_names")}
        medians = peers.compare(options, boards, "around", asked, more)
    report.add_latencies("around", medians)
    return report


if __name__ == "__main__":
    harness.main(run)
