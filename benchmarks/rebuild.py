"""How long until every rank is right again after the index is lost?

Ours derives all four ladders of every player from the journal. Against the common recipe: every
score is read from PostgreSQL and put into four empty ZSETs, 1,000 at a time in a pipeline.
"""

from __future__ import annotations

import argparse

import redis

from benchmarks import harness, library, servers
from benchmarks.peers import postgres

CHUNK = 1_000
LADDERS = 4


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("rebuild")
    harness.print_header("Rebuild of four ladders", players=options.size)
    with (
        library.database(options.size, "sum") as (_, boards, board),
        postgres.opened(options.size) as table,
        servers.redis_server() as client,
    ):
        medians = harness.interleave(
            options.rounds,
            {
                "toprung": lambda: options.size / harness.timed(boards.rebuild),
                "PostgreSQL to Redis": lambda: (
                    options.size / harness.timed(lambda: _warm(table, client))
                ),
            },
            is_warm=True,  # just filled, and a turn takes long
        )
        assert board.total() == client.zcard("warm:0") == options.size
    report.add_medians("players rebuilt", medians, "per s")
    return report


def _warm(table: postgres.PostgresTable, client: redis.Redis) -> None:
    client.flushall()
    for rows in table.chunks("SELECT player, score FROM scores", CHUNK):
        pipeline = client.pipeline(transaction=False)
        for ladder in range(LADDERS):
            pipeline.zadd(f"warm:{ladder}", dict(rows))
        pipeline.execute()


if __name__ == "__main__":
    harness.main(run)
