"""Migrating a database that other processes use, and what a full or damaged one is told as."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import asyncpg
import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.player import fold_name
from toprung.errors import DatabaseDamaged, StorageFailed, TruthUnavailable
from toprung.journals import postgres_migrations
from toprung.journals.postgres_store import PostgresStore
from toprung.testing.servers import PostgresServer, RedisServer

NAMES = 400
SLOW_SECONDS = 0.01
WAIT_SECONDS_MAX = 1.5
"""How long others may wait, at most: all names together take four seconds."""


@asynccontextmanager
async def opened(bench: ClusterWorkbench) -> AsyncIterator[PostgresStore]:
    store = await PostgresStore.connect(bench.settings.journal_url, schema=bench.settings.schema)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def bench(postgres: PostgresServer, redis_server: RedisServer) -> Iterator[ClusterWorkbench]:
    """A database as it was before names were folded, with names in it."""
    found = ClusterWorkbench(postgres.url, redis_server.url)

    async def fill() -> None:
        await found.make()
        async with opened(found) as store:
            await store.migrate()
            await store.execute("ALTER TABLE players DROP COLUMN folded")
            await store.execute("DELETE FROM migrations WHERE number = 5")
            await store.execute(
                "INSERT INTO players (id, name) SELECT 'p' || n, 'Name ' || n"
                f" FROM generate_series(1, {NAMES}) AS n"
            )

    asyncio.run(fill())
    yield found
    asyncio.run(found.destroy())


async def check_folded(store: PostgresStore) -> None:
    rows = await store.pool.fetch("SELECT name, folded FROM players")
    assert len(rows) >= NAMES
    assert all(row["folded"] == fold_name(row["name"]) for row in rows)
    is_valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'players_by_name'::regclass"
    assert await store.pool.fetchval(is_valid)


def fold_slowly(name: str) -> str:
    time.sleep(SLOW_SECONDS)
    return fold_name(name)


def test_others_go_on_while_names_are_folded(
    bench: ClusterWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They waited for as long as it took: minutes, if there are millions of names."""
    monkeypatch.setattr(postgres_migrations, "fold_name", fold_slowly)
    monkeypatch.setattr(postgres_migrations, "FOLDED_AT_ONCE", 20)

    async def migrate() -> None:
        async with opened(bench) as store:
            assert await store.migrate() == [5]

    async def work(migrating: threading.Thread) -> list[float]:
        waits: list[float] = []
        async with opened(bench) as store:
            while migrating.is_alive():
                begin = time.monotonic()
                await store.execute("INSERT INTO players (id) VALUES ($1)", f"new-{len(waits)}")
                assert await store.pool.fetchval("SELECT count(*) FROM players") >= NAMES
                waits.append(time.monotonic() - begin)
                await asyncio.sleep(0.02)
            await store.execute("DELETE FROM players WHERE name IS NULL")
            await check_folded(store)
        return waits

    migrating = threading.Thread(target=lambda: asyncio.run(migrate()))
    migrating.start()
    waits = asyncio.run(work(migrating))
    migrating.join()
    assert max(waits) < WAIT_SECONDS_MAX
    assert len(waits) > 5


def test_whoever_comes_next_goes_on_with_what_was_cut_short(
    bench: ClusterWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_migrations, "FOLDED_AT_ONCE", 20)
    folded = 0

    def fold_some(name: str) -> str:
        nonlocal folded
        folded += 1
        if folded > NAMES // 2:
            raise KeyboardInterrupt
        return fold_name(name)

    async def main() -> None:
        async with opened(bench) as store:
            with monkeypatch.context() as cut:
                cut.setattr(postgres_migrations, "fold_name", fold_some)
                with pytest.raises(KeyboardInterrupt):
                    await store.migrate()
            done = await store.pool.fetchval("SELECT count(folded) FROM players")
            assert 0 < done < NAMES
        async with opened(bench) as one, opened(bench) as other:
            assert sorted(await asyncio.gather(one.migrate(), other.migrate())) == [[], [5]]
            await check_folded(one)

    asyncio.run(main())


