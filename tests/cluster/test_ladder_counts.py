"""Ladders of scopes in a cluster: counted anew near the quota, and by one process for all."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from tests.cluster.workbench import ClusterWorkbench, keep_house
from toprung.errors import TooManyLadders
from toprung.profiles.cluster import ClusterProfile
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

NOON = "2026-11-15T12:30:00Z"


async def age(bench: ClusterWorkbench) -> None:
    """Let the server believe that ladders were entered, and counted, an hour ago."""
    connection = await asyncpg.connect(bench.settings.journal_url)
    try:
        await connection.execute(f"SET search_path = {bench.settings.schema}")
        for table, moment in (("scope_ladders", "added_at"), ("scope_ladder_counts", "counted_at")):
            await connection.execute(f"UPDATE {table} SET {moment} = now() - interval '1 hour'")
    finally:
        await connection.close()


def test_upkeep_gives_room_back_and_processes_share_the_quota(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    bench = ClusterWorkbench(postgres.url, redis_server.url)
    bench.quotas = {"scope_ladders": 5}

    async def main() -> None:
        opened = [await bench.open(FrozenClock(NOON)) for _ in range(2)]
        profile = opened[0].maintenance
        assert isinstance(profile, ClusterProfile)
        first, second = (each.boards for each in opened)
        await first.create("cup", windows=["all-time"], scopes=["clan"])
        boards = [await each.board("cup") for each in (first, second)]
        for number in range(6):
            await first.set_player(f"p{number}", attributes={"clan": f"c{number}"})
        for number in range(5):
            await boards[number % 2].submit(f"p{number}", 1)
        for board in boards:
            with pytest.raises(TooManyLadders):
                await board.submit("p5", 1)
        await first.erase("p0")
        await keep_house(profile)  # what is young stays, and is counted now and then only
        with pytest.raises(TooManyLadders):
            await boards[1].submit("p5", 1)
        await age(bench)
        await keep_house(profile)
        assert (await boards[1].submit("p5", 1)).status == "accepted"
        assert await profile.ladders.counts() == (5, 5)
        assert [await each.verify() for each in (first, second)] == [[], []]
        for each in opened:
            await each.boards.close()
        await bench.destroy()

    asyncio.run(main())


def test_crowd_that_arrives_at_once(postgres: PostgresServer, redis_server: RedisServer) -> None:
    """Two processes open ladders at the same time: together no more than the quota."""
    bench = ClusterWorkbench(postgres.url, redis_server.url)
    bench.quotas = {"scope_ladders": 20}

    async def main() -> None:
        opened = [await bench.open(FrozenClock(NOON)) for _ in range(2)]
        first = opened[0].boards
        await first.create("cup", windows=["all-time"], scopes=["clan"])
        boards = [await each.boards.board("cup") for each in opened]
        for number in range(40):
            await first.set_player(f"p{number}", attributes={"clan": f"c{number // 2}-{number}"})

        async def submit(number: int) -> Any:
            try:
                return (await boards[number % 2].submit(f"p{number}", 1)).status
            except TooManyLadders:
                return "refused"

        answers = await asyncio.gather(*map(submit, range(40)))
        assert (answers.count("accepted"), answers.count("refused")) == (20, 20)
        assert await boards[0].total() == 20
        for each in opened:
            await each.boards.close()
        await bench.destroy()

    asyncio.run(main())
