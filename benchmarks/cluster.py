"""What the cluster's benchmarks share: private servers and one open process on them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from benchmarks import harness
from toprung.config import ClusterSettings
from toprung.domain.board import Board
from toprung.domain.commands import Submit
from toprung.domain.submission import Submission
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.servers import PostgresServer, RedisServer

BATCH = 500


class OpenCluster(NamedTuple):
    """A process of a cluster that nobody else uses."""

    runner: asyncio.Runner
    profile: ClusterProfile
    postgres: PostgresServer
    redis: RedisServer
    rng: random.Random

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do asynchronous work."""
        return self.runner.run(work)

    @property
    def client(self) -> Any:
        """The bare client of Redis."""
        return self.profile.client.client

    def create(self, board_id: str) -> tuple[Board, Leaderboard]:
        """A board with the four default windows."""
        profile = self.profile
        boards = Leaderboards(profile.parts)
        leaderboard = self.run(boards.create(board_id))
        return self.run(profile.journal.board(board_id)), leaderboard

    def batch(self, players: int) -> list[Submission]:
        """Results of random players, achieved now."""
        now = self.profile.clock.now()
        pick = self.rng.randrange
        return [
            Submission(harness.player_id(pick(players)).decode(), pick(harness.SCORE_MAX), now)
            for _ in range(BATCH)
        ]

    def fill(self, board: Board, players: int) -> None:
        """Every player submits once."""
        now, pick = self.profile.clock.now(), self.rng.randrange
        for start in range(0, players, BATCH):
            rows = [
                Submission(harness.player_id(n).decode(), pick(harness.SCORE_MAX), now)
                for n in range(start, min(start + BATCH, players))
            ]
            self.run(record(self.profile, board, rows))


async def record(profile: ClusterProfile, board: Board, rows: list[Submission]) -> None:
    """One batch: durable and in the index when this returns."""
    await profile.journal.record(
        Submit(board.id, board.generation, rows, "benchmark", receipts=False)
    )


@contextmanager
def opened() -> Iterator[OpenCluster]:
    """Servers with durable commits, and a process; all end with the block."""
    postgres, redis = PostgresServer(fsync=True), RedisServer()
    settings = ClusterSettings(journal_url=postgres.url, index_url=redis.url)
    try:
        with asyncio.Runner() as runner:
            profile = runner.run(ClusterProfile.open(settings, SystemClock()))
            try:
                yield OpenCluster(runner, profile, postgres, redis, random.Random(harness.SEED))
            finally:
                runner.run(profile.close())
    finally:
        postgres.close()
        redis.close()
