"""Reading whole periods in a cluster: from the cards, in one snapshot of PostgreSQL."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from heapq import merge
from itertools import accumulate, islice
from typing import Any, Final, TypeAlias

from toprung.domain.board import Board
from toprung.domain.card import (
    entry_record,
    entry_scopes,
    number_bytes,
    parse_period_name,
    parse_scopes_name,
    split_card,
)
from toprung.domain.events import PeriodName
from toprung.journals.postgres_state import cards_page
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import PeriodContents, PeriodReader, PeriodRows
from toprung.waiting.pace import LongWork, next_round

CARDS_AT_ONCE: Final = 500
_CARDS: Final = (
    "SELECT c.player, p.id, c.entries FROM cards AS c JOIN players AS p ON p.number = c.player"
    " WHERE c.generation = $1 AND c.player > $2 ORDER BY c.player LIMIT $3"
)

_NUMBERS: Final = "SELECT id, number FROM players WHERE id = ANY ($1)"

RUN_ROWS: Final = 5_000
"""Rows that are sorted at once: the event loop waits for it."""

Row: TypeAlias = tuple[bytes, int]
"""What a ladder is sorted by (the compared words, the player's id and its end, the record), and the
number."""


class _Rows:
    """The rows of a ladder, in sorted runs."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[list[Row]] = []
        self._last: list[Row] = []

    def add(self, row: Row) -> None:
        self.count += 1
        self._last.append(row)
        if len(self._last) >= RUN_ROWS:
            self._end_run()

    def _end_run(self) -> None:
        self._last.sort()
        self._runs.append(self._last)
        self._last = []

    def merged(self) -> Iterator[Row]:
        """All rows, in order."""
        self._end_run()
        return merge(*self._runs)


class PostgresContents:
    """A period as it was in one snapshot."""

    def __init__(self, board: Board, ladders: dict[str, _Rows], position: int) -> None:
        self.position = position
        self._ladders = ladders
        self._width, self._words = 8 * board.shape.words, 8 * board.shape.order

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        sizes = ((scope, rows.count) for scope, rows in self._ladders.items())
        return sorted(sizes, key=lambda each: each[0].encode())

    async def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first."""
        rows, width, words = self._ladders[scope].merged(), self._width, self._words
        while some := list(islice(rows, CARDS_AT_ONCE)):
            ids = [key[words : -width - 1] for key, _ in some]
            offsets = array("i", accumulate(map(len, ids), initial=0)).tobytes()
            yield PeriodRows(
                array("q", [number for _, number in some]).tobytes(),
                b"".join(key[-width:] for key, _ in some),
                (offsets, b"".join(ids)),
            )
            await next_round()


class PostgresPeriods:
    """Periods as the truth has them."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def periods(self, board: Board) -> Collection[PeriodName]:
        """Every period that cards of the board may have entries of."""
        periods, _ = await self._store.all_names(board.generation)
        return [parse_period_name(name) for name in periods.values()]

    async def occupied(self, board: Board, periods: Collection[PeriodName]) -> set[PeriodName]:
        """Those of the periods in which somebody has an entry.

        The first cards have entries of most; of a period that everybody has left, all are read.
        """
        names, _ = await self._store.all_names(board.generation)
        sought = {
            number_bytes(number): name
            for number, text in names.items()
            if (name := parse_period_name(text)) in periods
        }
        found: set[bytes] = set()
        after = 0
        async with self._store.connection() as connection:
            while len(found) < len(sought) and (rows := await cards_page(connection, board, after)):
                for _, entries in rows:
                    found |= sought.keys() & split_card(entries, board.shape).keys()
                after = rows[-1][0]
                await next_round()
        return {sought[number] for number in found}

    async def read(self, board: Board, period: PeriodName) -> PostgresContents:
        """What a period holds. O(n log n), in memory, n entries of the period."""
        async with self._store.connection() as connection:
            # Whatever has this position or less is committed, and so the snapshot has it.
            position = await connection.fetchval("SELECT settled_position()")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                ladders = await self._ladders(connection, board, period)
        return PostgresContents(board, ladders, position)

    async def numbers(self, players: Sequence[str]) -> Sequence[int | None]:
        """The numbers of players."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(_NUMBERS, list(players))
        found = {row[0]: row[1] for row in rows}
        return [found.get(player) for player in players]

    async def _ladders(self, connection: Any, board: Board, period: PeriodName) -> dict[str, _Rows]:
        periods, scopes = await self._store.all_names(board.generation)
        wanted = {
            number_bytes(number)
            for number, name in periods.items()
            if parse_period_name(name) == period
        }
        scopes_of = {number_bytes(each): parse_scopes_name(name) for each, name in scopes.items()}
        ladders: dict[str, _Rows] = {}
        words, after = 8 * board.shape.order, 0
        async with LongWork() as work:
            while rows := await connection.fetch(_CARDS, board.generation, after, CARDS_AT_ONCE):
                for number, player, entries in rows:
                    for each, entry in split_card(entries, board.shape).items():
                        if each in wanted:
                            record = entry_record(entry)
                            # No id has a zero byte, so a shorter one comes before a longer one.
                            key = record[:words] + player.encode() + b"\0" + record
                            for scope in scopes_of[entry_scopes(entry)]:
                                ladders.setdefault(scope, _Rows()).add((key, number))
                    if work.is_due():
                        await work.rest()
                after = rows[-1][0]
        return ladders


_: type[PeriodReader] = PostgresPeriods
_contents: type[PeriodContents] = PostgresContents
