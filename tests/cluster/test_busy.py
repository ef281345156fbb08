"""A busy process is no outage: crowds wait their turn, a late answer is asked for again."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.cluster.load import holds
from tests.cluster.workbench import ClusterWorkbench
from toprung.errors import IndexUnavailable
from toprung.indexes import redis_client
from toprung.indexes.breaker import FAILURES_MAX
from toprung.indexes.redis import shard_key
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboard
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer

CROWD = 10 * redis_client.CONNECTIONS_MAX


def test_a_crowd_of_readers_waits_its_turn(postgres: PostgresServer, index_url: str) -> None:
    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, index_url).open(SystemClock())
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            await blitz.submit("ann", 1)
            found = await asyncio.gather(*(blitz.standing("ann") for _ in range(CROWD)))
            assert {standing.rank for standing in found} == {1}

    asyncio.run(main())


def test_an_answer_that_came_while_the_process_stood_still(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time-out and the answer are both there when the loop goes on; the former must not win."""
    seconds = 0.3
    monkeypatch.setattr(redis_client, "ANSWER_SECONDS_MAX", seconds)

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis_server.url).open(SystemClock())
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            await blitz.submit("ann", 1)
            reading = asyncio.create_task(blitz.standing("ann"))
            for _ in range(3):
                await asyncio.sleep(0)  # it is sent
            time.sleep(1.5 * seconds)  # noqa: ASYNC251 -- the stall itself
            assert (await reading).rank == 1

    asyncio.run(main())


def test_an_outage_is_told_at_once_and_its_end_is_noticed(postgres: PostgresServer) -> None:
    redis = RedisServer()

    async def is_over(profile: ClusterProfile) -> bool:
        return not profile.client.breaker("").is_open

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis.url).open(SystemClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            await profile.catch_up.close()  # nobody but the client itself looks after the server
            redis.kill()
            while not profile.client.breaker("").is_open:
                with pytest.raises(IndexUnavailable):
                    await blitz.top(1)
            with pytest.raises(IndexUnavailable, match="at the moment"):
                await blitz.top(1)
            redis.start()
            await holds(lambda: is_over(profile), "end of the outage")

    try:
        asyncio.run(main())
    finally:
        redis.close()


def test_one_node_away_is_no_outage_of_the_others(postgres: PostgresServer) -> None:
    servers = RedisClusterServers(node_timeout_ms=60_000)  # nobody takes over during the test

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, servers.url).open(SystemClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)

        async def node_of(board_id: str) -> int:
            board = await opened.journal.board(board_id)
            key = shard_key(profile.shards._prefix, board.generation)
            return int(profile.client.client.get_node_from_key(key).port)

        async with opened.boards as boards:
            nodes: dict[int, Leaderboard] = {}
            for number in range(50):
                board = await boards.create(f"board-{number}")
                await board.submit("ann", 1)
                nodes.setdefault(await node_of(board.id), board)
                if len(nodes) == 2:
                    break
            (port, ill), (_, well) = nodes.items()
            node = next(node for node in servers.nodes if node.port == port)
            node.pause()
            try:
                for _ in range(FAILURES_MAX):
                    with pytest.raises(IndexUnavailable):
                        await ill.top(1)
                with pytest.raises(IndexUnavailable, match="at the moment"):
                    await ill.top(1)
                assert (await well.submit("bob", 2)).standings["all-time"].rank == 1
                assert (await ill.submit("bob", 2)).stale
            finally:
                node.resume()

    try:
        asyncio.run(main())
    finally:
        servers.close()
