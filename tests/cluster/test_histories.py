"""A player's submissions on one board cost what is shown of them, whatever was done elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.journals import postgres_store
from toprung.journals.postgres import FOREVER
from toprung.journals.postgres_store import migrations, statement
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

ELSEWHERE = 20_000
HISTORIES_MIGRATION = 8
BLOCKS_MAX = 60
"""Of 8 KiB that may be looked at: some for each month's partition and for each row."""


@pytest.fixture
def workbench(postgres: PostgresServer, redis_server: RedisServer) -> ClusterWorkbench:
    return ClusterWorkbench(postgres.url, redis_server.url)


async def fill(workbench: ClusterWorkbench) -> None:
    opened = await workbench.open(FrozenClock("2026-11-15T12:00:00Z"))
    few, many = await opened.boards.create("few"), await opened.boards.create("many")
    await few.submit_many([("ann", 1), ("ann", 2)])
    await many.submit_many([("ann", number) for number in range(ELSEWHERE)])
    await few.submit("ann", 3)
    await opened.boards.close()


async def read(workbench: ClusterWorkbench) -> int:
    """Read the few submissions; how many blocks the server looks at for them."""
    opened = await workbench.open(FrozenClock("2026-11-15T12:00:00Z"))
    board = await opened.boards.board("few")
    page = await board.submissions("ann")
    assert [past.score for past in page.submissions] == [3, 2, 1]
    generation = (await opened.journal.board("few")).generation
    await opened.boards.close()
    settings = {"search_path": str(workbench.settings.schema)}
    connection = await asyncpg.connect(workbench.settings.journal_url, server_settings=settings)
    try:
        await connection.execute("ANALYZE events")
        explained = await connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement('player_submissions')}",
            "ann", generation, FOREVER, 50,
        )  # fmt: skip
    finally:
        await connection.close()
    plan: dict[str, Any] = msgspec.json.decode(explained)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def test_the_work_does_not_grow_with_what_was_done_elsewhere(workbench: ClusterWorkbench) -> None:
    asyncio.run(fill(workbench))
    assert asyncio.run(read(workbench)) < BLOCKS_MAX


def test_an_older_database_gets_the_index(
    workbench: ClusterWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        known = [found for found in migrations() if found[0] != HISTORIES_MIGRATION]
        older.setattr(postgres_store, "migrations", lambda: known)
        asyncio.run(fill(workbench))
        assert asyncio.run(read(workbench)) > BLOCKS_MAX, "what was wrong is seen"
    assert asyncio.run(read(workbench)) < BLOCKS_MAX
