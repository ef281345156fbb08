"""A busy process is no outage: crowds wait their turn, a late answer is asked for again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.cluster.load import holds
from tests.cluster.workbench import ClusterWorkbench
from toprung.errors import IndexUnavailable, NotRanked, Unavailable
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


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer("--busy-reply-threshold", "10", "--repl-timeout", "3600")
    yield server
    server.close()


def test_a_server_busy_with_a_script_is_away_until_it_is_done(
    postgres: PostgresServer, own_redis: RedisServer
) -> None:
    """Whoever runs it: reads say that the index is away, and nothing submitted is lost."""

    def hold() -> str:
        return own_redis.ask("EVAL", "while true do end", "0")

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, own_redis.url).open(SystemClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            await blitz.submit("ann", 1)
            holding = asyncio.create_task(asyncio.to_thread(hold))
            await holds(lambda: is_refused(own_redis, "BUSY"), "script that holds the server up")
            with pytest.raises(IndexUnavailable, match="BUSY"):
                await blitz.top(1)
            assert (await blitz.submit("bob", 2)).stale
            own_redis.ask("SCRIPT", "KILL")
            assert "killed" in await holding
            await holds(lambda: is_over(profile), "end of the outage")
            await holds(lambda: has_caught_up(blitz, "bob"), "submission in the index")

    asyncio.run(main())


REFUSALS = {
    "READONLY": ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    "OOM": ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
    "NOREPLICAS": ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_server_that_takes_no_writes_still_answers(
    postgres: PostgresServer, own_redis: RedisServer, code: str
) -> None:
    begin, end = REFUSALS[code]

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, own_redis.url).open(SystemClock())
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            await blitz.submit("ann", 1)
            assert own_redis.ask(*begin.split()) == "OK"
            for _ in range(FAILURES_MAX + 1):
                assert (await blitz.submit("bob", 2)).stale
                assert (await blitz.top(1))[0].player == "ann"
            with pytest.raises(IndexUnavailable, match=code):
                await boards.patch("blitz", scopes=["country"])
            assert own_redis.ask(*end.split()) == "OK"
            await holds(lambda: has_caught_up(blitz, "bob"), "submission in the index")

    asyncio.run(main())


AWAY = {
    "MASTERDOWN": (
        "CONFIG SET replica-serve-stale-data no|REPLICAOF 127.0.0.1 1",
        "REPLICAOF NO ONE",
    ),
    "NOPERM": ("ACL SETUSER default -evalsha -eval -exists", "ACL SETUSER default +@all"),
}


@pytest.mark.parametrize("code", AWAY)
def test_a_server_that_does_nothing_is_away(
    postgres: PostgresServer, own_redis: RedisServer, code: str
) -> None:
    begin, end = AWAY[code]

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, own_redis.url).open(SystemClock())
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            await blitz.submit("ann", 1)
            for command in begin.split("|"):
                assert own_redis.ask(*command.split()) == "OK"
            with pytest.raises(IndexUnavailable, match=code):
                await blitz.top(1)
            assert (await blitz.submit("bob", 2)).stale
            assert own_redis.ask(*end.split()) == "OK"
            await holds(lambda: has_caught_up(blitz, "bob"), "submission in the index")

    asyncio.run(main())


def test_a_cluster_without_slots_is_away(postgres: PostgresServer) -> None:
    node = RedisServer("--cluster-enabled", "yes")

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, node.url).open(SystemClock())
        async with opened.boards as boards:
            blitz = await boards.create("blitz")
            with pytest.raises(IndexUnavailable, match=r"CLUSTERDOWN|at the moment"):
                await blitz.top(1)
            assert (await blitz.submit("ann", 1)).stale

    try:
        asyncio.run(main())
    finally:
        node.close()


async def is_over(profile: ClusterProfile) -> bool:
    return not profile.client.breaker("").is_open


async def is_refused(server: RedisServer, code: str) -> bool:
    return server.ask("GET", "anything").startswith(code)


async def has_caught_up(board: Leaderboard, player: str) -> bool:
    with suppress(NotRanked, Unavailable):
        return (await board.standing(player)).rank == 1
    return False


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
