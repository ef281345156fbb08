"""How many submissions a second do 50 asyncio tasks get through, one at a time each?

Each waits until its submission is durable and its ranks on four windows are known. Against bare
APSW commits of 50 rows with the same columns, which is what the disk and SQLite alone allow.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import tempfile
from pathlib import Path

import apsw

import toprung
from benchmarks import harness, library
from toprung.service.leaderboards import Leaderboard, Leaderboards

TASKS = 50
SUBMISSIONS = 3_000
COMMITS = 60
_TABLE = (
    "CREATE TABLE bare (position INTEGER PRIMARY KEY, route, player, previous, recorded_at, at, "
    "score, subscore, status, key, digest, outcome)"
)
_INSERT = f"INSERT INTO bare VALUES {','.join(['(?,?,?,?,?,?,?,?,?,?,?,?)'] * TASKS)}"


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_concurrently")
    harness.print_header(f"{TASKS} asyncio submitters, one at a time each", players=options.size)
    with library.database(options.size, "sum") as (path, boards, _):
        boards.close()
        medians = _measure(path, options)
    for name, rate in medians.items():
        report.add_figure(f"submissions, {name}", rate, "per s")
    report.add_bar("submit-concurrently", medians["toprung"] / medians["bare commits"])
    return report


def _measure(path: Path, options: argparse.Namespace) -> dict[str, float]:
    names = library.names(options.size, SUBMISSIONS, harness.SEED)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-", dir=path.parent) as folder:
        bare = apsw.Connection(str(Path(folder) / "bare.db"))
        bare.execute("PRAGMA journal_mode = WAL").fetchall()
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute(_TABLE)
        positions = itertools.count(1)
        with asyncio.Runner() as runner:
            boards = runner.run(_open(str(path)))
            board = runner.run(boards.board("board"))
            medians = harness.interleave(
                options.rounds,
                {
                    "toprung": lambda: _submit(runner, board, names),
                    "bare commits": lambda: _commit(bare, positions),
                },
            )
            runner.run(boards.close())
        bare.close()
    return medians


async def _open(path: str) -> Leaderboards:
    return await toprung.open_async(path)


def _submit(runner: asyncio.Runner, board: Leaderboard, names: list[str]) -> float:
    rest = iter(names)

    async def one_by_one() -> None:
        for player in rest:
            await board.submit(player, 5)

    async def together() -> None:
        await asyncio.gather(*(one_by_one() for _ in range(TASKS)))

    rest = iter(names)
    return len(names) / harness.timed(lambda: runner.run(together()))


def _commit(bare: apsw.Connection, positions: itertools.count[int]) -> float:
    def work() -> None:
        for _ in range(COMMITS):
            rows = [
                (next(positions), 1, 2, 3, 1700000000000000, 1700000000000000, 5, None, 1)
                + (None,) * 3
                for _ in range(TASKS)
            ]
            bare.execute("BEGIN IMMEDIATE")
            bare.execute(_INSERT, [value for row in rows for value in row])
            bare.execute("COMMIT")

    return TASKS * COMMITS / harness.timed(work)


if __name__ == "__main__":
    harness.main(run)
