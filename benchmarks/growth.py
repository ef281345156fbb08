"""How does the time of a rank grow from 1M to 10M players?

One call at a time, random players, ladders filled in random order.
"""

from __future__ import annotations

import argparse
import random
from functools import partial

from benchmarks import harness

CALLS = 100_000
GROWTH = 10


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("growth")
    sizes = (options.size, GROWTH * options.size)
    harness.print_header("Growth of a rank's time", players=f"{sizes[0]} and {sizes[1]}")
    ladders = {size: harness.native_ladder(size) for size in sizes}
    rng = random.Random(harness.SEED)
    samples = {size: harness.sample(rng, size, CALLS) for size in sizes}
    medians = harness.interleave(
        options.rounds,
        {str(size): partial(harness.each, ladders[size].offset, samples[size]) for size in sizes},
    )
    small, large = (medians[str(size)] for size in sizes)
    report.add_figure(f"rank at {sizes[0]}", small)
    report.add_figure(f"rank at {sizes[1]}", large)
    report.add_bar("growth-rank", large / small)
    return report


if __name__ == "__main__":
    harness.main(run)
