"""What does a follower at the journal's head cost durable batches of 1,000 on 4 ladders?

Policy sum, synchronous=FULL, one file; to one board, and to 50 boards in rotation, each of which
has activity of its own to keep. The bar is for one board. In turn, the same batches are submitted
while nothing runs beside the journal, and while everything does that a service runs beside it, in
an event loop of another thread, but the audit log, which has a benchmark of its own: the activity
follower reads what is recorded and commits what it derives. It is at the journal's end when its
turn begins, and how far it is behind when the turn ends is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks import harness, library
from toprung.blocking import Leaderboard
from toprung.domain.trust.log import LOG
from toprung.service.background.runner import Background
from toprung.waiting.blocking import run_blocking

BATCH = 1_000
BATCHES = harness.amount(50, smoke=5)
AMOUNT = 5
MANY = 50
TURN_SECONDS = 5.0
"""For each second that other benchmarks take: the follower must have its way several times."""


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("followers")
    names = library.names(options.size, BATCH * BATCHES, harness.SEED)
    batches = itertools.cycle([names[at : at + BATCH] for at in range(0, len(names), BATCH)])
    with library.database(options.size, "sum") as (_, boards, board):
        background = boards._face_of.background
        sources = background.following._sources
        background.following._sources = [each for each in sources if each.prefix != LOG]
        rules = {"policy": "sum", "windows": library.LADDERS[4]}
        many = [boards.create(f"board-{number}", **rules) for number in range(MANY)]
        for turn in ([board], many):
            harness.print_header(
                "Durable submissions, policy sum, batches of 1,000, ladders: 4",
                players=options.size,
                boards=len(turn),
            )
            submit = _submitting(turn, batches, TURN_SECONDS * options.seconds)

            def followed(submit: Callable[[], float] = submit) -> float:
                with _running(background):
                    rate = submit()
                    _print_lag(background)
                return rate

            medians = harness.interleave(
                options.rounds, {"without a follower": submit, "with a follower": followed}
            )
            report.add_medians(f"submissions, boards: {len(turn)}", medians, "per s")
            if turn == [board]:
                ratio = medians["with a follower"] / medians["without a follower"]
                report.add_bar("follower-at-head", ratio)
    return report


def _submitting(
    boards: list[Leaderboard], batches: Iterator[list[str]], seconds: float
) -> Callable[[], float]:
    """Submissions per second, each batch to the next board."""
    rotation = itertools.cycle(boards)

    def rate() -> float:
        begin, count = time.perf_counter(), 0
        while (taken := time.perf_counter() - begin) < seconds:
            next(rotation).submit_many([(player, AMOUNT) for player in next(batches)])
            count += BATCH
        return count / taken

    return rate


def _print_lag(background: Background) -> None:
    for follower in run_blocking(background.following.status()):
        behind = f"{follower.lag_events:,} events, {follower.lag_seconds:.2f} s"
        print(f"  {follower.name} is behind by {behind}")


@contextmanager
def _running(background: Background) -> Iterator[None]:
    """Everything beside the journal at work, at its end to begin with."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(_begin(background), loop).result()
        yield
        asyncio.run_coroutine_threadsafe(background.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _begin(background: Background) -> None:
    await background.settle()
    background.start()


if __name__ == "__main__":
    harness.main(run)
