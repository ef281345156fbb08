"""How much longer does a rank take with ten times as many players?

The native core's rank of random players, one call at a time, at `--size` and at a tenth of it.
"""

from __future__ import annotations

import argparse
import random
from functools import partial

from benchmarks import harness
from benchmarks.figures import show_count

CALLS = 50_000
FACTOR = 10


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("rank_growth")
    sizes = (options.size // FACTOR, options.size)
    harness.print_header("Growth of a rank in the native core", players=sizes)
    rng = random.Random(harness.SEED)
    contestants = {}
    for size in sizes:
        core, asked = harness.native_ladder(size), harness.sample(rng, size, CALLS)
        contestants[show_count(size)] = partial(harness.each, core.offset, asked)
    medians = harness.interleave(options.rounds, contestants)
    for players, median in medians.items():
        report.add_figure(f"rank, {players} players", median, "us", "toprung")
    small, large = medians.values()
    report.add_bar("growth-rank", large / small)
    return report


if __name__ == "__main__":
    harness.main(run, size=10_000_000)
