"""Applying migrations while other processes use the database.

One process at a time migrates. Each migration is a transaction of its own, so that no lock is held
for longer than its statements take. What takes long does not happen under a lock at all: names of
players are folded in small batches, each of which is committed, and indexes on large tables are
built beside the processes that write. Whoever dies meanwhile leaves something that the next one
goes on with.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from toprung.domain.player import fold_name
from toprung.errors import TruthUnavailable
from toprung.journals.postgres_driver import driver

MIGRATION_SECONDS_MAX = 3600.0
"""An index on many events takes its time."""

POLL_SECONDS = 0.05
FOLDED_AT_ONCE = 1_000
_LOCK = 0x546F7072756E67  # "Toprung"


@asynccontextmanager
async def alone(connection: Any) -> AsyncIterator[None]:
    """While this process alone migrates.

    The others ask again and again: one that waited inside the server would have a transaction
    open, and an index that is built beside other processes waits for all of those.
    """
    deadline = asyncio.get_running_loop().time() + MIGRATION_SECONDS_MAX
    while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK):
        if asyncio.get_running_loop().time() > deadline:
            raise TruthUnavailable("another process has been migrating the database for too long")
        await asyncio.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


async def apply_migration(connection: Any, number: int, text: str) -> None:
    """Apply one migration, and note that."""
    if number in _FURTHER_STEPS:
        await connection.execute(text, timeout=MIGRATION_SECONDS_MAX)
        await _FURTHER_STEPS[number](connection)
    elif _INDEX.search(text):
        await _build_index(connection, text)
    else:
        async with connection.transaction():
            await connection.execute(text, timeout=MIGRATION_SECONDS_MAX)
            await connection.execute(_NOTE, number)
        return
    await connection.execute(_NOTE, number)


async def _build_index(connection: Any, text: str) -> None:
    """Build an index beside the processes that write; in an empty table nobody can be waiting."""
    match = _INDEX.search(text)
    assert match is not None
    name, table = match.groups()
    if not await connection.fetchval(f"SELECT EXISTS (SELECT FROM {table})"):  # noqa: S608
        await connection.execute(text.replace("CONCURRENTLY", ""))
        return
    while True:
        if await connection.fetchval(_IS_INVALID, name):  # somebody died while building it
            await connection.execute(f"DROP INDEX {name}")
        try:
            await connection.execute(text, timeout=MIGRATION_SECONDS_MAX)
        except driver().DeadlockDetectedError:
            continue
        return


async def _fold_names(connection: Any) -> None:
    """Fold the names that were set before folded ones were kept, and make the index on them.

    First the index, which is empty still and soon there.
    """
    await _build_index(connection, _PLAYERS_BY_NAME)
    await _fold_all(connection)


async def _fold_all(connection: Any) -> None:
    after = 0
    while rows := await connection.fetch(_UNFOLDED, after, FOLDED_AT_ONCE):
        numbers, names = [row[0] for row in rows], [row[1] for row in rows]
        try:
            await connection.execute(_FOLD, numbers, names, [fold_name(name) for name in names])
        except driver().DeadlockDetectedError:
            continue
        after = numbers[-1]


_NOTE = "INSERT INTO migrations VALUES ($1)"
_INDEX = re.compile(r"CREATE INDEX CONCURRENTLY IF NOT EXISTS (\w+) ON (\w+)")
_PLAYERS_BY_NAME = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS players_by_name ON players"
    " (folded, id) WHERE folded IS NOT NULL"
)
_IS_INVALID = "SELECT NOT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"
_UNFOLDED = (
    "SELECT number, name FROM players"
    " WHERE number > $1 AND name IS NOT NULL AND folded IS NULL ORDER BY number LIMIT $2"
)
_FOLD = (
    "UPDATE players AS p SET folded = f.folded"
    " FROM unnest($1::bigint[], $2::text[], $3::text[]) AS f (number, name, folded)"
    " WHERE p.number = f.number AND p.name = f.name AND p.folded IS NULL"
)

_PLAYERS_PENDING = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS players_pending ON players"
    " (id) WHERE pending_name IS NOT NULL"
)


async def _index_pending_names(connection: Any) -> None:
    await _build_index(connection, _PLAYERS_PENDING)


_FURTHER_STEPS: Mapping[int, Callable[[Any], Awaitable[None]]] = {
    5: _fold_names,
    23: _index_pending_names,
}
"""What migrations do after their SQL, by number, outside a transaction: it may happen twice."""
