"""How long does a player's standing take through the synchronous library?

Rank, score, total, percentile and the time it was achieved, for random players, one call at a
time. Against redis-py's ZREVRANK + ZSCORE + ZCARD in one pipeline over loopback TCP.
"""

from __future__ import annotations

import argparse

import redis

from benchmarks import harness, library, servers

CALLS = 10_000
ROUND_TRIPS = 1_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("standing")
    with servers.redis_server() as client:
        harness.print_header(
            "One standing through the synchronous library",
            players=options.size,
            redis=servers.describe(client),
        )
        library.add_scores(client, "board", options.size)
        some = library.names(options.size, CALLS, harness.SEED)
        with library.database(options.size, "best") as (_, _, board):
            medians = harness.interleave(
                options.rounds,
                {
                    "toprung": lambda: harness.each(board.standing, some),
                    "redis-py pipeline": lambda: harness.each(
                        lambda player: _standing(client, player), some[:ROUND_TRIPS]
                    ),
                },
            )
    for name, median in medians.items():
        report.add_figure(f"standing, {name}", median)
    report.add_bar("standing", medians["redis-py pipeline"] / medians["toprung"])
    return report


def _standing(client: redis.Redis, player: str) -> object:
    pipeline = client.pipeline(transaction=False)
    pipeline.zrevrank("board", player)
    pipeline.zscore("board", player)
    pipeline.zcard("board")
    return pipeline.execute()


if __name__ == "__main__":
    harness.main(run)
