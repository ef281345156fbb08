"""What does it take to settle and archive a day of so many players, and to read its archive?

A board of two windows in a file: weekly, which goes on, and daily, of which a day ends. Both have
the same entries, so each read of the archive is compared with the same one on a ladder in memory,
whose period is named as well.
Ids, scores and times are random, so that nothing compresses well: an id is 12 digits of 16 values,
and times are all over the last six hours, to the microsecond.

The day is settled and archived as a service does it, on an event loop on which somebody asks for
200 standings a second. A standing's time counts from when it was due. `without` is the same before
and after, and `while a thread computes` with a thread that computes hashes and never needs the
interpreter: what a busy machine does to readers, whatever the work is. Memory is the process's peak
over what it had before.

*Cold* reads are the first of an index that has nothing in memory. The files are in the page cache
of the machine or, in other rounds, were taken out of it. *Warm* reads ask for 50 players in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import hashlib
import itertools
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

import toprung
from benchmarks import harness
from benchmarks.days import DaysClock
from toprung import blocking
from toprung.archives.index import ArchiveIndex
from toprung.domain.archive import ArchiveFiles
from toprung.domain.commands import Submit
from toprung.domain.submission import Submission
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.service.parts import Parts
from toprung.waiting.blocking import run_blocking

BOARD, LIVE, WINDOW = "board", "weekly", "daily"
WINDOWS = [LIVE, {"name": WINDOW, "retain": 1, "grace": 0, "keep": "forever"}]
READS_PER_SECOND = 200
PLAYERS_WARM = 50
"""Of as many row groups in the end, which the index keeps."""
TOP = 100
AROUND = 5
SEED = harness.SEED
FACTOR = 0x9E37_79B9_7F4B  # odd: a permutation of 48 bits
AGO = 6 * 3600 * 1_000_000  # microseconds
CHUNKS = 10
"""Of players, in a batch."""
LARGE = 10_000_000
MB = 1_000_000

Ask = Callable[[str], object]


class Database(NamedTuple):
    """A file in which one day of a board is about to end."""

    folder: Path
    boards: blocking.Leaderboards
    clock: DaysClock

    @property
    def service(self) -> Leaderboards:
        """The same, for event loops."""
        found: Leaderboards = self.boards._face_of
        return found

    @property
    def parts(self) -> Parts:
        """What they are made of."""
        return self.service._parts


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("archives")
    harness.print_header("Archives of a day", players=options.size)
    with _filled(options.size) as database:
        day = database.boards[BOARD].top(1, window=WINDOW)[0].period
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
            files = loop.run(_archive(report, options, database))
        size = (files.entries_bytes + files.index_bytes) / options.size
        report.add_figure(
            "bytes per entry, of the entries", files.entries_bytes / options.size, "bytes"
        )
        report.add_figure(
            "bytes per entry, of the index", files.index_bytes / options.size, "bytes"
        )
        report.add_bar("archive-bytes", size)
        _read_cold(report, options, database, day, files)
        _read_warm(report, options, database.boards[BOARD], day)
    return report


@contextmanager
def _filled(size: int) -> Iterator[Database]:
    """Every player has an entry of today."""
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name:
        folder, clock = Path(name), DaysClock()
        path, archive = folder / "scores.db", folder / "archive"
        with toprung.open(path, clock=clock, synchronous="normal", archive=archive) as boards:
            boards.create(BOARD, windows=WINDOWS)
            database = Database(folder, boards, clock)
            run_blocking(_fill(database.parts, size))
            yield database


async def _fill(parts: Parts, size: int) -> None:
    """Record one submission of each player, in random order of players."""
    board, now, rng = await parts.journal.board(BOARD), parts.clock.now(), random.Random(SEED)
    chunks = harness.shuffled_players(size, SEED)
    while batch := list(itertools.islice(chunks, CHUNKS)):
        rows = [
            Submission(_id(int(player)), rng.randrange(harness.SCORE_MAX), now - rng.randrange(AGO))
            for players in batch
            for player in players
        ]
        await parts.journal.record(
            Submit(board.id, board.generation, rows, "benchmark", receipts=False)
        )


def _id(number: int) -> str:
    """A 12-byte id that looks random, of each number another."""
    return f"{number * FACTOR % (1 << 48):012x}"


def _names(size: int, count: int, seed: int) -> list[str]:
    """The ids of `count` random players."""
    rng = random.Random(seed)
    return [_id(rng.randrange(size)) for _ in range(count)]


def _bar_id(name: str, size: int) -> str:
    return f"{name}-10M" if size >= LARGE else name


# --- writing --------------------------------------------------------------------------------------


async def _archive(
    report: harness.Report, options: argparse.Namespace, database: Database
) -> ArchiveFiles:
    """End the day; what its archive is."""
    board, parts = await database.service.board(BOARD), database.parts
    players = itertools.cycle(_names(options.size, 10_000, SEED))
    seconds = 10 * options.seconds
    gc.freeze()  # as a service does when it has started
    without = await reading(board, players, asyncio.sleep(seconds))
    beside = await reading(board, players, asyncio.to_thread(_compute, seconds))
    database.clock.pass_day()
    memory = PeakMemory()
    settling = Stopwatch()
    during = await reading(board, players, end_day(parts))
    settling.stop()
    writing = Stopwatch()
    during += await reading(board, players, write(parts))
    writing.stop()
    extra = memory.extra_bytes() / MB
    without += await reading(board, players, asyncio.sleep(seconds))
    beside += await reading(board, players, asyncio.to_thread(_compute, seconds))
    for name, watch in (("settle", settling), ("archive", writing)):
        report.add_figure(f"{name}, seconds", watch.wall, "s", "wall")
        report.add_figure(f"{name}, seconds", watch.processor, "s", "processor")
    report.add_bar(_bar_id("archive-seconds", options.size), settling.wall + writing.wall)
    report.add_figure("peak of extra memory", extra, "MB")
    report.add_bar(_bar_id("archive-memory", options.size), extra)
    contestants = {
        "without": without,
        "while a day is archived": during,
        "while a thread computes": beside,
    }
    for name, taken in contestants.items():
        for share in (0.5, 0.99):
            question = f"a standing on the event loop, p{100 * share:.0f}"
            report.add_figure(question, harness.percentile(taken, share), "us", name)
    readers = harness.percentile(during, 0.99) / harness.percentile(without, 0.99)
    report.add_bar(_bar_id("archive-readers", options.size), readers)
    (archived,) = await parts.archives.of_board(await parts.journal.board(BOARD))
    assert archived.files is not None
    return archived.files


async def end_day(parts: Parts) -> None:
    """Close and settle the day that is over."""
    assert await parts.endings.end_all() == 2, "one period is closed and settled"


async def write(parts: Parts) -> None:
    """Archive it."""
    _, *done = await parts.archives.archive_due(await parts.journal.board(BOARD))
    assert done == [1, 0], done


async def reading(board: Leaderboard, players: Iterator[str], work: Any) -> list[float]:
    """Microseconds of standings, from when they were due, while some work goes on."""
    task = asyncio.ensure_future(work)
    taken: list[float] = []
    due = time.perf_counter()
    while not (task.done() and taken):
        due += 1 / READS_PER_SECOND
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await board.standing(next(players), window=LIVE)
        taken.append(1e6 * (time.perf_counter() - due))
    await task
    return taken


def _compute(seconds: float) -> None:
    end, data = time.perf_counter() + seconds, bytes(MB)
    while time.perf_counter() < end:
        hashlib.sha256(data)


class Stopwatch:
    """Seconds that passed, and that this process had processors for."""

    def __init__(self) -> None:
        self.wall, self.processor = -time.perf_counter(), -time.process_time()

    def stop(self) -> None:
        """What passed counts."""
        self.wall += time.perf_counter()
        self.processor += time.process_time()


class PeakMemory:
    """By how much the resident memory has grown at most."""

    def __init__(self) -> None:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what is free but not returned would hide some
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what it is now
        self._before = self._kib("VmRSS")

    def extra_bytes(self) -> int:
        """What it is at its peak, over what it was."""
        return 1024 * (self._kib("VmHWM") - self._before)

    @staticmethod
    def _kib(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


# --- reading --------------------------------------------------------------------------------------


def _read_cold(
    report: harness.Report,
    options: argparse.Namespace,
    database: Database,
    day: str,
    files: ArchiveFiles,
) -> None:
    names = _names(options.size, 2 * options.rounds, SEED + 1)
    reads: dict[str, Callable[[blocking.Leaderboard], object]] = {
        "page": lambda board: board.top(TOP, window=WINDOW, period=day),
        "standing": lambda board: board.standing(names.pop(), window=WINDOW, period=day),
    }
    places: dict[str, Callable[[], None]] = {
        "in the page cache": lambda: None,
        "on disk": lambda: _evict(database.folder / "archive", files),
    }
    for name, read in reads.items():
        slowest = 0.0
        for place, prepare in places.items():
            taken = []
            for _ in range(options.rounds):
                prepare()
                taken.append(1000 * _first_read(database.parts, read))
            question, median = f"first {name}, cold, files {place}", statistics.median(taken)
            report.add_figure(question, median, "ms", "median")
            report.add_figure(question, max(taken), "ms", "slowest")
            slowest = max(slowest, median)
        report.add_bar(_bar_id(f"archive-cold-{name}", options.size), slowest)


def _first_read(parts: Parts, read: Callable[[blocking.Leaderboard], object]) -> float:
    """Seconds of a read by an index that has read nothing yet."""
    past = parts.past
    assert isinstance(past, ArchiveIndex)
    new = ArchiveIndex(past._journal, past._reader, past._clock, past._files)
    boards = blocking.Leaderboards(Leaderboards(replace(parts, past=new)))
    board = boards[BOARD]
    try:
        return harness.timed(lambda: read(board))
    finally:
        new.close()


def _evict(folder: Path, files: ArchiveFiles) -> None:
    """Have the system forget what it has read of the files: nobody may have them open."""
    gc.collect()
    for name in files.names:
        descriptor = os.open(folder / name, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def _read_warm(
    report: harness.Report, options: argparse.Namespace, board: blocking.Leaderboard, day: str
) -> None:
    """The same reads of both ladders, in turn."""
    names = _names(options.size, PLAYERS_WARM, SEED)
    week = board.top(1, window=LIVE)[0].period
    ladders: dict[str, dict[str, Any]] = {
        "live": {"window": LIVE, "period": week},
        "archived": {"window": WINDOW, "period": day},
    }
    worst = 0.0
    for question in ("standing", "top", "around"):
        asks = {name: _ask(question, board, ladder) for name, ladder in ladders.items()}
        for each in names:
            asks["archived"](each)
        contestants = {
            name: lambda ask=ask: harness.times(ask, names * 1_000, options.seconds)
            for name, ask in asks.items()
        }
        medians = harness.interleave_latencies(options.rounds, contestants)
        report.add_latencies(f"{question}, warm", medians)
        worst = max(worst, medians["archived"].mean / medians["live"].mean)
    report.add_bar(_bar_id("archive-warm", options.size), worst)


def _ask(question: str, board: blocking.Leaderboard, ladder: dict[str, Any]) -> Ask:
    asks: dict[str, Ask] = {
        "standing": lambda player: board.standing(player, **ladder),
        "top": lambda _: board.top(TOP, **ladder),
        "around": lambda player: board.around(player, AROUND, AROUND, **ladder),
    }
    return asks[question]


if __name__ == "__main__":
    harness.main(run)
