"""PostgreSQL as a table of scores with an index: the naive relational design, by asyncpg."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any

import asyncpg

from benchmarks import harness
from toprung.testing.servers import PostgresServer

TABLE = """
DROP TABLE IF EXISTS scores, friendships;
CREATE TABLE scores (player text NOT NULL, score bigint NOT NULL, at bigint NOT NULL);
CREATE TABLE friendships (player text, friend text, PRIMARY KEY (player, friend));
"""
INDEXES = """
ALTER TABLE scores ADD PRIMARY KEY (player);
CREATE INDEX scores_by_score ON scores (score DESC, at, player);
"""
OPTIONS = (
    "-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB", "-c", "maintenance_work_mem=512MB",
    "-c", "wal_level=minimal", "-c", "max_wal_senders=0",  # a new table's first rows need no log
)  # fmt: skip

QUESTIONS = {
    "window_rank": "SELECT rank FROM (SELECT player, rank() OVER (ORDER BY score DESC) FROM scores)"
    " AS ranked WHERE player = $1",
    "standing": "SELECT (SELECT count(*) + 1 FROM scores WHERE score > own.score), score,"
    " (SELECT count(*) FROM scores) FROM scores AS own WHERE player = $1",
    "top": "SELECT player, score FROM scores ORDER BY score DESC, at, player LIMIT $1",
    "around": "SELECT player, score FROM scores ORDER BY score DESC, at, player LIMIT 11"
    " OFFSET greatest(0, (SELECT count(*) FROM scores"
    "   WHERE score > (SELECT score FROM scores WHERE player = $1)) - 5)",
    "dense_rank": "SELECT count(DISTINCT score) + 1 FROM scores"
    " WHERE score > (SELECT score FROM scores WHERE player = $1)",
    "friends": "SELECT scores.player, score FROM friendships"
    " JOIN scores ON scores.player = friendships.friend WHERE friendships.player = $1"
    " ORDER BY score DESC, at, scores.player LIMIT 20",
    "submit": "UPDATE scores SET score = score + 5 WHERE player = $1",
}


class PostgresTable:
    """One table; each question is one prepared statement, and each write its own commit."""

    def __init__(self, url: str, runner: asyncio.Runner, connection: Any) -> None:
        self.url = url
        self.runner = runner
        self.connection = connection

    def times(self, question: str, asked: Sequence[Any], seconds: float) -> list[float]:
        """Microseconds of each call, measured inside the event loop."""
        return self.runner.run(self._times(question, asked, seconds))

    async def _times(self, question: str, asked: Sequence[Any], seconds: float) -> list[float]:
        statement = await self.connection.prepare(QUESTIONS[question])
        taken: list[float] = []
        end = perf_counter_ns() + int(seconds * 1e9)
        for one in asked:
            begin = perf_counter_ns()
            await statement.fetch(one)
            now = perf_counter_ns()
            taken.append((now - begin) / 1000)
            if now > end:
                break
        return taken

    def ask(self, question: str, argument: Any) -> Any:
        """The first column of a question's first row."""
        return self.runner.run(self.connection.fetchval(QUESTIONS[question], argument))

    def befriend(self, player: str, friends: Sequence[str]) -> None:
        """Let the player have these friends."""
        rows = [(player, friend) for friend in friends]
        self.runner.run(
            self.connection.executemany("INSERT INTO friendships VALUES ($1, $2)", rows)
        )

    def chunks(self, query: str, size: int) -> Iterator[list[Any]]:
        """The rows of a query, `size` at a time."""
        runner = self.runner
        transaction = self.connection.transaction()
        runner.run(transaction.start())
        cursor = runner.run(_cursor(self.connection, query))
        while rows := runner.run(cursor.fetch(size)):
            yield rows
        runner.run(transaction.rollback())

    def bytes_per_row(self) -> float:
        """Table, indexes and all, per player."""
        size = "SELECT pg_total_relation_size('scores')::float8 / count(*) FROM scores"
        return float(self.runner.run(self.connection.fetchval(size)))


@contextmanager
def opened(size: int) -> Iterator[PostgresTable]:
    """A filled table with durable commits, on a server of its own."""
    with server() as url, table(url, size) as filled:
        yield filled


@contextmanager
def server() -> Iterator[str]:
    """The address of an empty server that ends with the block."""
    started = PostgresServer(fsync=True, options=OPTIONS)
    try:
        yield started.url
    finally:
        started.close()


@contextmanager
def table(url: str, size: int) -> Iterator[PostgresTable]:
    """A filled table in place of any that was there."""
    with asyncio.Runner() as runner:
        connection = runner.run(_filled(url, size))
        try:
            yield PostgresTable(url, runner, connection)
        finally:
            runner.run(connection.close())


async def _filled(url: str, size: int) -> Any:
    connection = await asyncpg.connect(url)
    entries = harness.filled_keys(size, harness.SEED)
    rows = ((player.decode(), score, at) for player, (score, at) in entries)
    async with connection.transaction():
        await connection.execute(TABLE)
        await connection.copy_records_to_table("scores", records=rows)
        await connection.execute(INDEXES)
    await connection.execute("VACUUM ANALYZE scores")
    return connection


async def _cursor(connection: Any, query: str) -> Any:
    return await connection.cursor(query)
