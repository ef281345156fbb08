"""What does history cost: bytes per player and snapshot, top 100 with movement, durable batches?

Players are on four ladders of one board in one file, whose best scores count. Bytes are those of
the tables of snapshots, for each player of each ladder; the time to take a snapshot of all four and
the longest turn of the event loop meanwhile are printed. Top 100 is read from memory, with the
snapshot's ranks decoded. Batches of 1,000 go to the same board, in turn, while nothing else happens
and while a snapshot is taken again and again, far more often than any rule allows.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import harness, library
from toprung.blocking import Leaderboard, Leaderboards
from toprung.domain.history import boundary
from toprung.ports import Snapshot
from toprung.waiting.blocking import run_blocking

BATCH = 1_000
BATCHES = harness.amount(50, smoke=5)
TOP = 100
READS = harness.amount(200, smoke=5)
TURN_SECONDS = 5.0


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("history")
    with library.database(options.size, "best") as (_, boards, board):
        boards.patch("board", history={"every": "day", "keep": 2})
        seconds, longest_ms = _take(boards)
        size, count = _stored(boards)
        harness.print_header("A snapshot of 4 ladders", players=options.size)
        print(f"  {seconds:.2f} s, {size / count:.2f} bytes per player and ladder")
        report.add_figure("a snapshot of 4 ladders", seconds, "s")
        report.add_figure("longest turn of the event loop, processor time", longest_ms, "ms")
        report.add_bar("history-bytes", size / count)
        _read(report, options, board)
        _submit(report, options, boards, board)
    return report


def _read(report: harness.Report, options: argparse.Namespace, board: Leaderboard) -> None:
    harness.print_header("Top 100, in process", players=options.size)
    board.top(TOP, movement=True)
    medians = harness.interleave(
        options.rounds,
        {
            "without movement": lambda: _reading(board, movement=False),
            "with movement": lambda: _reading(board, movement=True),
        },
    )
    report.add_medians("top 100", medians)
    report.add_bar("history-top", medians["with movement"] / medians["without movement"])


def _reading(board: Leaderboard, *, movement: bool) -> float:
    """Microseconds per read; the quickest of some, for a machine that does other things."""
    taken = []
    for _ in range(READS):
        begin = time.perf_counter()
        board.top(TOP, movement=movement)
        taken.append(time.perf_counter() - begin)
    return harness.percentile(taken, 0.1) * 1e6


def _submit(
    report: harness.Report, options: argparse.Namespace, boards: Leaderboards, board: Leaderboard
) -> None:
    harness.print_header("Durable batches of 1,000, policy best, ladders: 4", players=options.size)
    names = library.names(options.size, BATCH * BATCHES, harness.SEED)
    batches = itertools.cycle([names[at : at + BATCH] for at in range(0, len(names), BATCH)])
    scores = itertools.count(1)

    def rate() -> float:
        begin, count = time.perf_counter(), 0
        while (taken := time.perf_counter() - begin) < TURN_SECONDS * options.seconds:
            board.submit_many([(player, next(scores)) for player in next(batches)])
            count += BATCH
        return count / taken

    def beside() -> float:
        with _taking(boards) as taken:
            found = rate()
        print(f"  {len(taken)} snapshots were taken meanwhile")
        return found

    medians = harness.interleave(
        options.rounds, {"no snapshots": rate, "while snapshots are taken": beside}
    )
    report.add_medians("submissions", medians, "per s")


def _take(boards: Leaderboards) -> tuple[float, float]:
    """How long a snapshot takes, and how long it held the event loop at most (ms)."""

    async def main() -> tuple[float, float]:
        longest = 0.0
        begin = time.perf_counter()
        task = asyncio.ensure_future(boards._face_of.take_snapshots())
        while not task.done():
            before = time.thread_time()  # others may keep the processor busy
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)
        assert await task == 1
        return time.perf_counter() - begin, longest * 1e3

    return asyncio.run(main())


def _stored(boards: Leaderboards) -> tuple[int, int]:
    """Bytes of all parts of the newest snapshot, with the pages that they lie in; its players."""
    store = boards._face_of._maintenance.store  # type: ignore[attr-defined]
    tables = ("snapshots", "snapshot_ladders", "snapshot_parts")
    found = store.select(
        "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema"
        " WHERE tbl_name IN (SELECT value FROM json_each(?)))",
        (str(list(tables)).replace("'", '"'),),
    )
    ((players,),) = store.select("SELECT sum(total) FROM snapshot_ladders")
    return found[0][0], players


@contextmanager
def _taking(boards: Leaderboards) -> Iterator[list[None]]:
    """While a thread takes one snapshot of the board after the other."""
    taken: list[None] = []
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            run_blocking(_take_again(boards))
            taken.append(None)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield taken
    finally:
        is_over.set()
        thread.join()


async def _take_again(boards: Leaderboards) -> None:
    """Take today's snapshot, although there may be one already."""
    face: Any = boards._face_of
    parts = face._parts
    board = await parts.journal.board("board")
    lease = await face.background.stores.leases.take("jobs")
    due = boundary(board.history, board.timezone, parts.clock.now())
    await parts.snapshot_store.drop(lease, board.generation, [due.opens_at])
    assert due.opens_at is not None
    snapshot = Snapshot(0, due.opens_at, due.id, parts.clock.now())
    await parts.snapshots._take(lease, board, snapshot)


if __name__ == "__main__":
    harness.main(run)
