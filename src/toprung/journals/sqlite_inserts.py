"""The statements that append a batch to the SQLite file.

Inserts are multi-row statements: a statement per row would release and fight for the
interpreter lock a thousand times per batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from toprung.domain.events import DocumentSet, Event
from toprung.domain.ladder import Route
from toprung.ports import SUBMISSION_COLUMNS, Plan

_ROWS_MANY = (500, 100)
_ROWS_EXACT = 100
"""Fewer rows than this are one statement of just that many."""


def inserts_of(plan: Plan) -> Iterator[tuple[str, Sequence[Any]]]:
    """The statements that append a batch, with their values."""
    yield from _insert("players (number, id)", 2, _flat(plan.players))
    yield from _insert("routes", 6, _flat(map(_route_row, plan.routes)))
    yield from _insert("submissions", len(SUBMISSION_COLUMNS), plan.submissions)
    yield from _insert("details", 2, _flat(plan.details))
    yield from _insert("events", 4, _flat(map(_event_row, plan.events)))
    for event in plan.events:
        if isinstance(event.body, DocumentSet):
            yield _document(event.body, event.position)


def _insert(table: str, width: int, values: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Statements of many rows each that append them; sizes repeat, so statements are cached."""
    start = 0
    while start < len(values):
        left = (len(values) - start) // width
        rows = left if left < _ROWS_EXACT else next(n for n in _ROWS_MANY if n <= left)
        stop = start + rows * width
        yield _insert_statement(table, width, rows), values[start:stop]
        start = stop


@lru_cache(maxsize=1024)
def _insert_statement(table: str, width: int, rows: int) -> str:
    row = "(" + ",".join("?" * width) + ")"
    return f"INSERT INTO {table} VALUES {','.join([row] * rows)}"  # noqa: S608


def _flat(rows: Iterable[Sequence[Any]]) -> list[Any]:
    return [value for row in rows for value in row]


def _route_row(row: tuple[int, str, int, int, str, Route]) -> Sequence[Any]:
    return (*row[:5], msgspec.json.encode(row[5]).decode())


def _document(change: DocumentSet, version: int) -> tuple[str, Sequence[Any]]:
    if change.value is None:
        return "DELETE FROM documents WHERE kind = ? AND key = ?", (change.kind, change.key)
    value = msgspec.json.encode(change.value).decode()
    return "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", (
        change.kind,
        change.key,
        version,
        value,
    )


def _event_row(event: Event) -> Sequence[Any]:
    return (event.position, event.recorded_at, event.kind, event.text)
