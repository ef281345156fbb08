"""Access keys in the embedded database: a table beside the journal, not part of its sequence.

It has a connection of its own that never checkpoints, and writes only while the journal's writer
pauses: two writers at a time would make one of them fail.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import apsw
import msgspec

from toprung.domain.access import AccessKey
from toprung.errors import Closed, StorageFailed
from toprung.journals.sqlite_faults import FILE_LOST, FilePlace, keep_log, passing_reason, refused
from toprung.journals.sqlite_migrations import migrate
from toprung.ports import KeyStore
from toprung.ports.key_store import EDITABLE

T = TypeVar("T")
Statement: TypeAlias = tuple[str, tuple[Any, ...]]


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
        await self._write([(_ADD, _row(key))])

    async def all(self) -> list[AccessKey]:
        """Every key."""
        with self._lock:
            try:
                rows: list[Any] = self._connection.execute("SELECT * FROM access_keys").fetchall()
            except apsw.Error as error:
                raise StorageFailed(f"the keys cannot be read: {error}") from error
        return [_key(row) for row in rows]

    async def edit(self, key_id: str, changes: Mapping[str, Any]) -> bool:
        """Change these members of a key; whether there is one."""
        assert changes.keys() <= EDITABLE, "they become part of a statement"
        columns = ", ".join(f"{name} = ?" for name in changes)
        values = (*map(_stored, changes.values()), key_id)
        statement = f"UPDATE access_keys SET {columns} WHERE id = ?"  # noqa: S608
        return await self._write([(statement, values)]) > 0

    async def rotate(self, new: AccessKey, old_id: str, ends_at: int) -> bool:
        """Keep a new key, and have the old one expire; whether there is the old one."""
        statements = [(_END, (ends_at, old_id)), (_ADD_BESIDE, (*_row(new), old_id))]
        return await self._write(statements) > 0

    async def remove(self, key_id: str) -> bool:
        """Forget a key; whether there was one."""
        return await self._write([("DELETE FROM access_keys WHERE id = ?", (key_id,))]) > 0

    async def note_uses(self, used: Mapping[str, int]) -> None:
        """Record when keys were last used."""
        statement = "UPDATE access_keys SET last_used_at = ? WHERE id = ?"
        await self._write([(statement, (at, key_id)) for key_id, at in used.items()])

    def close(self) -> None:
        """Let go of the file."""
        if not self._place.is_kept():
            keep_log(self._connection)
        self._connection.close()

    async def _write(self, statements: list[Statement]) -> int:
        """Run statements in one transaction; how many rows they changed."""
        changed: int = await self._in_thread(
            lambda: self._paused(lambda: self._transact(statements))
        )
        return changed

    def _transact(self, statements: list[Statement]) -> int:
        with self._lock:
            before = self._connection.total_changes()
            try:
                self._change(statements)
            except apsw.ConnectionClosedError:
                raise Closed from None
            except apsw.Error as error:
                reason = passing_reason(error) or f"the keys cannot be written ({error})"
                raise refused(reason) from error
            if not self._place.is_kept():
                raise StorageFailed(FILE_LOST)
            return self._connection.total_changes() - before

    def _change(self, statements: list[Statement]) -> None:
        """One transaction; after some errors SQLite has ended it by itself."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in statements:
                connection.execute(statement, values)
            connection.execute("COMMIT")
        except BaseException:
            if not connection.get_autocommit():
                connection.execute("ROLLBACK")
            raise


def _key(row: tuple[Any, ...]) -> AccessKey:
    key_id, name, verbs, boards, digest, created_at, used_at, owner, expires_at, addresses = row
    read = msgspec.json.decode
    known = (key_id, name, owner or key_id, tuple(read(verbs)), tuple(read(boards)), digest)
    return AccessKey(*known, created_at, used_at, expires_at, tuple(read(addresses)))


def _row(key: AccessKey) -> tuple[Any, ...]:
    members = (key.id, key.name, key.verbs, key.boards, key.digest, key.created_at)
    more = (key.last_used_at, key.owner, key.expires_at, key.addresses)
    return tuple(map(_stored, (*members, *more)))


def _stored(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, tuple) else value


_ADD: Final = f"INSERT INTO access_keys VALUES ({', '.join('?' * 10)})"  # noqa: S608
_ADD_BESIDE: Final = (
    f"INSERT INTO access_keys SELECT {', '.join('?' * 10)}"  # noqa: S608
    " FROM access_keys WHERE id = ?"
)
_END: Final = "UPDATE access_keys SET expires_at = min(coalesce(expires_at, ?1), ?1) WHERE id = ?2"

_: type[KeyStore] = SqliteKeys
