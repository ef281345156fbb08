"""Submissions that wait for a verdict, in the SQLite file: they are documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toprung.domain.trust.review import Order, WaitingSubmission, read_waiting

if TYPE_CHECKING:
    from toprung.journals.sqlite_store import SqliteStore

_GENERATION: Final = "json_extract(value, '$.generation')"
_ORDERS: Final[dict[Order, str]] = {
    "oldest": "key",
    "impact": "-json_extract(value, '$.impact'), key",
    "expiry": "json_extract(value, '$.expires_at'), key",
}


def waiting(
    store: SqliteStore,
    generation: int | None,
    order: Order,
    after: tuple[int, str],
    limit: int,
) -> list[WaitingSubmission]:
    """Submissions that wait, in an order, after a place in it."""
    columns, place = _ORDERS[order], ":key" if order == "oldest" else ":first, :key"
    board = "" if generation is None else f" AND {_GENERATION} = :generation"
    rows = store.select(
        f"SELECT value FROM documents WHERE kind = 'review'{board}"  # noqa: S608
        f" AND ({columns}) > ({place}) ORDER BY {columns} LIMIT :limit",
        {"generation": generation, "first": after[0], "key": after[1], "limit": limit},
    )
    return [read_waiting(row[0]) for row in rows]
