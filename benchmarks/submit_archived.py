"""What do archives cost durable batches of 1,000 on 4 ladders?

Policy sum, synchronous=FULL, one file each. One board archives its periods, and keeps the archives
forever; the periods of the other are never closed. In turn, the same batches are submitted to both.
A day ends when a turn begins: that of the first is closed, settled and archived while the batches
of its turn are submitted, in an event loop of another thread, where everything runs that a service
runs beside the journal. That of the other runs there, too.

So each turn is a day: 20,000 players are drawn at random, and each submits about ten times in it.
What both take of the processors is printed, too, for their wall times depend on the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import toprung
from benchmarks import harness, library
from benchmarks.days import DaysClock
from toprung import blocking
from toprung.service.parts import Parts

BATCH = 1_000
BATCHES = harness.amount(20, smoke=2)
AMOUNT = 5
TURN_SECONDS = 10.0
"""For each second that other benchmarks take: a day must have an end."""
BOARD = "board"
ENDS: dict[str, dict[str, Any]] = {
    "never closed": {"grace": "retained", "keep": 0},
    "archived": {"grace": 0, "keep": "forever"},
}


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_archived")
    harness.print_header(
        "Durable submissions, policy sum, batches of 1,000, ladders: 4", players=options.size
    )
    names = library.names(options.size, BATCH * BATCHES, harness.SEED)
    batches = [names[at : at + BATCH] for at in range(0, len(names), BATCH)]
    seconds = TURN_SECONDS * options.seconds
    with ExitStack() as stack:
        turns = {
            name: stack.enter_context(_opened(end, options.size)) for name, end in ENDS.items()
        }
        medians = harness.interleave(
            options.rounds,
            {
                name: partial(turn.rate, itertools.cycle(batches), seconds)
                for name, turn in turns.items()
            },
        )
        archived = turns["archived"].archived()
    report.add_medians("submissions", medians, "per s")
    for name, turn in turns.items():
        report.add_figure("processor time of a submission", turn.processor_us(), "us", name)
    report.add_figure("days archived", archived, "days")
    report.add_bar("archive-submit", medians["archived"] / medians["never closed"])
    return report


class Turn:
    """A database, and what runs beside its journal."""

    def __init__(self, boards: blocking.Leaderboards, clock: DaysClock) -> None:
        self._boards = boards
        self._clock = clock
        self._parts: Parts = boards._face_of._parts
        self._processor_us: list[float] = []

    def rate(self, batches: Iterator[list[str]], seconds: float) -> float:
        """Submissions per second, of a day that begins now."""
        board = self._boards[BOARD]
        with _running(self._parts) as loop:
            self._clock.pass_day()
            ending = asyncio.run_coroutine_threadsafe(_end_day(self._parts), loop)
            begin, count, used = time.perf_counter(), 0, -time.process_time()
            while (taken := time.perf_counter() - begin) < seconds or not ending.done():
                board.submit_many([(player, AMOUNT) for player in next(batches)])
                count += BATCH
            used += time.process_time()
            ended = ending.result()
        print(f"  {count:,} in {taken:.2f} s, {used:.2f} s of processors; {ended}")
        self._processor_us.append(1e6 * used / count)
        return count / taken

    def processor_us(self) -> float:
        """Microseconds of all threads for a submission: the median of all turns."""
        return statistics.median(self._processor_us)

    def archived(self) -> int:
        """How many periods have an archive."""

        async def count() -> int:
            board = await self._parts.journal.board(BOARD)
            found = await self._parts.archives.of_board(board, "daily")
            return sum(each.files is not None for each in found)

        return asyncio.run(count())


@contextmanager
def _opened(end: dict[str, Any], size: int) -> Iterator[Turn]:
    clock = DaysClock()
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        path, archive = Path(folder) / "scores.db", Path(folder) / "archive"
        with toprung.open(path, clock=clock, archive=archive) as boards:
            windows = ["all-time", *({"name": name, **end} for name in library.WINDOWS[1:])]
            library.load(boards.create(BOARD, policy="sum", windows=windows), size)
            yield Turn(boards, clock)


async def _end_day(parts: Parts) -> str:
    """What two jobs do when their time comes."""
    begin = time.perf_counter()
    ended = await parts.endings.end_all()
    _, archived, waiting = await parts.archives.archive_due(await parts.journal.board(BOARD))
    assert waiting == 0
    seconds = time.perf_counter() - begin
    return f"{ended} times closed or settled, {archived} archived in {seconds:.2f} s"


@contextmanager
def _running(parts: Parts) -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop with everything beside the journal at work, at its end to begin with."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(_begin(parts), loop).result()
        yield loop
        asyncio.run_coroutine_threadsafe(parts.background.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _begin(parts: Parts) -> None:
    await parts.background.settle()
    parts.background.start()


if __name__ == "__main__":
    harness.main(run)
