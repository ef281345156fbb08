"""Reading whole periods in a cluster: from the cards, in one snapshot of PostgreSQL."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Final

from toprung._native import CardColumns, card_periods
from toprung.domain.board import Board
from toprung.domain.card import number_bytes, parse_period_name
from toprung.domain.events import PeriodName
from toprung.domain.trust.restriction import is_hidden
from toprung.journals.postgres_gathering import Gathered, gather
from toprung.journals.postgres_state import cards_page
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import PeriodContents, PeriodReader, PeriodRows
from toprung.waiting.pace import next_round
from toprung.waiting.threads import in_thread

_NUMBERS: Final = "SELECT id, number FROM players WHERE id = ANY ($1)"

ROWS_AT_ONCE: Final = 2_048
"""Rows that are read while the event loop waits: about half a millisecond."""


class PostgresContents:
    """A period as it was in one snapshot: its ladders, ordered as an index orders them."""

    def __init__(self, position: int, gathered: Gathered) -> None:
        """O(n log n), n entries of the period; see `Gathered.ordered`."""
        self.position = position
        self._players, self._numbers = gathered.players, gathered.numbers
        self._sets = {name[2]: gathered.ordered(name) for name in gathered.ladders}

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
        names, scopes = await self._store.all_names(board.generation)
        hidden = {number_bytes(number) for number, name in scopes.items() if is_hidden(name)}
        sought = {
            number_bytes(number): name
            for number, text in names.items()
            if (name := parse_period_name(text)) in periods
        }
        found: set[bytes] = set()
        after = 0
        async with self._store.connection() as connection:
            while len(found) < len(sought) and (rows := await cards_page(connection, board, after)):
                cards = [entries for _, entries in rows]
                if hidden:
                    found |= _shown_periods(board, cards, sought, hidden)
                else:
                    found |= sought.keys() & card_periods(cards, board.shape.words)
                after = rows[-1][0]
                await next_round()
        return {sought[number] for number in found}

    async def read(self, board: Board, period: PeriodName) -> PostgresContents:
        """What a period holds. O(n log n), in memory, n entries of the period."""
        async with self._store.connection() as connection:
            # Whatever has this position or less is committed, and so the snapshot has it.
            position = await connection.fetchval("SELECT settled_position()")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                gathered = await gather(self._store, connection, board, {period})
        return await in_thread(lambda: PostgresContents(position, gathered))

    async def numbers(self, players: Sequence[str]) -> Sequence[int | None]:
        """The numbers of players."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(_NUMBERS, list(players))
        found = {row[0]: row[1] for row in rows}
        return [found.get(player) for player in players]


def _shown_periods(
    board: Board, cards: list[bytes], periods: Iterable[bytes], hidden: set[bytes]
) -> set[bytes]:
    """Those of the periods in which cards have entries that count in scopes people see."""
    columns = CardColumns(words=board.shape.words, periods=list(periods))
    columns.add(cards)
    return {stop[:4] for stop in columns.stops() if stop[4:] not in hidden}


_: type[PeriodReader] = PostgresPeriods
_contents: type[PeriodContents] = PostgresContents
