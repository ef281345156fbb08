"""Reading whole periods in a cluster: from the cards, in one snapshot of PostgreSQL."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any, Final

from toprung._native import PlayerTable, RankedSet
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
    " WHERE c.generation = $1 AND c.player > $2 AND p.number > $2 ORDER BY c.player LIMIT $3"
)
"""The second lower bound is one for PostgreSQL, which would read all players before it else."""

_NUMBERS: Final = "SELECT id, number FROM players WHERE id = ANY ($1)"

ROWS_AT_ONCE: Final = 4_096
"""Rows that are read while the event loop waits: about a millisecond."""


class PostgresContents:
    """A period as it was in one snapshot: its ladders, ordered as an index orders them."""

    def __init__(self, board: Board, position: int) -> None:
        self.position = position
        self._shape = board.shape
        self._players = PlayerTable()
        self._numbers = array("q")
        """The players' numbers in the journal, by those in the table here."""
        self._sets: dict[str, RankedSet] = {}

    def add(self, entries: Sequence[tuple[int, str, tuple[str, ...], bytes]]) -> None:
        """Entries of players who have none yet: number, id, scopes and record of each."""
        added = array("I", self._players.intern_many([player for _, player, _, _ in entries]))
        self._numbers.extend(number for number, _, _, _ in entries)
        chosen: dict[str, tuple[array[int], list[bytes]]] = {}
        for number, (_, _, scopes, record) in zip(added, entries, strict=True):
            for scope in scopes:
                numbers, records = chosen.setdefault(scope, (array("I"), []))
                numbers.append(number)
                records.append(record)
        for scope, (numbers, records) in chosen.items():
            self._open(scope).put_many(numbers, b"".join(records))

    def _open(self, scope: str) -> RankedSet:
        ranked = self._sets.get(scope)
        if ranked is None:
            shape = self._shape
            ranked = self._sets[scope] = RankedSet(
                self._players, words=shape.words, order=shape.order, tied=shape.tied
            )
        return ranked

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        sizes = ((scope, len(ranked)) for scope, ranked in self._sets.items())
        return sorted(sizes, key=lambda each: each[0].encode())

    async def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first."""
        ranked, numbers = self._sets[scope], self._numbers
        for start in range(0, len(ranked), ROWS_AT_ONCE):
            found, records = ranked.export(start, start + ROWS_AT_ONCE)
            own = [numbers[each] for each in memoryview(found).cast("q")]
            yield PeriodRows(array("q", own).tobytes(), records, self._players.ids(found))
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
            contents = PostgresContents(board, position)
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                await self._fill(contents, connection, board, period)
        return contents

    async def numbers(self, players: Sequence[str]) -> Sequence[int | None]:
        """The numbers of players."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(_NUMBERS, list(players))
        found = {row[0]: row[1] for row in rows}
        return [found.get(player) for player in players]

    async def _fill(
        self, contents: PostgresContents, connection: Any, board: Board, period: PeriodName
    ) -> None:
        periods, scopes = await self._store.all_names(board.generation)
        wanted = {
            number_bytes(number)
            for number, name in periods.items()
            if parse_period_name(name) == period
        }
        scopes_of = {number_bytes(each): parse_scopes_name(name) for each, name in scopes.items()}
        after = 0
        async with LongWork() as work:
            while rows := await connection.fetch(_CARDS, board.generation, after, CARDS_AT_ONCE):
                contents.add(
                    [
                        (number, player, scopes_of[entry_scopes(entry)], entry_record(entry))
                        for number, player, entries in rows
                        for each, entry in split_card(entries, board.shape).items()
                        if each in wanted
                    ]
                )
                after = rows[-1][0]
                if work.is_due():
                    await work.rest()


_: type[PeriodReader] = PostgresPeriods
_contents: type[PeriodContents] = PostgresContents
