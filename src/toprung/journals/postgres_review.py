"""Submissions that wait for a verdict, in PostgreSQL: their events and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toprung.domain.events import DocumentSet, Event, EventBody
from toprung.domain.trust.review import Order, WaitingSubmission, read_waiting
from toprung.journals.postgres_documents import put_document
from toprung.journals.postgres_store import PostgresStore, statement

WAITING_COUNT: Final = (
    "SELECT count(*) FROM documents WHERE kind = 'review'"
    " AND ((value::json ->> 'generation')::bigint) = $1"
)

_WAITING: Final = (
    "SELECT value FROM documents WHERE kind = 'review'"
    " AND ($1::bigint IS NULL OR ((value::json ->> 'generation')::bigint) = $1)"
)
_ORDERS: Final[dict[Order, str]] = {
    "oldest": " AND $2::bigint <= 0 AND key > $3 ORDER BY key",
    "impact": " AND (-((value::json ->> 'impact')::bigint), key) > ($2::bigint, $3)"
    " ORDER BY -((value::json ->> 'impact')::bigint), key",
    "expiry": " AND (((value::json ->> 'expires_at')::bigint), key) > ($2::bigint, $3)"
    " ORDER BY ((value::json ->> 'expires_at')::bigint), key",
}


async def add_waiting(connection: Any, bodies: Sequence[EventBody], recorded_at: int) -> None:
    """Record the events of submissions that wait from now on, and keep their documents."""
    positions = await connection.fetchval("SELECT draw_positions($1)", len(bodies))
    for position, body in zip(positions, bodies, strict=True):
        event = Event(position, recorded_at, body)
        await connection.execute(
            statement("add_event"), position, recorded_at, event.kind, event.text
        )
        if isinstance(body, DocumentSet):
            await put_document(connection, body, position)


async def waiting(
    store: PostgresStore,
    generation: int | None,
    order: Order,
    after: tuple[int, str],
    limit: int,
) -> list[WaitingSubmission]:
    """Submissions that wait, in an order, after a place in it."""
    text = f"{_WAITING}{_ORDERS[order]} LIMIT $4"
    async with store.connection() as connection:
        rows = await connection.fetch(text, generation, *after, limit)
    return [read_waiting(row[0]) for row in rows]
