"""Whatever fails, with load running: nothing acknowledged is lost, and the index catches up."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from tests.cluster.load import Load, check_nothing_lost
from tests.cluster.proxy import CuttingProxy
from tests.cluster.workbench import ClusterWorkbench
from toprung.errors import Unavailable
from toprung.indexes.redis import shard_key
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboards
from toprung.testing.contracts.workbench import Opened
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer

AWAY_SECONDS = 30.0 if os.environ.get("TOPRUNG_SOAK") else 5.0
KILLS = 20


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


@asynccontextmanager
async def loaded(workbench: ClusterWorkbench) -> AsyncIterator[tuple[Opened, Load]]:
    """An open cluster under load; at the end it is held against the truth."""
    opened = await workbench.open(SystemClock())
    try:
        load = Load(await opened.boards.create("sum", policy="sum"))
        await load.acks(20)
        yield opened, load
        await load.stop()
        await check_nothing_lost(opened.boards, load)
    finally:
        await opened.boards.close()


async def owner_of(opened: Opened, servers: RedisClusterServers) -> tuple[RedisServer, str]:
    """The node that the board is on, and a key of the board."""
    assert isinstance(opened.maintenance, ClusterProfile)
    board = await opened.journal.board("sum")
    key = shard_key(opened.maintenance.shards._prefix, board.generation)
    found = opened.maintenance.client.client.get_node_from_key(key)
    return next(node for node in servers.nodes if node.port == found.port), key


def test_redis_flushed(postgres: PostgresServer, own_redis: RedisServer) -> None:
    async def main() -> None:
        async with loaded(ClusterWorkbench(postgres.url, own_redis.url)) as (_, load):
            for _ in range(3):
                own_redis.ask("FLUSHALL")
                await load.acks(20)
                await load.fresh_acks(20)

    asyncio.run(main())


def test_redis_restarted_empty(postgres: PostgresServer, own_redis: RedisServer) -> None:
    async def main() -> None:
        async with loaded(ClusterWorkbench(postgres.url, own_redis.url)) as (_, load):
            own_redis.kill()
            await load.acks(20)
            assert load.stale
            own_redis.start()
            await load.fresh_acks(20)

    asyncio.run(main())


def test_redis_unreachable(postgres: PostgresServer, own_redis: RedisServer) -> None:
    async def main() -> None:
        async with loaded(ClusterWorkbench(postgres.url, own_redis.url)) as (opened, load):
            own_redis.pause()
            begin = time.monotonic()
            await load.acks(5)
            while time.monotonic() - begin < AWAY_SECONDS:
                await load.acks(5)
                with pytest.raises(Unavailable):
                    await load.board.top(1)
            await load.acks(300)  # would take minutes if each waited for what is known to be away
            assert load.stale > 300
            assert not load.unknown, "no submission fails because the index is away"
            own_redis.resume()
            await load.fresh_acks(20)
            assert isinstance(opened.maintenance, ClusterProfile)
            async with asyncio.timeout(AWAY_SECONDS + 30):  # what was away may be rebuilt
                while any(check.fault for check in await opened.maintenance.health()):
                    await load.fresh_acks(1)

    asyncio.run(main())


def test_cluster_primary_killed(postgres: PostgresServer) -> None:
    servers = RedisClusterServers(node_timeout_ms=1000)

    async def main() -> None:
        async with loaded(ClusterWorkbench(postgres.url, servers.url)) as (opened, load):
            owner, key = await owner_of(opened, servers)
            assert isinstance(opened.maintenance, ClusterProfile)
            client = opened.maintenance.client.client
            owner.kill()
            await load.acks(20)
            await load.fresh_acks(20)
            assert client.get_node_from_key(key).port != owner.port, "a replica has taken over"

    try:
        asyncio.run(main())
    finally:
        servers.close()


def test_flushed_node_of_a_cluster(
    postgres: PostgresServer, redis_cluster: RedisClusterServers
) -> None:
    async def main() -> None:
        async with loaded(ClusterWorkbench(postgres.url, redis_cluster.url)) as (opened, load):
            owner, _ = await owner_of(opened, redis_cluster)
            for _ in range(3):
                assert owner.ask("FLUSHALL") == "OK"
                await load.acks(20)
                await load.fresh_acks(20)

    asyncio.run(main())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_postgres_restarted(redis_server: RedisServer, how: signal.Signals) -> None:
    server = PostgresServer(fsync=True)

    async def main() -> None:
        async with loaded(ClusterWorkbench(server.url, redis_server.url)) as (_, load):
            for _ in range(2):
                await asyncio.to_thread(server.stop, how)
                await asyncio.sleep(0.3)
                await asyncio.to_thread(server.start)
                await load.acks(20)

    try:
        asyncio.run(main())
    finally:
        server.close()


def test_connection_reset_after_commit(postgres: PostgresServer, redis_server: RedisServer) -> None:
    async def main() -> None:
        proxy = CuttingProxy(postgres.port)
        await proxy.start()
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        await workbench.make()
        through = postgres.url.replace(str(postgres.port), str(proxy.port))
        workbench.settings = msgspec.structs.replace(workbench.settings, journal_url=through)
        try:
            async with loaded(workbench) as (_, load):
                for cut in range(1, 11):
                    proxy.armed = True
                    while proxy.cuts < cut:
                        await load.acks(1)
                    await load.acks(5)
                assert not load.unknown, "every lost answer was settled"
        finally:
            await proxy.close()

    asyncio.run(main())


def test_processes_come_and_go(postgres: PostgresServer, redis_server: RedisServer) -> None:
    async def main() -> None:
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        async with loaded(workbench) as (_, load):
            for number in range(8):
                profile = await ClusterProfile.open(workbench.settings, SystemClock())
                boards = Leaderboards(profile.parts)
                other = Load(await boards.board("sum"), players=2)
                await other.acks(5 + number)
                await other.stop()
                await boards.close()
                load.acknowledged.update(other.acknowledged)

    asyncio.run(main())


def test_killed_between_commit_and_apply(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        opened = await workbench.open(SystemClock())
        board = await opened.boards.create("sum", policy="sum")
        settings = workbench.settings
        arguments = [settings.journal_url, settings.index_url, settings.schema, settings.prefix]
        script = str(Path(__file__).with_name("submitter.py"))
        told: Counter[str] = Counter()

        async def kill(*acks: str) -> None:
            process = await asyncio.create_subprocess_exec(
                sys.executable, script, *map(str, arguments), *acks, stdout=subprocess.PIPE
            )
            output, _ = await process.communicate()
            assert process.returncode == 0
            told.update(output.decode().split())

        load = Load(board, players=3, name="living")
        for _ in range(KILLS // 4):
            await kill("0", "1", "3", "6")
            await load.acks(1)
        await load.stop()
        living = load.acknowledged.total()
        assert not load.unknown
        load.acknowledged += told
        load.unknown = Counter({f"p{n}": KILLS for n in range(5)})  # committed, never answered
        await check_nothing_lost(opened.boards, load)
        total = sum(standing.score for standing in await board.top(10))
        assert total == living + told.total() + KILLS, "each was killed after one more commit"
        await opened.boards.close()

    asyncio.run(main())
