"""What reading and writing one board have in common."""

from __future__ import annotations

from typing import NamedTuple

from toprung.domain.board import Board
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import Ranking
from toprung.domain.window import EARLIEST, LATEST
from toprung.ports import Clock, Index, Journal
from toprung.service.view import View, current_period, view_of


class BoardAccess:
    """One board by its id, and the ports to reach it. Threads may share it."""

    __slots__ = ("_clock", "_index", "_journal", "_recent", "_source", "id")

    def __init__(
        self, board_id: str, journal: Journal, index: Index, clock: Clock, source: str
    ) -> None:
        self.id = board_id
        self._journal = journal
        self._index = index
        self._clock = clock
        self._source = source
        self._recent: _RecentView | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r}>"

    async def rules(self) -> Board:
        """The board's rules as they are now."""
        return await self._journal.board(self.id)

    async def _view(
        self,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
    ) -> View:
        board = await self._journal.board(self.id)
        return self._view_on(board, window, period, scope, ranking)

    def _view_on(
        self,
        board: Board,
        window: str | None,
        period: str | None,
        scope: str,
        ranking: Ranking | None,
    ) -> View:
        """`view_of`, without its work when the same was asked before: a fifth of a read."""
        now = self._clock.now()
        if period is not None:
            return view_of(board, now, window, period, scope, ranking)
        asked = (window, scope, ranking)
        recent = self._recent
        if recent is not None:
            known, of_board, opens_at, closes_at, view = recent
            if of_board is board and known == asked and opens_at <= now < closes_at:
                return view
        view = view_of(board, now, window, None, scope, ranking)
        current = current_period(board, board.window(window), now)
        self._recent = _RecentView(
            asked,
            board,
            EARLIEST if current.opens_at is None else current.opens_at,
            LATEST if current.closes_at is None else current.closes_at,
            view,
        )
        return view


class _RecentView(NamedTuple):
    """A view of a current period; never changed, only replaced."""

    asked: tuple[str | None, str, Ranking | None]
    board: Board
    opens_at: int
    closes_at: int
    view: View
