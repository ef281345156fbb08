"""Access keys in the embedded database: a table beside the journal, not part of its sequence.

It has a connection of its own that never checkpoints, and writes only while the journal's writer
pauses: two writers at a time would make one of them fail.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import apsw
import msgspec

from toprung.domain.access import AccessKey
from toprung.errors import Closed, StorageFailed
from toprung.journals.sqlite_faults import FILE_LOST, FilePlace, keep_log, passing_reason, refused
from toprung.journals.sqlite_migrations import migrate
from toprung.ports import KeyStore

T = TypeVar("T")


class SqliteKeys:
    """The keys in one database file."""

    def __init__(
        self,
        path: str,
        paused: Callable[[Callable[[], Any]], Any],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        """`paused` does something while the journal writes nothing; `in_thread` elsewhere."""
        self._place = FilePlace(path)
        self._connection = apsw.Connection(path)
        self._connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._paused = paused
        self._in_thread = in_thread
        self._lock = threading.Lock()
        if path == ":memory:":  # a database of its own, which nobody else has made the tables of
            migrate(self._connection, path)
        self._place.is_kept()  # from now on

    async def add(self, key: AccessKey) -> None:
        """Keep a new key; durable when this returns."""
        row = (
            key.id,
            key.name,
            msgspec.json.encode(key.verbs).decode(),
            msgspec.json.encode(key.boards).decode(),
            key.digest,
            key.created_at,
            key.last_used_at,
            key.owner,
        )
        await self._write("INSERT INTO access_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row])

    async def all(self) -> list[AccessKey]:
        """Every key."""
        with self._lock:
            try:
                rows: list[Any] = self._connection.execute("SELECT * FROM access_keys").fetchall()
            except apsw.Error as error:
                raise StorageFailed(f"the keys cannot be read: {error}") from error
        return [_key(*row) for row in rows]

    async def remove(self, key_id: str) -> bool:
        """Forget a key; whether there was one."""
        changed = await self._write("DELETE FROM access_keys WHERE id = ?", [(key_id,)])
        return changed > 0

    async def note_uses(self, used: Mapping[str, int]) -> None:
        """Record when keys were last used."""
        statement = "UPDATE access_keys SET last_used_at = ? WHERE id = ?"
        await self._write(statement, [(at, key_id) for key_id, at in used.items()])

    def close(self) -> None:
        """Let go of the file."""
        if not self._place.is_kept():
            keep_log(self._connection)
        self._connection.close()

    async def _write(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        """Run a statement for each row in one transaction; how many rows it changed."""
        changed: int = await self._in_thread(
            lambda: self._paused(lambda: self._transact(statement, rows))
        )
        return changed

    def _transact(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        with self._lock:
            before = self._connection.total_changes()
            try:
                self._change(statement, rows)
            except apsw.ConnectionClosedError:
                raise Closed from None
            except apsw.Error as error:
                reason = passing_reason(error) or f"the keys cannot be written ({error})"
                raise refused(reason) from error
            if not self._place.is_kept():
                raise StorageFailed(FILE_LOST)
            return self._connection.total_changes() - before

    def _change(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """One transaction; after some errors SQLite has ended it by itself."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(statement, rows)
            connection.execute("COMMIT")
        except BaseException:
            if not connection.get_autocommit():
                connection.execute("ROLLBACK")
            raise


def _key(
    key_id: str,
    name: str,
    verbs: str,
    boards: str,
    digest: bytes,
    created_at: int,
    last_used_at: int | None,
    owner: str | None,
) -> AccessKey:
    return AccessKey(
        key_id,
        name,
        owner or key_id,
        tuple(msgspec.json.decode(verbs)),
        tuple(msgspec.json.decode(boards)),
        digest,
        created_at,
        last_used_at,
    )


_: type[KeyStore] = SqliteKeys
