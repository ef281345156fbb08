"""The journal's side of catching up: what the index may not know yet, and the cards to tell it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.ports.histories import Histories


class OutboxRow(NamedTuple):
    """What the index may not know yet: cards whose current state is to be applied."""

    outbox_id: int
    generation: int
    version: int
    players: Sequence[int]
    erased: Sequence[str]


class ShardReach(NamedTuple):
    """How far a shard is."""

    outbox_id: int
    server: str
    """Who told."""


class OutboxWork(Protocol):
    """What to do with rows of the outbox; answers the ids of those that were applied."""

    async def __call__(self, rows: Sequence[OutboxRow]) -> Sequence[int]:
        """Apply the rows."""
        ...


class Outbox(Protocol):
    """The journal's side of catching up."""

    async def tell(self) -> None:
        """Tell others what only this process knows: its time, and how many keys were used."""
        ...

    async def boards_token(self) -> str:
        """A text that is another one whenever a board was created, changed or deleted."""
        ...

    async def versions(self) -> dict[int, int]:
        """The version of every board, by generation."""
        ...

    async def all_boards(self) -> list[Board]:
        """Every board."""
        ...

    async def boards_of(self, generations: Collection[int]) -> dict[int, Board]:
        """Those of the boards that exist, by generation."""
        ...

    async def horizon(self) -> int:
        """The confirmed time, less a day: what was obsolete then may be destroyed."""
        ...

    async def unmarked(self, limit: int, work: OutboxWork, without: Sequence[int] = ()) -> int:
        """Hand rows nobody marked to `work`, hidden from other processes; mark what it applied.

        Answers how many there were. Boards of the generations in `without` are left out.
        """
        ...

    async def kept(self, generation: int, after: int, limit: int) -> list[OutboxRow]:
        """The rows of a board that are still kept, marked or not, by id."""
        ...

    async def cards_of(self, row: OutboxRow) -> list[Card]:
        """The current cards of the players in a row."""
        ...

    async def cards_page(self, generation: int, after: int, limit: int) -> list[tuple[int, Card]]:
        """(player number, card) of a board in the order of numbers."""
        ...

    async def cards_by_id(self, generation: int, players: Sequence[str]) -> list[Card]:
        """The cards of these players, in their order; empty ones for who has none."""
        ...

    async def sample_cards(self, generation: int, limit: int) -> list[Card]:
        """Some cards of a board, picked at random."""
        ...

    async def position(self) -> int:
        """A position that nothing recorded so far lies beyond."""
        ...

    async def reached(self, generations: Sequence[int]) -> dict[int, ShardReach]:
        """What shards are known to have reached, where anything is known."""
        ...

    async def note_reached(self, reached: Mapping[int, ShardReach]) -> None:
        """Remember what shards have reached."""
        ...

    async def former_lines(self) -> set[str]:
        """The lines before the present one whose shards may still be there."""
        ...

    async def note_cleared(self, lines: Collection[str]) -> None:
        """Remember that the shards of lines were dropped."""
        ...

    def alone(self, generation: int) -> AbstractAsyncContextManager[bool]:
        """Whether this process alone now rebuilds the board's shard."""
        ...

    def histories(self) -> AbstractAsyncContextManager[Histories]:
        """A snapshot of the truth."""
        ...
