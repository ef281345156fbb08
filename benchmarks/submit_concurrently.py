"""How many submissions per second from 50 asyncio tasks, each sending one at a time?

Each waits until its submission is durable and its ranks on four windows are known. Against bare
APSW commits of 50 rows with the same columns, which is what the disk and SQLite alone allow.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import toprung
from benchmarks import bare, harness, library
from toprung.service.leaderboards import Leaderboard, Leaderboards

TASKS = 50
SUBMISSIONS = 3_000
COMMITS = 60


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_concurrently")
    harness.print_header(f"{TASKS} asyncio submitters, one at a time each", players=options.size)
    with library.database(options.size, "sum") as (path, boards, _):
        boards.close()
        medians = _measure(path, options)
    report.add_medians("submissions", medians, "per s")
    report.add_bar("submit-concurrently", medians["toprung"] / medians["bare commits"])
    return report


def _measure(path: Path, options: argparse.Namespace) -> dict[str, float]:
    names = library.names(options.size, min(SUBMISSIONS, options.size), harness.SEED)
    with bare.sqlite(path.parent) as rows, asyncio.Runner() as runner:
        boards = runner.run(_open(str(path)))
        board = runner.run(boards.board("board"))
        medians = harness.interleave(
            options.rounds,
            {
                "toprung": lambda: submit_together(runner, board, names),
                "bare commits": lambda: _commit(rows),
            },
        )
        runner.run(boards.close())
    return medians


async def _open(path: str) -> Leaderboards:
    return await toprung.open_async(path)


def submit_together(runner: asyncio.Runner, board: Leaderboard, names: list[str]) -> float:
    """Submissions per second of all tasks."""
    rest = iter(names)

    async def one_by_one() -> None:
        for player in rest:
            await board.submit(player, 5)

    async def together() -> None:
        await asyncio.gather(*(one_by_one() for _ in range(TASKS)))

    return len(names) / harness.timed(lambda: runner.run(together()))


def _commit(rows: bare.BareSqlite) -> float:
    def work() -> None:
        for _ in range(COMMITS):
            rows.commit(TASKS)

    return TASKS * COMMITS / harness.timed(work)


if __name__ == "__main__":
    harness.main(run)
