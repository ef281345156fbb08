"""Access keys in the cluster's database: a table beside the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toprung.domain.access import AccessKey, Verb
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import KeyStore


class PostgresKeys:
    """The keys that all processes of a cluster share."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def add(self, key: AccessKey) -> None:
        """Keep a new key; durable when this returns."""
        await self._store.execute(
            "INSERT INTO access_keys VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            key.id,
            key.name,
            list(key.verbs),
            list(key.boards),
            key.digest,
            key.created_at,
            key.last_used_at,
            key.owner,
        )

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
            )
            for row in rows
        ]

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


_: type[KeyStore] = PostgresKeys
