"""What reading and writing one board have in common."""

from __future__ import annotations

from toprung.domain.board import Board
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import Ranking
from toprung.ports import Clock, Index, Journal
from toprung.service.view import View, view_of


class BoardAccess:
    """One board by its id, and the ports to reach it; holds no state of its own."""

    __slots__ = ("_clock", "_index", "_journal", "_source", "id")

    def __init__(
        self, board_id: str, journal: Journal, index: Index, clock: Clock, source: str
    ) -> None:
        self.id = board_id
        self._journal = journal
        self._index = index
        self._clock = clock
        self._source = source

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
        return view_of(board, self._clock.now(), window, period, scope, ranking)
