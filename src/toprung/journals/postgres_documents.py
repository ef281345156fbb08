"""Documents in PostgreSQL."""

from __future__ import annotations

from typing import Any

import msgspec

from toprung.domain.events import DocumentSet

_DELETE = "DELETE FROM documents WHERE kind = $1 AND key = $2"
_PUT = (
    "INSERT INTO documents VALUES ($1, $2, $3, $4) ON CONFLICT (kind, key) DO UPDATE"
    " SET version = excluded.version, value = excluded.value"
)


async def put_document(connection: Any, change: DocumentSet, version: int) -> None:
    """Keep what the event at a position says of a document."""
    if change.value is None:
        await connection.execute(_DELETE, change.kind, change.key)
        return
    text = msgspec.json.encode(change.value).decode()
    await connection.execute(_PUT, change.kind, change.key, version, text)
