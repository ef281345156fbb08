"""Reading whole periods in the embedded profile: from the ladders in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from toprung._native import RecordReader
from toprung.domain.board import Board
from toprung.domain.digest import Digested, Digester
from toprung.domain.events import PeriodName
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.indexes.memory import MemoryIndex
from toprung.ports import PeriodReader
from toprung.waiting.pace import LongWork

ROWS_AT_ONCE: Final = 4_000
"""Rows that are read and hashed at once while the event loop waits: 0.15 ms, and 0.45 ms without
the processor's instructions for SHA-256."""


class MemoryPeriods:
    """Periods as they are in the index of this process."""

    def __init__(self, index: MemoryIndex, position: Callable[[], int]) -> None:
        """`position` tells that of the last event that the index shows."""
        self._index = index
        self._position = position

    async def periods(self, board: Board) -> Collection[PeriodName]:
        """The periods of a board that have ladders."""
        return self._index.periods(board.id)

    async def occupied(self, board: Board, periods: Collection[PeriodName]) -> set[PeriodName]:
        """Those of the periods in which somebody has an entry. O(k)."""
        find = self._index.find
        return {name for name in periods if find(Ladder(board.id, *name, GLOBAL))}

    async def digested(self, board: Board, period: PeriodName) -> Digested:
        """What a period holds; it is read in slices. O(n)."""
        shape, position = board.shape, self._position()
        reader = RecordReader(
            tied=shape.tied, descending=shape.descending, last_wins=shape.last_wins
        )
        digester = Digester(reader.digest_rows)
        everybody = self._index.find(Ladder(board.id, *period, GLOBAL))
        found = [each for each in self._index.sets(board.id) if each[0][1:3] == period]
        async with LongWork() as work:
            for ladder, ranked in sorted(found, key=lambda each: each[0].scope.encode()):
                size = len(ranked)
                digester.begin(ladder.scope, size)
                for start in range(0, size, ROWS_AT_ONCE):
                    digester.add(*ranked.export(start, min(start + ROWS_AT_ONCE, size)))
                    if work.is_due():
                        await work.rest()
        players = 0 if everybody is None else len(everybody)
        return Digested(position, players, digester.entries, digester.digest)


_: type[PeriodReader] = MemoryPeriods
