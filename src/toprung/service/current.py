"""What a board is like at the moment: current periods, and versions that tell news from old."""

from __future__ import annotations

from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.standing import ReadablePeriod
from toprung.service.board_access import BoardAccess
from toprung.service.view import current_period


class BoardCurrent(BoardAccess):
    """What is current."""

    __slots__ = ()

    async def current_periods(self) -> dict[str, ReadablePeriod]:
        """The current period of each window."""
        board = await self._journal.board(self.id)
        now = self._clock.now()
        periods = ((window.name, current_period(board, window, now)) for window in board.windows)
        return {
            name: ReadablePeriod(
                period.id,
                None if period.opens_at is None else instant_datetime(period.opens_at),
                None if period.closes_at is None else instant_datetime(period.closes_at),
            )
            for name, period in periods
        }

    # Spelled out, as in `standing`: a service asks it before every first page that it has kept.
    async def version(
        self, *, window: str | None = None, period: str | None = None, scope: str = GLOBAL
    ) -> tuple[Ladder, int]:
        """The ladder that these options name, and the position of the last event that changed it.

        While it stays the same, every read of the ladder answers the same.
        Options: `toprung.LadderOptions`.
        """
        view = self._view_on(await self._journal.board(self.id), window, period, scope, None)
        return view.ladder, await self._index.version(view.ladder)
