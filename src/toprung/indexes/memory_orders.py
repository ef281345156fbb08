"""Reading whole ladders for snapshots in the embedded profile: from memory, between commits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from functools import partial
from typing import Any, Final

from toprung._native import RankedSet
from toprung.domain.board import Board
from toprung.domain.events import PeriodName
from toprung.domain.ladder import Ladder
from toprung.domain.trust.restriction import is_hidden
from toprung.errors import UnknownBoard
from toprung.indexes.fold import MemoryFold
from toprung.ports import LadderOrder, OrderReader

ENTRIES_AT_ONCE: Final = 100_000
LADDERS_AT_ONCE: Final = 200
"""That are read while the writer pauses, for a few milliseconds, unless one ladder has more."""


class MemoryOrders:
    """The orders of ladders as they are in the memory of this process."""

    def __init__(
        self,
        fold: MemoryFold,
        paused: Callable[[Callable[[], Any]], Any],
        position: Callable[[], int],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        """`paused` does something while nothing is recorded."""
        self._fold = fold
        self._paused = paused
        self._position = position
        self._in_thread = in_thread

    async def orders(
        self, board: Board, periods: Collection[PeriodName]
    ) -> AsyncIterator[LadderOrder]:
        """Every ladder of the periods that has entries; some of them at one moment. O(n)."""
        sets = self._fold.index.sets(board.id)
        wanted = (
            (ladder, ranked)
            for ladder, ranked in sets
            if ladder[1:3] in periods and not is_hidden(ladder.scope)
        )
        while some := _some(wanted):
            for order in await self._in_thread(partial(self._read, board, some)):
                yield order

    def _read(self, board: Board, some: list[tuple[Ladder, RankedSet]]) -> list[LadderOrder]:
        def read() -> list[tuple[Ladder, tuple[bytes, bytes, bytes]]]:
            current = self._fold.boards.get(board.id)
            if current is None or current.generation != board.generation:
                raise UnknownBoard(f"board {board.id!r} was deleted meanwhile")
            return [(ladder, ranked.ordered()) for ladder, ranked in some]

        position, found = self._paused(lambda: (self._position(), read()))
        return [
            LadderOrder(
                ladder[1:],
                position,
                memoryview(numbers).cast("I"),
                starts,
                memoryview(words).cast("Q"),
            )
            for ladder, (numbers, starts, words) in found
            if numbers
        ]


def _some(wanted: Iterator[tuple[Ladder, RankedSet]]) -> list[tuple[Ladder, RankedSet]]:
    """The next ladders that are read together."""
    found: list[tuple[Ladder, RankedSet]] = []
    entries = 0
    for ladder, ranked in wanted:
        found.append((ladder, ranked))
        entries += len(ranked)
        if entries >= ENTRIES_AT_ONCE or len(found) >= LADDERS_AT_ONCE:
            break
    return found


_: type[OrderReader] = MemoryOrders
