"""How many durable submissions per second, with four windows, in batches of 500?

Ours are deduplicated, locked, decided, written to PostgreSQL and applied to Redis; two batches are
under way at a time, as in `submit_many`. Against bare `unnest` inserts of the same events into the
same PostgreSQL, one commit per batch.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

import asyncpg

from benchmarks import cluster, harness
from toprung.domain.submission import Submission

BATCHES = 40
IN_FLIGHT = 2
BARE_TABLE = """
CREATE TABLE bare (
    position bigint PRIMARY KEY, recorded_at bigint, generation bigint, player bigint, at bigint,
    score bigint, subscore bigint, route integer, status smallint
)
"""
BARE_INSERT = """
INSERT INTO bare SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
    $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[], $9::smallint[])
"""


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_submit")
    with cluster.opened() as opened:
        harness.print_header("Durable submissions to a cluster", players=options.size)
        board, _ = opened.create("blitz")
        opened.fill(board, options.size)
        connection = opened.run(_connect(opened.postgres.url))
        opened.run(connection.execute(BARE_TABLE))
        position = 0

        async def ours(batches: list[list[Submission]]) -> None:
            async def submitter() -> None:
                while batches:
                    await cluster.record(opened.profile, board, batches.pop())

            await asyncio.gather(*(submitter() for _ in range(IN_FLIGHT)))

        async def bare(batches: list[list[Submission]]) -> None:
            nonlocal position
            for rows in batches:
                count = len(rows)
                await connection.execute(
                    BARE_INSERT,
                    list(range(position, position + count)),
                    [rows[0].at] * count,
                    [board.generation] * count,
                    [int(row.player) for row in rows],
                    [row.at for row in rows],
                    [row.score for row in rows],
                    [None] * count,
                    [1] * count,
                    [1] * count,
                )
                position += count

        def rate(work: object) -> float:
            assert callable(work)
            batches = [opened.batch(options.size) for _ in range(BATCHES)]
            rows = BATCHES * cluster.BATCH
            return rows / harness.timed(lambda: opened.run(work(batches)))

        medians = harness.interleave(
            options.rounds,
            {"toprung": lambda: rate(ours), "bare unnest inserts": lambda: rate(bare)},
        )
        opened.run(connection.close())
    report.add_medians("submissions per second", medians, "/s")
    report.add_bar("cluster-submit", medians["toprung"] / medians["bare unnest inserts"])
    return report


async def _connect(url: str) -> Any:
    return await asyncpg.connect(url)


if __name__ == "__main__":
    harness.main(run, size=20_000)
