"""How does each read grow from 10k to 10M players?

Standings, the first 100 and neighbours of random players through the library, on boards of one
window, against Redis and PostgreSQL at each size; a submission against Redis, on disk in neither.
The bar compares the native core's rank at 10M with that at 1M. `--size` is the last but one.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import toprung
from benchmarks import harness, library, peers
from benchmarks.peers import postgres, redis_zset
from benchmarks.peers.toprung_board import ToprungBoard
from toprung._native import RankedSet

CALLS = 50_000
FACTORS = (0.01, 0.1, 1, 10)
ROUNDS_MAX = 2  # at each size; the bar's rounds are what --rounds says
TOP = 100


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("growth")
    sizes = [int(factor * options.size) for factor in FACTORS]
    harness.print_header("Growth", players=sizes)
    rounds = argparse.Namespace(rounds=min(options.rounds, ROUNDS_MAX), seconds=options.seconds)
    with ExitStack() as stack:
        cores = {}
        url = stack.enter_context(postgres.server())
        for size in sizes:
            ours, cores[size] = stack.enter_context(_ours(size))
            with postgres.table(url, size) as table:
                _compare(report, rounds, size, ours, table)
        small, large = _core_ranks(options.rounds, {size: cores[size] for size in sizes[-2:]})
    report.add_bar("growth-rank", large / small)
    return report


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


def _core_ranks(rounds: int, cores: dict[int, RankedSet]) -> list[float]:
    """The native core's time of one rank, at each size."""
    rng = random.Random(harness.SEED)
    samples = {size: harness.sample(rng, size, CALLS) for size in cores}
    medians = harness.interleave(
        rounds,
        {str(s): partial(harness.each, core.offset, samples[s]) for s, core in cores.items()},
    )
    for size, median in medians.items():
        print(f"  rank by the native core at {size}: {median:.3f} us")
    return list(medians.values())


@contextmanager
def _ours(size: int) -> Iterator[tuple[ToprungBoard, RankedSet]]:
    """A filled board in memory, and the ranked set behind it."""
    with toprung.open("memory:") as boards:
        board = boards.create("board", policy="sum", windows=["all-time"])
        library.load(board, size)
        index: Any = boards._face_of._index
        [(_, core)] = index.sets("board")
        yield ToprungBoard(boards, board), core


if __name__ == "__main__":
    harness.main(run)
