"""How does the time of each call grow with the board, from 10k players up?

Standings, the first 100 and neighbours of random players through the library, on boards of one
window, against Redis and PostgreSQL at each size; a submission against Redis, on disk in neither.
`--size` is the greatest; each size before it is a tenth of the next.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import toprung
from benchmarks import harness, library, peers
from benchmarks.peers import postgres, redis_zset
from benchmarks.peers.toprung_board import ToprungBoard

SMALLEST = 10_000
TOP = 100


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("growth")
    sizes = sizes_up_to(options.size)
    harness.print_header("Growth", players=sizes)
    with postgres.server() as url:
        for size in sizes:
            with _ours(size) as ours, postgres.table(url, size) as table:
                _compare(report, options, size, ours, table)
    return report


def sizes_up_to(greatest: int) -> list[int]:
    """From ten thousand or less, each ten times the one before.

    >>> sizes_up_to(1_000_000)
    [10000, 100000, 1000000]
    """
    sizes = [greatest]
    while sizes[0] > SMALLEST:
        sizes.insert(0, sizes[0] // 10)
    return sizes


def _compare(
    report: harness.Report,
    options: argparse.Namespace,
    size: int,
    ours: ToprungBoard,
    table: postgres.PostgresTable,
) -> None:
    names: list[Any] = library.names(size, peers.CALLS, harness.SEED)
    questions = {"standing": names, "top": [TOP] * 1_000, "around": names, "submit": names}
    with redis_zset.opened(size, ladders=1) as redis:
        boards: dict[str, peers.Peer] = {"toprung": ours, "Redis": redis, "PostgreSQL": table}
        for question, asked in questions.items():
            if question == "submit":
                del boards["PostgreSQL"]
            medians = peers.compare(options, boards, question, asked)
            p50 = {name: latency.p50 for name, latency in medians.items()}
            report.add_medians(f"{question}, {size} players", p50)


@contextmanager
def _ours(size: int) -> Iterator[ToprungBoard]:
    """A filled board in memory."""
    with toprung.open("memory:") as boards:
        board = boards.create("board", policy="sum", windows=["all-time"])
        library.load(board, size)
        yield ToprungBoard(boards, board)


if __name__ == "__main__":
    harness.main(run)
