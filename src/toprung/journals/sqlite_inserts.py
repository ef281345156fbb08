"""The statements that append a batch to the SQLite file.

Inserts are multi-row statements: a statement per row would release and fight for the
interpreter lock a thousand times per batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from toprung.domain.effects import Effect
from toprung.domain.events import DocumentSet, Event, act_row
from toprung.domain.ladder import Route
from toprung.journals.sqlite_revoked import history_inserts
from toprung.ports import SUBMISSION_COLUMNS, Plan

_ROWS_MANY = (500, 100)
_ROWS_EXACT = 100
"""Fewer rows than this are one statement of just that many."""


def inserts_of(plan: Plan) -> Iterator[tuple[str, Sequence[Any]]]:
    """The statements that append a batch, with their values."""
    yield from insert_many("players (number, id)", 2, _flat(plan.players))
    yield from insert_many("routes", 6, _flat(map(_route_row, plan.routes)))
    yield from insert_many("submissions", len(SUBMISSION_COLUMNS), plan.submissions)
    yield from insert_many("details", 2, _flat(plan.details))
    yield from insert_many("events", 4, _flat(map(_event_row, plan.events)))
    for event in plan.events:
        if isinstance(event.body, DocumentSet):
            yield _document(event.body, event.position)
        else:
            yield from history_inserts(event)
        if (act := act_row(event)) is not None:
            yield "INSERT INTO acts VALUES (?, ?, ?, ?, ?)", act
    if plan.effects:
        yield from effect_inserts(plan.effects)


_DROP_ERASED = (
    "DELETE FROM effects WHERE player = ?1 AND NOT EXISTS (SELECT 1 FROM players WHERE number = ?1)"
)


def effect_inserts(effects: Iterable[tuple[Effect, int]]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The statements that write effects, with the time of each; one that is there stays.

    One that names a player who was erased since it was derived goes at once.
    """
    rows = [
        (
            effect.id,
            effect.kind,
            effect.target,
            effect.type,
            effect.body,
            effect.player,
            effect.other,
            int(effect.is_brief),
            at,
        )
        for effect, at in effects
    ]
    table = "effects (id, kind, target, type, body, player, other, is_brief, created_at)"
    for statement, values in insert_many(table, 9, _flat(rows)):
        yield f"{statement} ON CONFLICT DO NOTHING", values
    for player in {row[5] for row in rows} - {None}:
        yield _DROP_ERASED, (player,)


def insert_many(
    table: str, width: int, values: Sequence[Any], *, replace: bool = False
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Statements of many rows each that append them; sizes repeat, so statements are cached."""
    start = 0
    while start < len(values):
        left = (len(values) - start) // width
        rows = left if left < _ROWS_EXACT else next(n for n in _ROWS_MANY if n <= left)
        stop = start + rows * width
        yield _insert_statement(table, width, rows, replace), values[start:stop]
        start = stop


@lru_cache(maxsize=1024)
def _insert_statement(table: str, width: int, rows: int, replace: bool) -> str:
    row, verb = "(" + ",".join("?" * width) + ")", "INSERT OR REPLACE" if replace else "INSERT"
    return f"{verb} INTO {table} VALUES {','.join([row] * rows)}"


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
