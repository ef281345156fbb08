"""Closing comes to an end, whatever hangs, and whoever waits for something is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

import toprung
from tests.cluster.proxy import CuttingProxy
from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.commands import Submit
from toprung.domain.commands.submit import Receipts
from toprung.domain.submission import Submission
from toprung.errors import Closed, Unavailable
from toprung.journals import postgres as journal
from toprung.profiles.embedded import SystemClock
from toprung.profiles.portal import Portal
from toprung.testing.contracts.workbench import Opened
from toprung.testing.servers import PostgresServer, RedisServer
from toprung.waiting.blocking import run_blocking

HANG_SECONDS = 60.0


async def submission(opened: Opened, player: str) -> Submit:
    board = await opened.journal.board("blitz")
    return Submit(board.id, board.generation, [Submission(player, 1, SystemClock().now())])


def test_redis_hangs(postgres: PostgresServer) -> None:
    redis = RedisServer()

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis.url).open(SystemClock())
        await opened.boards.create("blitz")
        command = await submission(opened, "ann")
        redis.pause()
        waiting = asyncio.create_task(opened.journal.record(command))
        await asyncio.sleep(0)  # it is accepted
        async with asyncio.timeout(HANG_SECONDS):
            await opened.boards.close()
            receipts = await waiting
        assert isinstance(receipts, Receipts)
        assert receipts.accepted == 1

    try:
        asyncio.run(main())
    finally:
        redis.resume()
        redis.close()


def test_postgres_hangs(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "CLOSE_SECONDS", 0.3)

    async def main() -> None:
        proxy = CuttingProxy(postgres.port)
        await proxy.start()
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        await workbench.make()
        through = postgres.url.replace(str(postgres.port), str(proxy.port))
        workbench.settings = msgspec.structs.replace(workbench.settings, journal_url=through)
        opened = await workbench.open(SystemClock())
        await opened.boards.create("blitz")
        command = await submission(opened, "ann")
        proxy.passing.clear()
        waiting = [asyncio.create_task(opened.journal.record(command)) for _ in range(3)]
        await asyncio.sleep(0)
        async with asyncio.timeout(HANG_SECONDS):
            await opened.boards.close()
            for each in waiting:
                with pytest.raises(Unavailable):
                    await each
        await proxy.close()

    asyncio.run(main())


def test_blocking_facade_closed_twice(cluster_file: Path) -> None:
    boards = toprung.open(str(cluster_file))
    blitz = boards.create("blitz")
    boards.close()
    boards.close()
    with pytest.raises(Closed):
        blitz.top(1)
    with pytest.raises(Closed):
        blitz.submit("ann", 1)


def test_a_stopped_portal_leaves_nobody_waiting() -> None:
    portal = Portal()
    begun = portal.begin(asyncio.sleep(0, "done"))
    endless = portal.begin(asyncio.sleep(3600))

    async def result() -> str:
        return await begun

    async def never() -> None:
        await endless

    assert run_blocking(result()) == "done"
    last = [portal.begin(asyncio.sleep(3600)) for _ in range(100)]
    portal.stop()
    portal.stop()
    for each in (endless, *last):
        assert each.done()
        with pytest.raises(Closed):
            each.result()
    with pytest.raises(Closed):
        run_blocking(never())
    with pytest.raises(Closed):
        portal.begin(asyncio.sleep(0))
