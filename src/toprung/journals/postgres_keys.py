"""Access keys in the cluster's database: a table beside the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from toprung.domain.access import AccessKey, Verb
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import KeyStore
from toprung.ports.key_store import EDITABLE


class PostgresKeys:
    """The keys that all processes of a cluster share."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def add(self, key: AccessKey) -> None:
        """Keep a new key; durable when this returns."""
        await self._store.execute(_ADD, *_row(key))

    async def all(self) -> list[AccessKey]:
        """Every key."""
        async with self._store.connection() as connection:
            rows: list[Any] = await connection.fetch("SELECT * FROM access_keys ORDER BY id")
        return [
            AccessKey(
                row["id"],
                row["name"],
                row["owner"] or row["id"],
                cast(tuple[Verb, ...], tuple(row["verbs"])),
                tuple(row["boards"]),
                row["digest"],
                row["created_at"],
                row["last_used_at"],
                row["expires_at"],
                tuple(row["addresses"]),
            )
            for row in rows
        ]

    async def edit(self, key_id: str, changes: Mapping[str, Any]) -> bool:
        """Change these members of a key; whether there is one."""
        columns = ", ".join(f"{name} = ${at}" for at, name in enumerate(changes, 2))
        values = [list(each) if isinstance(each, tuple) else each for each in changes.values()]
        assert changes.keys() <= EDITABLE, "they become part of a statement"
        status = await self._store.execute(
            f"UPDATE access_keys SET {columns} WHERE id = $1",  # noqa: S608
            key_id,
            *values,
        )
        return status != "UPDATE 0"

    async def rotate(self, new: AccessKey, old_id: str, ends_at: int) -> bool:
        """Keep a new key, and have the old one expire; whether there is the old one."""
        status = await self._store.execute(_ROTATE, *_row(new), old_id, ends_at)
        return status != "INSERT 0 0"

    async def remove(self, key_id: str) -> bool:
        """Forget a key; whether there was one."""
        status = await self._store.execute("DELETE FROM access_keys WHERE id = $1", key_id)
        return status != "DELETE 0"

    async def note_uses(self, used: Mapping[str, int]) -> None:
        """Record when keys were last used."""
        await self._store.execute(
            "UPDATE access_keys AS k SET last_used_at = u.at "
            "FROM unnest($1::text[], $2::bigint[]) AS u (id, at) WHERE k.id = u.id",
            list(used),
            list(used.values()),
        )


def _row(key: AccessKey) -> tuple[Any, ...]:
    return (
        key.id,
        key.name,
        list(key.verbs),
        list(key.boards),
        key.digest,
        key.created_at,
        key.last_used_at,
        key.owner,
        key.expires_at,
        list(key.addresses),
    )


_ADD: Final = "INSERT INTO access_keys VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
_ROTATE: Final = """
WITH old AS (
    UPDATE access_keys SET expires_at = least(expires_at, $12::bigint) WHERE id = $11 RETURNING id
)
INSERT INTO access_keys
SELECT $1, $2, $3::text[], $4::text[], $5::bytea, $6::bigint, $7::bigint, $8, $9::bigint,
    $10::text[]
FROM old
"""

_: type[KeyStore] = PostgresKeys
