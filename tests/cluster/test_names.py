"""Names come from memory, and are never those of another time for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.feeds import redis as redis_feed
from toprung.journals import postgres_names
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboards
from toprung.testing.servers import PostgresServer, RedisServer

SECONDS_MAX = 30.0
"""For what takes milliseconds, on a machine that does other things."""


@pytest.fixture(autouse=True)
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for a second does not make a process ask again.

    What ends its trust at once is tested here, and no test is about the second itself.
    """
    monkeypatch.setattr(redis_feed, "TRUST_SECONDS", 10 * SECONDS_MAX)


class Process:
    """A process of a cluster, and the players whose names it has asked PostgreSQL for."""

    def __init__(self, profile: ClusterProfile) -> None:
        self.profile = profile
        self.boards = Leaderboards(profile.parts)
        self.asked: list[list[str]] = []
        self.after_reading: Callable[[], Any] = lambda: None
        select = profile.store.select

        async def select_and_note(name: str, *values: Any) -> list[Any]:
            rows = await select(name, *values)
            if name == "shown":
                self.asked.append(list(values[0]))
                await asyncio.sleep(0)
                self.after_reading()
            return rows

        profile.store.select = select_and_note  # type: ignore[method-assign]

    async def name(self, player: str) -> str | None:
        """The player's name, as a standing shows it."""
        board = await self.boards.board("blitz")
        return (await board.standing(player, names=True)).name

    async def until(self, player: str, name: str | None) -> None:
        """Wait until the process shows a name."""
        deadline = time.monotonic() + SECONDS_MAX
        while (found := await self.name(player)) != name:
            assert time.monotonic() < deadline, found

    async def hears(self) -> None:
        """Wait until what is remembered may be used."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() >= self.profile.journal.shown._trusted_until:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)


@asynccontextmanager
async def processes(
    postgres: PostgresServer, redis: RedisServer, count: int = 1
) -> AsyncIterator[list[Process]]:
    bench = ClusterWorkbench(postgres.url, redis.url)
    await bench.make()
    opened = [
        Process(await ClusterProfile.open(bench.settings, SystemClock())) for _ in range(count)
    ]
    try:
        board = await opened[0].boards.create("blitz", windows=["all-time"])
        await board.submit_many([(f"p{n}", n) for n in range(50)])
        for process in opened:
            await process.hears()
        yield opened
    finally:
        for process in opened:
            await process.boards.close()
        await bench.destroy()


def test_what_is_known_is_not_asked_for(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """Nor that a player has no name; and what is not known is asked for together."""

    async def main() -> None:
        async with processes(postgres, redis_server) as (process,):
            await process.boards.set_player("p1", name="Ann")
            players = [f"p{n}" for n in range(20)]
            for _ in range(3):
                await process.hears()
                names = await asyncio.gather(*map(process.name, players))
                assert names == [None, "Ann", *[None] * 18]
            assert sorted(player for some in process.asked for player in some) == sorted(players)
            assert len(process.asked) <= 3

    asyncio.run(main())


def test_a_change_is_seen_here_at_once_and_elsewhere_soon(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        async with processes(postgres, redis_server, 2) as (one, other):
            board = await one.boards.board("blitz")
            for name in ("Ann", "Anna", None):
                await asyncio.gather(one.name("p1"), other.name("p1"))  # both remember it
                await one.boards.set_player("p1", name=name)
                assert await one.name("p1") == name
                await other.until("p1", name)
            await one.boards.patch_player("p1", name="Again")
            assert await one.name("p1") == "Again"
            await other.until("p1", "Again")
            await one.boards.erase("p1")
            await board.submit("p1", 7)
            assert await one.name("p1") is None
            await other.until("p1", None)

    asyncio.run(main())


def test_a_name_that_was_read_before_a_change_is_not_remembered(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """It is read, then changes and is dropped, and only then the reader goes on."""

    async def main() -> None:
        async with processes(postgres, redis_server) as (process,):
            shown = process.profile.journal.shown
            process.after_reading = lambda: shown.drop(["p1"])
            await asyncio.gather(process.name("p1"), process.name("p2"))
            assert set(shown._known) == {"p2"}
            process.after_reading = lambda: shown.drop(None)
            await asyncio.gather(process.name("p3"), process.name("p4"))
            assert not shown._known
            assert shown._bytes == 0

    asyncio.run(main())


def test_news_that_was_lost_with_its_connection(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """All is dropped when the feed listens again, and nothing is used until then."""

    async def main() -> None:
        async with processes(postgres, redis_server) as (process,):
            assert await process.name("p1") is None
            shown, feed = process.profile.journal.shown, process.profile.feed
            assert "p1" in shown._known
            async with process.profile.store.connection(writes=True) as connection:
                await connection.execute("UPDATE players SET name = 'Ann' WHERE id = 'p1'")
            redis_server.ask("CLIENT", "KILL", "TYPE", "pubsub")
            deadline = time.monotonic() + SECONDS_MAX
            while feed.is_listening.is_set():
                assert time.monotonic() < deadline
                await asyncio.sleep(0.001)
            assert await process.name("p1") == "Ann"
            await process.hears()
            assert await process.name("p1") == "Ann"

    asyncio.run(main())


def test_nothing_is_used_while_nobody_listens(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        async with processes(postgres, redis_server) as (process,):
            await process.profile.feed.close()
            for _ in range(3):
                assert await process.name("p1") is None
            assert process.asked == [["p1"]] * 3

    asyncio.run(main())


def test_so_many_players_and_bytes_are_remembered(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_names, "PLAYERS_MAX", 10)

    async def main() -> None:
        async with processes(postgres, redis_server) as (process,):
            shown = process.profile.journal.shown
            await asyncio.gather(*(process.name(f"p{n}") for n in range(9)))
            await process.name("p0")  # the others were used longer ago
            for n in range(9, 18):
                await process.hears()
                await process.name(f"p{n}")
            assert len(shown._known) == 10
            assert "p0" in shown._known
            assert shown._bytes == sum(size for _, _, size in shown._known.values())
            monkeypatch.setattr(postgres_names, "BYTES_MAX", 5 * postgres_names.PLAYER_BYTES)
            await process.hears()
            await process.name("p40")
            assert len(shown._known) <= 5
            assert "p40" in shown._known

    asyncio.run(main())


def test_numbers_are_remembered_until_a_player_is_erased(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """Movement goes by them, and who comes back under an old id is somebody else."""

    async def main() -> None:
        async with processes(postgres, redis_server, 2) as (one, other):
            numbers = other.profile.journal.shown.number_of_each
            before = await numbers(["p1", "nobody", "p2"])
            assert before[1] == postgres_names.NOBODY
            assert await numbers(["p1", "p2"]) == [before[0], before[2]]
            assert other.profile.journal.shown._numbers.keys() == {"p1", "p2"}
            await one.boards.erase("p1")
            await (await one.boards.board("blitz")).submit("p1", 1)
            deadline = time.monotonic() + SECONDS_MAX
            while (found := await numbers(["p1", "p2"]))[0] == before[0]:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
            assert found == [max(*found), before[2]]

    asyncio.run(main())
