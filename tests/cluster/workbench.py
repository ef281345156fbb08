"""Where suites open the cluster profile: a schema and a key prefix of its own on shared servers."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import asyncpg
import msgspec

from toprung.config import ClusterSettings
from toprung.domain.ladder import Ladder
from toprung.domain.quotas import CLUSTER_QUOTAS
from toprung.indexes.redis import ladder_name, shard_key
from toprung.journals.postgres import PostgresJournal
from toprung.journals.postgres_queue import COMMIT_ROWS_MAX, QUEUE_ROWS_MAX
from toprung.ports import Clock
from toprung.profiles.cluster import ClusterProfile
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Opened, Workbench

_numbers = itertools.count(1)


async def keep_house(profile: ClusterProfile) -> None:
    """What a process does for itself now and then, and the jobs that look after the truth."""
    await profile.outbox.tell()
    for name in ("outbox", "deleted-boards", "keys", "ladders", "partitions"):
        await run_job(profile, name)


async def run_job(profile: ClusterProfile, name: str) -> str:
    """Do a job in this process, which has the lease for as long as that takes."""
    (job,) = [job for job in profile.jobs if job.name == name]
    lease = await profile.leases.take("jobs")
    assert lease is not None, "another process has it"
    try:
        return await job.run(lease, profile.time.moment().expected)
    finally:
        await profile.leases.release(lease)


class ClusterWorkbench:
    """The cluster profile on servers that other workbenches may use, too."""

    def __init__(
        self,
        journal_url: str,
        index_url: str,
        run_secrets: str | None = None,
        name_words: str | None = None,
    ) -> None:
        name = f"w{os.getpid()}_{next(_numbers)}"
        self.settings = ClusterSettings(
            journal_url=journal_url,
            index_url=index_url,
            schema=name,
            prefix=f"{name}:",
            run_secrets=run_secrets,
            name_words=name_words,
        )
        self.quotas: Mapping[str, int] = {}
        self.archive: str | None = None
        self._is_made = False

    async def open(self, clock: Clock) -> Opened:
        await self.make()
        settings = msgspec.structs.replace(self.settings, archive_url=self.archive)
        profile = await ClusterProfile.open(settings, clock, CLUSTER_QUOTAS.changed(self.quotas))
        boards = Leaderboards(profile.parts)
        return Opened(boards, profile.journal, profile.index, profile)

    async def make(self) -> None:
        """Make the schema, unless that is done."""
        if not self._is_made:
            await self._execute(f"CREATE SCHEMA {self.settings.schema}")
            self._is_made = True

    @contextmanager
    def stalled(self, opened: Opened) -> Iterator[None]:
        """The writer takes turns; here it does not get one."""
        assert isinstance(opened.journal, PostgresJournal)
        taking = opened.journal.taking
        assert not taking.locked()
        taking._locked = True  # type: ignore[attr-defined]
        try:
            yield
        finally:
            taking.release()

    def queue_full_after(self) -> int:
        return QUEUE_ROWS_MAX + COMMIT_ROWS_MAX

    async def plant(self, opened: Opened, ladder: Ladder, player: str) -> None:
        assert isinstance(opened.maintenance, ClusterProfile)
        board = await opened.journal.board(ladder.board)
        place = await opened.index.place(ladder, player)
        assert place is not None
        base = shard_key(self.settings.prefix, board.generation).removesuffix("epoch")
        member = place.record[: 8 * board.shape.order] + player.encode()
        client = opened.maintenance.client.client
        assert await client.zrem(f"{base}z:{ladder_name(ladder)}", member) == 1

    async def pass_hours(self, opened: Opened, clock: FrozenClock, count: int) -> None:
        assert isinstance(opened.maintenance, ClusterProfile)
        for _ in range(count):
            await self.pass_on_server("1 hour")
            clock.advance(hours=1)
            await keep_house(opened.maintenance)

    async def pass_on_server(self, span: str) -> None:
        """Move what the server knows of the past away from its present."""
        schema = self.settings.schema
        for table, moment in (("hours", "began_at"), ("clocks", "told_at")):
            await self._execute(
                f"UPDATE {schema}.{table} SET {moment} = {moment} - interval '{span}'"
            )

    async def destroy(self) -> None:
        if self._is_made:
            await self._execute(f"DROP SCHEMA {self.settings.schema} CASCADE")

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self.settings.journal_url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


_: type[Workbench] = ClusterWorkbench
