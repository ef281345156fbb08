"""Reading whole periods in the embedded profile: from the ladders in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Final

from toprung._native import RankedSet
from toprung.domain.board import Board
from toprung.domain.events import PeriodName
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.trust.restriction import is_hidden
from toprung.indexes.fold import MemoryFold
from toprung.ports import PeriodContents, PeriodReader, PeriodRows
from toprung.waiting.pace import next_round

ROWS_AT_ONCE: Final = 4_096
"""Rows that are read while nobody else can read: about a millisecond."""


class MemoryContents:
    """A period as it is in the index of this process; it is read in slices."""

    def __init__(self, fold: MemoryFold, position: int, sets: dict[str, RankedSet]) -> None:
        self.position = position
        self._players = fold.players
        self._sets = {scope: (ranked, len(ranked)) for scope, ranked in sets.items()}

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        sizes = ((scope, size) for scope, (_, size) in self._sets.items() if size)
        return sorted(sizes, key=lambda each: each[0].encode())

    async def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first."""
        ranked, size = self._sets[scope]
        for start in range(0, size, ROWS_AT_ONCE):
            numbers, records = ranked.export(start, min(start + ROWS_AT_ONCE, size))
            yield PeriodRows(numbers, records, self._players.ids(numbers))
            await next_round()


class MemoryPeriods:
    """Periods as they are in the index of this process."""

    def __init__(self, fold: MemoryFold, position: Callable[[], int]) -> None:
        """`position` tells that of the last event that the index shows."""
        self._fold = fold
        self._position = position

    async def periods(self, board: Board) -> Collection[PeriodName]:
        """The periods of a board that have ladders."""
        return self._fold.index.periods(board.id)

    async def occupied(self, board: Board, periods: Collection[PeriodName]) -> set[PeriodName]:
        """Those of the periods in which somebody has an entry. O(k)."""
        find = self._fold.index.find
        return {name for name in periods if find(Ladder(board.id, *name, GLOBAL))}

    async def read(self, board: Board, period: PeriodName) -> MemoryContents:
        """What a period holds. O(k), k ladders of the board; its rows are read later."""
        position = self._position()
        sets = {
            ladder.scope: ranked
            for ladder, ranked in self._fold.index.sets(board.id)
            if ladder[1:3] == period and not is_hidden(ladder.scope)
        }
        return MemoryContents(self._fold, position, sets)

    async def numbers(self, players: Sequence[str]) -> Sequence[int | None]:
        """The numbers of players."""
        if len(players) == 1:  # of a standing: half the time
            return [self._fold.number(players[0])]
        return self._fold.known_numbers(players)


_: type[PeriodReader] = MemoryPeriods
_contents: type[PeriodContents] = MemoryContents
