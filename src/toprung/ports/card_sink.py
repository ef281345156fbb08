"""Where a cluster's journal hands over the cards that it has committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.ladder import Ladder
from toprung.domain.ranking import Counts


class CardChanges(NamedTuple):
    """Cards of one board that a committed batch changed; `outbox_id` is its row."""

    outbox_id: int
    board: Board
    cards: Sequence[Card]


class CardSink(Protocol):
    """Where a journal hands over what it has committed.

    But for `close_board` nothing raises Unavailable: what cannot be done now is done later.
    """

    async def before(self, wanted: Sequence[tuple[Ladder, str]]) -> list[Counts | None]:
        """What lies before each player on its ladder at the moment, where that can be told."""
        ...

    async def apply(self, changes: Sequence[CardChanges]) -> list[int]:
        """Apply changes; the ids of those that were."""
        ...

    async def close_board(self, board: Board) -> None:
        """Let nobody read the board until it is rebuilt; Unavailable if that is impossible."""
        ...

    async def rebuild_board(self, board: Board) -> None:
        """The board is new, or its ladders are others: derive them from its cards."""
        ...

    async def drop_board(self, board: Board) -> None:
        """The board was deleted."""
        ...
