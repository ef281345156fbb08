"""Reading whole periods in a cluster: from the cards, in one snapshot of PostgreSQL."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from heapq import merge
from itertools import islice
from typing import Any, Final, TypeAlias

from toprung._native import RecordReader
from toprung.domain.board import Board
from toprung.domain.card import (
    entry_record,
    entry_scopes,
    number_bytes,
    parse_period_name,
    parse_scopes_name,
    split_card,
)
from toprung.domain.digest import Digested, Digester
from toprung.domain.events import PeriodName
from toprung.domain.player import GLOBAL
from toprung.journals.postgres_state import cards_page
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import PeriodReader
from toprung.waiting.pace import LongWork, next_round

CARDS_AT_ONCE: Final = 500
_CARDS: Final = (
    "SELECT c.player, p.id, c.entries FROM cards AS c JOIN players AS p ON p.number = c.player"
    " WHERE c.generation = $1 AND c.player > $2 ORDER BY c.player LIMIT $3"
)

RUN_ROWS: Final = 5_000
"""Rows that are sorted at once: the event loop waits for it."""

Row: TypeAlias = tuple[bytes, int]
"""What a ladder is sorted by (the compared words, the player's id, the record), and the number."""


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

    async def digested(self, board: Board, period: PeriodName) -> Digested:
        """What a period holds. O(n log n), in memory, n entries of the period."""
        async with self._store.connection() as connection:
            # Whatever has this position or less is committed, and so the snapshot has it.
            position = await connection.fetchval("SELECT settled_position()")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                ladders = await self._ladders(connection, board, period)
        return await _digested(board, ladders, position)

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
                            key = record[:words] + player.encode() + record
                            for scope in scopes_of[entry_scopes(entry)]:
                                ladders.setdefault(scope, _Rows()).add((key, number))
                    if work.is_due():
                        await work.rest()
                after = rows[-1][0]
        return ladders


async def _digested(board: Board, ladders: dict[str, _Rows], position: int) -> Digested:
    shape, width = board.shape, 8 * board.shape.words
    reader = RecordReader(tied=shape.tied, descending=shape.descending, last_wins=shape.last_wins)
    digester = Digester(reader.digest_rows)
    async with LongWork() as work:
        for scope in sorted(ladders, key=str.encode):
            digester.begin(scope, ladders[scope].count)
            rows = ladders[scope].merged()
            while some := list(islice(rows, CARDS_AT_ONCE)):
                numbers = array("q", [number for _, number in some])
                digester.add(numbers, b"".join([key[-width:] for key, _ in some]))
                if work.is_due():
                    await work.rest()
    players = ladders[GLOBAL].count if GLOBAL in ladders else 0
    return Digested(position, players, digester.entries, digester.digest)


_: type[PeriodReader] = PostgresPeriods
