"""What is read of periods that have ended, to close and settle them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from toprung.domain.board import Board
from toprung.domain.digest import Digested
from toprung.domain.events import PeriodName


class PeriodReader(Protocol):
    """Reads whole periods from the truth, or from what is exactly as new."""

    async def periods(self, board: Board) -> Collection[PeriodName]:
        """The periods of a board in which anybody has an entry; others may be among them."""
        ...

    async def occupied(self, board: Board, periods: Collection[PeriodName]) -> set[PeriodName]:
        """Those of the periods in which somebody has an entry."""
        ...

    async def digested(self, board: Board, period: PeriodName) -> Digested:
        """What a period holds, all at one moment or later than its position.

        Whatever was recorded up to the position is in it. Where it was read while something
        changed, `State.has_changed` says so when the period is settled.
        """
        ...
