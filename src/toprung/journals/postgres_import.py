"""Filling an empty cluster database from elsewhere: one transaction, so all of it or nothing.

Rows arrive in pages and are written with COPY. Tables are locked against everybody else until the
end; whoever submits meanwhile waits, and finds the copied boards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from toprung.errors import Invalid
from toprung.journals.postgres_store import PostgresStore

PLAYER_COLUMNS = (
    "number", "id", "name", "avatar_url", "attributes", "folded", "pending_name",
)  # fmt: skip
FRIEND_COLUMNS = ("player", "friend")
BOARD_COLUMNS = ("id", "generation", "version", "rules")
CARD_COLUMNS = ("generation", "player", "version", "entries")
EVENT_COLUMNS = ("position", "recorded_at", "kind", "body")
SCORE_COLUMNS = (
    "position", "recorded_at", "generation", "player", "at", "score", "subscore", "route", "status",
    "details", "kind",
)  # fmt: skip
DOCUMENT_COLUMNS = ("kind", "key", "version", "value")
KEY_COLUMNS = (
    "generation", "key", "digest", "position", "recorded_at", "status", "outcome", "player",
)  # fmt: skip

EFFECT_COLUMNS = (
    "id", "kind", "target", "type", "body", "player", "other", "is_brief", "created_at", "state",
    "attempts", "due_at", "attempted_at", "status", "answer",
)  # fmt: skip
WEBHOOK_COLUMNS = (
    "id", "url", "events", "boards", "secret", "nonce", "since", "created_at", "updated_at",
    "disabled",
)  # fmt: skip
ACT_COLUMNS = ("position", "recorded_at", "actor", "board", "player")
FOLLOWER_COLUMNS = ("name", "position", "note", "fault")
DERIVED_COLUMNS = ("follower", "board", "key", "player", "value")
SNAPSHOT_COLUMNS = ("generation", "boundary", "name", "taken_at")
SNAPSHOT_LADDER_COLUMNS = (
    "generation", "boundary", "ladder", "window", "period", "scope", "total", "position",
)  # fmt: skip
SNAPSHOT_PART_COLUMNS = ("generation", "boundary", "ladder", "kind", "first", "body")

_TABLES = (
    "boards, players, friends, cards, events, keys, documents, copies, effects, webhooks,"
    " followers, derived, acts, snapshots, snapshot_ladders, snapshot_parts"
)


class Copied(NamedTuple):
    """A copy that the database holds."""

    database: str
    last_position: int
    is_current: bool
    """Whether nothing was recorded since."""


class PostgresImport:
    """A transaction that fills an empty database."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def begin(cls, store: PostgresStore) -> AsyncIterator[PostgresImport]:
        """Lock the database; committed when the block ends, undone when it raises."""
        async with store.connection(writes=True) as connection, connection.transaction():
            await connection.execute(f"LOCK TABLE {_TABLES} IN EXCLUSIVE MODE")
            yield cls(connection)

    async def copied(self) -> Copied | None:
        """The copy that is here already; None in an empty database, Invalid in any other."""
        row = await self._connection.fetchrow("SELECT database, head FROM copies")
        last = await self._connection.fetchval(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM positions"
        )
        if row is not None:
            return Copied(row[0], row[1], last == row[1])
        is_used = await self._connection.fetchval(
            "SELECT EXISTS (SELECT FROM events) OR EXISTS (SELECT FROM players)"
            " OR EXISTS (SELECT FROM webhooks)"
        )
        if last or is_used:
            raise Invalid("to", "the cluster contains other data; use an empty schema")
        return None

    async def add(self, table: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
        """Write a page of rows."""
        await self._connection.copy_records_to_table(table, records=rows, columns=columns)

    async def finish(self, database: str, last_position: int) -> None:
        """Go on counting where the copy ends, and remember where it came from."""
        fetchval = self._connection.fetchval
        if last_position:
            await fetchval("SELECT setval('positions', $1)", last_position)
        await fetchval(
            "SELECT setval(pg_get_serial_sequence('players', 'number'), max(number))"
            " FROM players HAVING max(number) IS NOT NULL"
        )
        await self._connection.execute(
            "INSERT INTO copies (database, head) VALUES ($1, $2)", database, last_position
        )
