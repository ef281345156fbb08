"""What the cluster's benchmarks share: private servers and one open process on them.

PostgreSQL runs with settings that any deployment of this size has (`POSTGRES`), and so does the
peer that is measured on the same server: commits wait for the disk, autovacuum is on, and memory
and write-ahead log are not those of a laptop. Redis logs its scripts (`script_log`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

import asyncpg

from benchmarks import cluster_fill, harness
from benchmarks.script_log import OPTIONS, ScriptLog
from toprung.config import ClusterSettings
from toprung.domain.board import Board
from toprung.domain.commands import Submit
from toprung.domain.submission import Submission
from toprung.ports import Clock
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer

BATCH = 500
LARGE = 10_000_000
WAITED_MAX = 100
"""Per cent of its running time that Redis may wait for a processor."""

POSTGRES = (
    "-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB", "-c", "checkpoint_timeout=15min",
    "-c", "autovacuum=on",
)  # fmt: skip
ONE, THREE = "one Redis", "Cluster of three"

_seeds = count(harness.SEED)
"""Of processes: what one submits would change nothing when another submits it again."""


class OpenCluster(NamedTuple):
    """A process of a cluster that nobody else uses."""

    runner: asyncio.Runner
    profile: ClusterProfile
    postgres: PostgresServer
    nodes: Sequence[RedisServer]
    log: ScriptLog
    rng: random.Random

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do asynchronous work."""
        return self.runner.run(work)

    @property
    def client(self) -> Any:
        """The bare client of Redis."""
        return self.profile.client.client

    def create(self, board_id: str, **rules: Any) -> tuple[Board, Leaderboard]:
        """A board; with the four default windows, unless rules say others."""
        profile = self.profile
        boards = Leaderboards(profile.parts)
        leaderboard = self.run(boards.create(board_id, **rules))
        return self.run(profile.journal.board(board_id)), leaderboard

    def batch(self, players: int, least: int = 0) -> list[Submission]:
        """Results of random players, achieved now."""
        now = self.profile.clock.now()
        pick = self.rng.randrange
        return [
            Submission(
                harness.player_id(pick(players)).decode(), least + pick(harness.SCORE_MAX), now
            )
            for _ in range(BATCH)
        ]

    def fill(self, board: Board, players: int, *, is_named: bool = False) -> None:
        """Every player has submitted once."""

        async def load() -> None:
            connection = await asyncpg.connect(self.postgres.url)
            try:
                await cluster_fill.fill(self.profile, connection, board, players, is_named=is_named)
            finally:
                await connection.close()

        self.run(load())
        self.empty_index()
        self.await_index(board)

    def empty_index(self) -> None:
        """Lose everything that Redis has."""
        for node in self.nodes:
            node.ask("FLUSHALL")

    def await_index(self, board: Board) -> None:
        """Have the board rebuilt, if it is not complete, by this process or by its own worker."""

        async def complete() -> None:
            while not await self.profile.rebuilder.rebuild(board):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        self.run(complete())


async def record(profile: ClusterProfile, board: Board, rows: list[Submission]) -> None:
    """One batch: durable and in the index when this returns."""
    await profile.journal.record(
        Submit(board.id, board.generation, rows, "benchmark", receipts=False)
    )


@contextmanager
def truth() -> Iterator[PostgresServer]:
    """A PostgreSQL with durable commits; it ends with the block."""
    postgres = PostgresServer(fsync=True, options=POSTGRES)
    try:
        yield postgres
    finally:
        postgres.close()


@contextmanager
def index(kind: str = ONE) -> Iterator[tuple[str, Sequence[RedisServer]]]:
    """The address of one Redis or of a Cluster without replicas, and its servers."""
    if kind == ONE:
        server = RedisServer(*OPTIONS)
        url, nodes, close = server.url, [server], server.close
    else:
        servers = RedisClusterServers(2000, *OPTIONS, has_replicas=False)
        url, nodes, close = servers.url, servers.nodes, servers.close
    try:
        yield url, nodes
    finally:
        close()


@contextmanager
def process(
    postgres: PostgresServer,
    index_url: str,
    nodes: Sequence[RedisServer],
    clock: Clock | None = None,
    archive_url: str | None = None,
) -> Iterator[OpenCluster]:
    """A process on servers that are there."""
    settings = ClusterSettings(
        journal_url=postgres.url, index_url=index_url, archive_url=archive_url
    )
    with asyncio.Runner() as runner:
        profile = runner.run(ClusterProfile.open(settings, clock or SystemClock()))
        rng = random.Random(next(_seeds))
        try:
            yield OpenCluster(runner, profile, postgres, nodes, ScriptLog(nodes), rng)
        finally:
            runner.run(profile.close())


@contextmanager
def opened(
    report: harness.Report | None = None, kind: str = ONE, *, size: int = 0
) -> Iterator[OpenCluster]:
    """Servers and a process; all end with the block. A report is told the longest script."""
    with truth() as postgres, index(kind) as (url, nodes), process(postgres, url, nodes) as opened:
        yield opened
        if report is not None:
            add_longest_script(report, opened.log, kind, size)


def add_longest_script(
    report: harness.Report, log: ScriptLog, kind: str = ONE, size: int = 0
) -> None:
    """Report the longest run of a script since the log was opened, and what few exceed.

    Both count the time in which Redis waits for a processor, so that is reported as well. Where it
    waits longer than it runs, the machine is busy with something else: no figure for the bar.
    """
    log.take()
    report.add_figure("one script of a thousand takes longer than", log.usual_ms(), "ms", kind)
    waited = 100 * log.waited_share()
    report.add_figure("Redis waits for a processor, of its running time", waited, "%", kind)
    name = f"longest script ({log.longest_name})"
    report.add_figure(name, log.longest_ms, "ms", kind)
    if waited >= WAITED_MAX:
        print("  Redis waited for a processor longer than it ran: no figure for the bar")
        return
    bar_id = "cluster-longest-script" + ("-10M" if size >= LARGE else "")
    report.add_bar(bar_id, max(log.longest_ms, report.bars.get(bar_id, 0.0)))
