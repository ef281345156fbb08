"""How many submissions a second become durable, in batches of 1,000 on four windows?

Policy sum, synchronous=FULL: each batch is on disk when the call returns. Against redis-py in
one pipelined MULTI of four ZINCRBY per submission, also 1,000 submissions at a time: nothing of
that is on disk.
"""

from __future__ import annotations

import argparse

import redis

from benchmarks import harness, library, servers
from toprung.blocking import Leaderboard

BATCH = 1_000
BATCHES = 30
AMOUNT = 5


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("submit_batches")
    with servers.redis_server() as client:
        harness.print_header(
            "Durable submissions, policy sum, four windows, batches of 1,000",
            players=options.size,
            redis=servers.describe(client),
        )
        keys = library.ladder_keys(client, options.size)
        names = library.names(options.size, BATCH * BATCHES, harness.SEED)
        batches = [names[at : at + BATCH] for at in range(0, len(names), BATCH)]
        with library.database(options.size, "sum") as (_, _, board):
            medians = harness.interleave(
                options.rounds,
                {
                    "toprung": lambda: _submit(board, batches),
                    "redis-py MULTI": lambda: _increment(client, keys, batches),
                },
            )
    for name, rate in medians.items():
        report.add_figure(f"submissions, {name}", rate, "per s")
    report.add_bar("submit-batches", medians["toprung"] / medians["redis-py MULTI"])
    return report


def _submit(board: Leaderboard, batches: list[list[str]]) -> float:
    def work() -> None:
        for batch in batches:
            board.submit_many([(player, AMOUNT) for player in batch])

    return BATCH * len(batches) / harness.timed(work)


def _increment(client: redis.Redis, keys: list[str], batches: list[list[str]]) -> float:
    def work() -> None:
        for batch in batches:
            pipeline = client.pipeline(transaction=True)
            for player in batch:
                for key in keys:
                    pipeline.zincrby(key, AMOUNT, player)
            pipeline.execute()

    return BATCH * len(batches) / harness.timed(work)


if __name__ == "__main__":
    harness.main(run)
