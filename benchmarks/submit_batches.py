"""How many durable submissions per second, in batches of 1,000 on 1, 4 and 8 ladders?

Policy sum, synchronous=FULL: each batch is on disk when the call returns. Against redis-py in
one pipelined MULTI of a ZINCRBY per ladder and submission, also 1,000 submissions at a time:
nothing of that is on disk. Ceilings beside them: bare variadic ZADD of the same players, pipelined
without a transaction, and bare SQLite commits of 1,000 rows. The bar is for four ladders.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import redis

from benchmarks import bare, harness, library, servers
from toprung.blocking import Leaderboard

BATCH = 1_000
BATCHES = 12
AMOUNT = 5


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_batches")
    names = library.names(options.size, min(BATCH * BATCHES, options.size), harness.SEED)
    batches = [names[at : at + BATCH] for at in range(0, len(names), BATCH)]
    for ladders in library.LADDERS:
        medians = _measure(options, ladders, batches)
        report.add_medians(f"submissions, ladders: {ladders}", medians, "per s")
        if ladders == 4:
            report.add_bar("submit-batches", medians["toprung"] / medians["redis-py MULTI"])
    return report


def _measure(
    options: argparse.Namespace, ladders: int, batches: list[list[str]]
) -> dict[str, float]:
    with (
        library.redis_ladders(options.size, ladders) as (client, keys),
        library.database(options.size, "sum", ladders) as (_, _, board),
        tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder,
        bare.sqlite(Path(folder)) as rows,
    ):
        harness.print_header(
            f"Durable submissions, policy sum, batches of 1,000, ladders: {ladders}",
            players=options.size,
            redis=servers.describe(client),
        )
        contestants: dict[str, Callable[[list[str]], object]] = {
            "toprung": lambda batch: _submit(board, batch),
            "redis-py MULTI": lambda batch: _increment(client, keys, batch),
            "bare ZADD": lambda batch: _add(client, keys, batch),
            "bare SQLite commits": lambda batch: rows.commit(len(batch)),
        }
        return harness.interleave(
            options.rounds,
            {name: _rate(submit, batches) for name, submit in contestants.items()},
        )


def _rate(submit: Callable[[list[str]], object], batches: list[list[str]]) -> Callable[[], float]:
    """Submissions per second of all batches."""

    def work() -> None:
        for batch in batches:
            submit(batch)

    return lambda: BATCH * len(batches) / harness.timed(work)


def _submit(board: Leaderboard, batch: list[str]) -> None:
    board.submit_many([(player, AMOUNT) for player in batch])


def _increment(client: redis.Redis, keys: list[str], batch: list[str]) -> None:
    pipeline = client.pipeline(transaction=True)
    for player in batch:
        for key in keys:
            pipeline.zincrby(key, AMOUNT, player)
    pipeline.execute()


def _add(client: redis.Redis, keys: list[str], batch: list[str]) -> None:
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        pipeline.zadd(f"bare:{key}", dict.fromkeys(batch, AMOUNT))
    pipeline.execute()


if __name__ == "__main__":
    harness.main(run)
