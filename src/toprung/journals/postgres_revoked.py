"""What remains of a player's history in PostgreSQL, without the submissions that were revoked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands.deciding import HistoryMark
from toprung.domain.commands.outcomes import PENDING
from toprung.domain.events import BoardSet, EntriesSet, PeriodName
from toprung.domain.ladder import Stop
from toprung.domain.trust.revoking import CountedSubmission, Reset, RulesChange
from toprung.journals.postgres_rows import event_of
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import FoundSubmission, RemainingHistory
from toprung.waiting.pace import LongWork

ROWS_AT_ONCE: Final = 1_000

_NEWEST: Final = (
    "SELECT max(position) FROM events WHERE player = $1 AND generation = $2 AND kind = 'score'"
)
_HISTORY: Final = "SELECT reset, changed FROM histories WHERE board = $1 AND player = $2"
_EVENTS: Final = (
    "SELECT position, recorded_at, kind, body FROM events WHERE position = ANY ($1)"
    " ORDER BY position"
)
_LAYOUTS: Final = "SELECT position FROM layouts WHERE board = $1 AND position > $2"
_SUBMISSION: Final = (
    "SELECT e.generation, e.player, e.at, e.score, e.subscore, e.route, v.reason"
    " FROM events AS e LEFT JOIN revoked AS v ON v.position = e.position"
    " WHERE e.position = $1 AND e.kind = 'score'"
)
_REMAINING: Final = (
    "SELECT e.position, e.at, e.score, e.subscore, e.route FROM events AS e"
    " WHERE e.player = $1 AND e.generation = $2 AND e.position > $3 AND e.kind = 'score'"
    " AND NOT EXISTS (SELECT FROM revoked AS v WHERE v.position = e.position)"
    " AND (e.status <> $5 OR EXISTS (SELECT FROM documents AS d WHERE d.kind = 'verdict'"
    " AND d.key = lpad(e.position::text, 19, '0') AND d.value::json ->> 'verdict' = 'accepted'))"
    " ORDER BY e.position LIMIT $4"
)


async def read_mark(connection: Any, board: Board, player: int) -> HistoryMark:
    """Which submissions a player has on a board."""
    newest = await connection.fetchval(_NEWEST, player, board.generation)
    _, changed = await _history(connection, board, player)
    return HistoryMark(newest or 0, changed)


async def _history(connection: Any, board: Board, player: int) -> tuple[int, int]:
    """Positions of the board that has the name now; one of before was another."""
    row = await connection.fetchrow(_HISTORY, board.id, player)
    reset, changed = row or (0, 0)
    return (
        reset if reset > board.generation else 0,
        changed if changed > board.generation else 0,
    )


async def submission_at(store: PostgresStore, position: int) -> FoundSubmission | None:
    """The submission at a position, if there is one."""
    async with store.connection() as connection:
        row = await connection.fetchrow(_SUBMISSION, position)
    if row is None:
        return None
    generation, player, at, score, subscore, number, reason = row
    board, stops = (await _routes(store, [number]))[number]
    counted = CountedSubmission(position, at, score, subscore, stops)
    return FoundSubmission(board, generation, player, counted, reason)


async def remaining(
    store: PostgresStore, board: Board, player: str, periods: Sequence[PeriodName]
) -> RemainingHistory:
    """What a player's entries in some periods are to be folded from."""
    async with store.connection() as connection:
        number = await connection.fetchval("SELECT number FROM players WHERE id = $1", player)
        if number is None:
            return RemainingHistory(HistoryMark(0, 0), Reset(), (), ())
        mark = await read_mark(connection, board, number)
        if not periods:
            return RemainingHistory(mark, Reset(), (), ())
        reset = await _reset(connection, board, number)
        floor = max(reset.position, board.generation)
        layouts = [row[0] for row in await connection.fetch(_LAYOUTS, board.id, floor)]
        events = map(event_of, await connection.fetch(_EVENTS, layouts))
        changes = [
            RulesChange.of(event.position, event.body)
            for event in events
            if isinstance(event.body, BoardSet)
        ]
    wanted = (board.generation, number, reset.position)
    return RemainingHistory(mark, reset, changes, await _remaining(store, wanted, set(periods)))


async def _reset(connection: Any, board: Board, number: int) -> Reset:
    position, _ = await _history(connection, board, number)
    rows = await connection.fetch(_EVENTS, [position]) if position else []
    if not rows:
        return Reset(position)
    body = event_of(rows[0]).body
    return Reset(position, body if isinstance(body, EntriesSet) else None)


async def _remaining(
    store: PostgresStore, wanted: tuple[int, int, int], periods: set[PeriodName]
) -> list[CountedSubmission]:
    """Submissions on a board (its generation) of a player after a position, in order."""
    generation, number, after = wanted
    found: list[CountedSubmission] = []
    routes: dict[int, tuple[PeriodName, ...]] = {}
    async with LongWork() as work:
        while True:
            async with store.connection() as connection:
                rows = await connection.fetch(
                    _REMAINING, number, generation, after, ROWS_AT_ONCE, PENDING
                )
            new = {row[4] for row in rows} - routes.keys()
            for route, (_, stops) in (await _routes(store, new)).items():
                routes[route] = tuple(name for name in stops if name in periods)
            found += [
                CountedSubmission(position, at, score, subscore, routes[route])
                for position, at, score, subscore, route in rows
                if routes[route]
            ]
            if len(rows) < ROWS_AT_ONCE:
                return found
            after = rows[-1][0]
            if work.is_due():
                await work.rest()


async def _routes(
    store: PostgresStore, numbers: Iterable[int]
) -> dict[int, tuple[str, tuple[PeriodName, ...]]]:
    """The board and the periods behind numbers of routes."""
    found = {}
    for number, text in (await store.names(numbers)).items():
        board, _, _, stops = msgspec.json.decode(text, type=tuple[str, int, str, list[Stop]])
        found[number] = (board, tuple((stop.window, stop.period) for stop in stops))
    return found
