"""Where a cluster's journal hands over the cards that it has committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from toprung.domain.board import Board
from toprung.domain.card import Card


class CardChange(NamedTuple):
    """A player's new card, and the one that it replaces."""

    card: Card
    before: Card | None
    """None: whatever the index has; only versions tell."""


class AskedPlace(NamedTuple):
    """A player's entry in a period, of which somebody wants to know the places."""

    player: str
    period: bytes
    """The number of the period."""
    before: bytes | None
    """The entry until the commit, as on a card."""
    after: bytes | None
    """The entry since then."""


class Moved(NamedTuple):
    """What lay before an entry of everybody's ladder until a change, and what does since."""

    before: int | None
    """As the board's ranking counts; None: there was no entry."""
    after: int | None
    total: int


class CardChanges(NamedTuple):
    """Cards of one board that a committed batch changed; `outbox_id` is its row, 0: it has none."""

    outbox_id: int
    board: Board
    cards: Sequence[CardChange]
    asked: Sequence[AskedPlace] = ()


Places: TypeAlias = Mapping[tuple[str, bytes], Moved]
"""By player and number of the period; those that cannot be told are missing."""


class Applied(NamedTuple):
    """What became of changes, one by one."""

    is_done: bool
    """Whether the index has them; if not, it will get them."""
    places: Places


class CardSink(Protocol):
    """Where a journal hands over what it has committed.

    But for `close_board` nothing raises Unavailable: what cannot be done now is done later.
    """

    async def apply(self, changes: CardChanges) -> Applied:
        """Apply changes, and tell the places that are asked for.

        They are those just before and just after the changes came into the index. Where the index
        has another card than the one that is replaced, no places are told.
        """
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
