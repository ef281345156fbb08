"""What do checks cost durable batches of 1,000 on 4 ladders?

Policy best, synchronous=FULL, one file each. One board has no rules beyond the usual; the other has
all checks: a rate per player, a pace that entries may improve at, and a review of the first 100
places, of outliers and of leads of a fifth. In turn, the same batches are submitted to both:
players and scores are drawn at random, so some scores improve, and a few have to wait; those
are decided after each turn, so that the queue is never full.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import toprung
from benchmarks import harness, library
from toprung.blocking import Leaderboards

BATCH = 1_000
BATCHES = harness.amount(40, smoke=4)
BOARD = "board"
CHECKS: dict[str, Any] = {
    "rate": {"submissions": 100_000, "seconds": 60},
    "max_per": {"amount": 10**9, "seconds": 1},
    "review": {"when": {"top": 100, "anomaly": 3.5, "first_by": "20%"}},
}
RULES: dict[str, dict[str, Any]] = {"unchecked": {}, "checked": CHECKS}


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_checked")
    harness.print_header(
        "Durable submissions, policy best, batches of 1,000, ladders: 4", players=options.size
    )
    drawn = random.Random(harness.SEED)
    names = library.names(options.size, BATCH * BATCHES, harness.SEED)
    scores = [drawn.randrange(harness.SCORE_MAX) for _ in names]
    rows = list(zip(names, scores, strict=True))
    batches = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    processor: dict[str, list[float]] = {name: [] for name in RULES}
    with ExitStack() as stack:
        opened = {
            name: stack.enter_context(_opened(rules, options.size)) for name, rules in RULES.items()
        }
        medians = harness.interleave(
            options.rounds,
            {
                name: partial(
                    _rate, boards, itertools.cycle(batches), options.seconds, processor[name]
                )
                for name, boards in opened.items()
            },
        )
    report.add_medians("submissions", medians, "per s")
    for name, used in processor.items():
        report.add_figure("processor time of a submission", statistics.median(used), "us", name)
    report.add_bar("checked-submit", medians["checked"] / medians["unchecked"])
    return report


@contextmanager
def _opened(rules: dict[str, Any], size: int) -> Iterator[Leaderboards]:
    """A file with a board that is full, and has its rules from then on."""
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        path = Path(folder) / "scores.db"
        with toprung.open(path) as boards:
            board = boards.create(BOARD, windows=list(library.WINDOWS))
            library.load(board, size)
            boards.patch(BOARD, **rules)
            yield boards


def _rate(
    boards: Leaderboards,
    batches: Iterator[list[tuple[str, int]]],
    seconds: float,
    processor: list[float],
) -> float:
    """Submissions per second; `processor` gets the microseconds of all threads for one."""
    board = boards[BOARD]
    count = waiting = refused = 0
    begin, used = time.perf_counter(), -time.process_time()
    while (taken := time.perf_counter() - begin) < seconds:
        result = board.submit_many(next(batches))
        waiting += result.pending
        refused += len(result.rejected)
        count += BATCH
    processor.append(1e6 * (used + time.process_time()) / count)
    print(f"  {count:,} in {taken:.2f} s, {waiting:,} of them wait, {refused:,} are refused")
    while found := boards.review(limit=200).submissions:
        for each in found:
            boards.decide(each.submission, "reject")
    return count / taken


if __name__ == "__main__":
    harness.main(run)
