"""Cards are written where the transaction holds them, and nowhere else."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.profiles.embedded import SystemClock
from toprung.testing.servers import PostgresServer, RedisServer

HOLD = "SELECT * FROM hold_cards($1, $2, 1, $3)"
REPLACE = "SELECT replace_held($1, $2, $3)"


class Held:
    """A cluster with a board on which ann has a card, and two connections to its database."""

    def __init__(self, postgres: PostgresServer, redis_server: RedisServer) -> None:
        self._url = postgres.url
        self._workbench = ClusterWorkbench(postgres.url, redis_server.url)
        self.generation = 0

    async def connect(self) -> Any:
        schema = self._workbench.settings.schema
        return await asyncpg.connect(self._url, server_settings={"search_path": str(schema)})

    async def __aenter__(self) -> tuple[Any, Any]:
        opened = await self._workbench.open(SystemClock())
        board = await opened.boards.create("blitz")
        await board.submit("ann", 10)
        await opened.boards.close()
        self._connections = await self.connect(), await self.connect()
        self.generation = await self._connections[0].fetchval("SELECT generation FROM boards")
        return self._connections

    async def __aexit__(self, *_: object) -> None:
        for each in self._connections:
            await each.close()


@pytest.mark.parametrize("locks_players", [False, True])
def test_who_waited_for_a_card_holds_the_newest_one(
    postgres: PostgresServer, redis_server: RedisServer, locks_players: bool
) -> None:
    held = Held(postgres, redis_server)

    async def main() -> None:
        async with held as (one, other):
            first, second = one.transaction(), other.transaction()
            await first.start()
            await second.start()
            row = await one.fetchrow(HOLD, ["ann"], held.generation, locks_players)
            waiting = asyncio.create_task(
                other.fetchrow(HOLD, ["ann", "bob"], held.generation, locks_players)
            )
            await asyncio.sleep(0.2)
            assert not waiting.done()
            new = row["positions"][0]
            assert await one.fetchval(REPLACE, row["places"], [new], row["entries"]) == 1
            await first.commit()
            found = await waiting
            assert found["versions"] == [new, 0]
            assert found["places"][0] != row["places"][0], "the card has moved"
            assert found["places"][1] is None, "bob has none"
            assert found["numbers"][0] == row["numbers"][0]
            newer = found["positions"][0]
            assert await other.fetchval(REPLACE, found["places"][:1], [newer], [b"new"]) == 1
            await second.commit()
            cards = await one.fetch("SELECT version, entries FROM cards")
            assert [tuple(card) for card in cards] == [(newer, b"new")]

    asyncio.run(main())


def test_a_card_that_is_elsewhere_is_not_written(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """It cannot happen to what is held; if it did, the transaction would be tried again."""
    held = Held(postgres, redis_server)

    async def main() -> None:
        async with held as (one, _):
            before = await one.fetchrow("SELECT ctid, version FROM cards")
            await one.execute("UPDATE cards SET version = version + 1")
            with pytest.raises(asyncpg.SerializationError):
                await one.fetchval(REPLACE, [before["ctid"]], [99], [b""])
            assert await one.fetchval("SELECT version FROM cards") == before["version"] + 1

    asyncio.run(main())


def test_places_are_looked_at_one_by_one_although_the_table_is_small(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """A plan that scans would be kept while the table grows."""
    held = Held(postgres, redis_server)

    async def main() -> None:
        async with held as (one, _):
            await one.execute(
                "INSERT INTO cards SELECT generation, player + n, version, entries"
                " FROM cards, generate_series(1, 200) AS n"
            )
            scans = (
                "SELECT seq_scan FROM pg_stat_xact_user_tables"
                " WHERE schemaname = current_schema() AND relname = 'cards'"
            )
            async with one.transaction():
                for turn in range(8):
                    places = await one.fetchval("SELECT array_agg(ctid) FROM cards")
                    before, versions = await one.fetchval(scans), [turn] * len(places)
                    await one.fetchval(REPLACE, places, versions, [b""] * len(places))
                    assert await one.fetchval(scans) == before

    asyncio.run(main())