# --- an index on a large table --------------------------------------------------------------------

INDEXING = (
    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    " AND query LIKE '%CREATE INDEX CONCURRENTLY%cards_by_player%'"
)


@pytest.fixture
def cards_bench(bench: ClusterWorkbench) -> ClusterWorkbench:
    """A database as it was before cards were found by player, with cards in it."""

    async def fill() -> None:
        async with opened(bench) as store:
            await store.migrate()
            await store.execute("DROP INDEX cards_by_player")
            await store.execute("DELETE FROM migrations WHERE number = 11")
            await put_card(store, 1)

    asyncio.run(fill())
    return bench


async def put_card(store: PostgresStore, player: int) -> None:
    await store.execute("INSERT INTO cards VALUES (1, $1, 1, '')", player)


async def waits_for_others(store: PostgresStore) -> int:
    """Wait until whoever builds the index waits for a transaction; its process in the server."""
    async with asyncio.timeout(20):
        while not (found := await store.pool.fetchval(INDEXING)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return int(found)


async def is_indexed(store: PostgresStore) -> bool:
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('cards_by_player')"
    return bool(await store.pool.fetchval(valid))


def test_cards_are_written_while_they_are_indexed(cards_bench: ClusterWorkbench) -> None:
    """A plain CREATE INDEX waits for the transaction that is open, and all writers wait for it."""

    async def main() -> None:
        async with opened(cards_bench) as store, opened(cards_bench) as migrating:
            async with store.pool.acquire() as connection, connection.transaction():
                await connection.execute("INSERT INTO cards VALUES (1, 2, 1, '')")
                migration = asyncio.create_task(migrating.migrate())
                await waits_for_others(store)
                async with asyncio.timeout(WAIT_SECONDS_MAX):
                    await put_card(store, 3)
                assert not migration.done()
            assert await migration == [11]
            assert await is_indexed(store)

    asyncio.run(main())


def test_an_index_that_was_cut_short_is_built_again(cards_bench: ClusterWorkbench) -> None:
    async def main() -> None:
        async with opened(cards_bench) as store, opened(cards_bench) as killed:
            async with store.pool.acquire() as connection, connection.transaction():
                await connection.execute("INSERT INTO cards VALUES (1, 2, 1, '')")
                migration = asyncio.create_task(killed.migrate())
                await store.pool.fetchval(
                    "SELECT pg_terminate_backend($1)", await waits_for_others(store)
                )
                with pytest.raises(TruthUnavailable):
                    await migration
            assert await store.pool.fetchval("SELECT to_regclass('cards_by_player')") is not None
            assert not await is_indexed(store)
            assert await store.migrate() == [11]
            assert await is_indexed(store)

    asyncio.run(main())


def test_a_number_that_stands_for_nothing_is_a_damaged_database(bench: ClusterWorkbench) -> None:
    async def main() -> None:
        async with opened(bench) as store:
            with pytest.raises(
                DatabaseDamaged, match="names of numbers are missing in the database: 12345"
            ):
                await store.names([12345])

    asyncio.run(main())


def test_a_server_without_connections_tells_readers_nothing_of_records() -> None:
    server = PostgresServer(options=("-c", "max_connections=10"))

    async def main() -> None:
        store, taken = await PostgresStore.connect(server.url), []
        async with store.pool.acquire():
            with suppress(asyncpg.TooManyConnectionsError):
                while True:
                    taken.append(await asyncpg.connect(server.url))
            with pytest.raises(TruthUnavailable, match="out of disk space, memory or connections"):
                await store.select("names_of_board", 1)
            with pytest.raises(StorageFailed, match="nothing was recorded"):
                await store.execute("CREATE TABLE t (n integer)")
        for connection in taken:
            await connection.close()
        await store.close()

    try:
        asyncio.run(main())
    finally:
        server.close()
