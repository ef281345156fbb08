"""How many durable submissions per second, with four windows, in batches of 500?

Ours are deduplicated, locked, decided, written to PostgreSQL and applied to Redis; four callers
send batches at the same time. Against bare `unnest` inserts of the same events by one caller into
the same PostgreSQL, one commit per batch. Players and scores are drawn at random: at a million
players about every second score improves on the player's best one, and changes four ladders. Then
the same is asked with scores all of which improve. Asked with one Redis, and below ten million
players with a Cluster of three as well; the bar is about random scores and one Redis.

PostgreSQL has the settings in `benchmarks.cluster`: 1 GB of shared buffers, 4 GB of write-ahead log
between checkpoints, autovacuum on. The bare inserts share them.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import asyncpg

from benchmarks import cluster, harness
from benchmarks.processor import GENERATOR, describe, during
from toprung.domain.board import Board
from toprung.domain.submission import Submission

BATCHES = harness.amount(40, smoke=8)
WAITING_MAX = 20
"""Batches that may not be in the index yet when all are recorded."""

IN_FLIGHT = 4
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
BARE = "bare unnest inserts"

_turns = count(1)

Batches = list[list[Submission]]


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_submit")
    harness.print_header("Durable submissions to a cluster", players=options.size)
    kinds = (cluster.ONE, cluster.THREE) if options.size < cluster.LARGE else (cluster.ONE,)
    with cluster.truth() as postgres:
        for kind in kinds:
            with (
                cluster.index(kind) as (url, nodes),
                cluster.process(postgres, url, nodes) as opened,
            ):
                _measure(report, options, opened, kind)
                cluster.add_longest_script(report, opened.log, kind, options.size)
    return report


def _measure(
    report: harness.Report, options: argparse.Namespace, opened: cluster.OpenCluster, kind: str
) -> None:
    """Submissions per second of both, with this kind of index; the first one fills the board."""
    if kind == cluster.ONE:
        board, _ = opened.create("blitz")
        opened.fill(board, options.size)
    else:
        board = opened.run(opened.profile.journal.board("blitz"))
        opened.await_index(board)
    bare = opened.run(_Bare.connect(opened.postgres.url, board))
    contestants = {"toprung": partial(_ours, opened, board), BARE: bare.insert}

    def rate(name: str, *, improves: bool) -> float:
        least = next(_turns) * harness.SCORE_MAX if improves else 0
        batches = [opened.batch(options.size, least) for _ in range(BATCHES)]

        async def work() -> None:
            await contestants[name](batches)

        return BATCHES * cluster.BATCH / harness.timed(lambda: opened.run(work()))

    for question, improves in (("random scores", False), ("every score improves", True)):
        turns = {name: partial(rate, name, improves=improves) for name in contestants}
        medians = harness.interleave(options.rounds, turns)
        report.add_medians(f"{question}, {kind}", medians, "/s")
        if kind == cluster.ONE and not improves:
            bar_id = "cluster-submit" + ("-10M" if options.size >= cluster.LARGE else "")
            report.add_bar(bar_id, medians["toprung"] / medians[BARE])
        _show_shares(opened, turns["toprung"])
    opened.run(bare.connection.close())


def _show_shares(opened: cluster.OpenCluster, turn: Callable[[], float]) -> None:
    """Who takes the processors in our turn, after which the index must be up to date."""
    kinds = {"PostgreSQL": [opened.postgres.pid], "Redis": [node.pid for node in opened.nodes]}
    _, taken = during(kinds, turn)
    print(f"  toprung's turn: {describe(taken).replace(GENERATOR, 'this process')}")
    waiting = opened.run(opened.profile.outbox.lag())[0]
    assert waiting < WAITING_MAX, f"{waiting} batches are not in the index"


async def _ours(opened: cluster.OpenCluster, board: Board, batches: Batches) -> None:
    async def submitter() -> None:
        while batches:
            await cluster.record(opened.profile, board, batches.pop())

    await asyncio.gather(*(submitter() for _ in range(IN_FLIGHT)))


class _Bare:
    """The peer: a table that only grows."""

    def __init__(self, connection: Any, board: Board) -> None:
        self.connection = connection
        self._board = board
        self._position = 0

    @classmethod
    async def connect(cls, url: str, board: Board) -> _Bare:
        """With an empty table."""
        connection = await asyncpg.connect(url)
        await connection.execute("DROP TABLE IF EXISTS bare")
        await connection.execute(BARE_TABLE)
        return cls(connection, board)

    async def insert(self, batches: Batches) -> None:
        """One commit per batch."""
        for rows in batches:
            count = len(rows)
            await self.connection.execute(
                BARE_INSERT,
                list(range(self._position, self._position + count)),
                [rows[0].at] * count,
                [self._board.generation] * count,
                [int(row.player) for row in rows],
                [row.at for row in rows],
                [row.score for row in rows],
                [None] * count,
                [1] * count,
                [1] * count,
            )
            self._position += count


if __name__ == "__main__":
    harness.main(run)
