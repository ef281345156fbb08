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


class AskedPlaces(NamedTuple):
    """Entries of a player of which somebody wants to know the places, on everybody's ladders."""

    player: str
    periods: tuple[bytes, ...]
    """The numbers of the periods."""
    before: bytes
    """The entries of the card until the commit."""
    after: bytes
    """Those since then."""


Moved: TypeAlias = tuple[int, int, int]
"""What lay before an entry until a change, what does since, and of how many, as the board's ranking
counts; -1: there was, or is, no entry."""


class CardChanges(NamedTuple):
    """Cards of one board that a committed batch changed; `outbox_id` is its row, 0: it has none."""

    outbox_id: int
    board: Board
    cards: Sequence[CardChange]
    asked: Sequence[AskedPlaces] = ()


Places: TypeAlias = Mapping[tuple[str, tuple[bytes, ...]], Sequence[Moved]]
"""By player and periods, as they were asked for; those that cannot be told are missing."""


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
