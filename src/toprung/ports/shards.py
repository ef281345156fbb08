"""The index's side of catching up: the shard of each board, and the names that cards need there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.ladder import Ladder
from toprung.errors import IndexUnavailable
from toprung.ports.card_sink import CardChanges, Places


class Names(Protocol):
    """What the numbers in cards stand for."""

    async def all_names(self, generation: int) -> tuple[dict[int, str], dict[int, str]]:
        """Every period name and every scopes name of a board, by number."""
        ...


class ShardState(NamedTuple):
    """What the index says of one board shard."""

    ready: bool
    reached: int
    """The greatest outbox id that was applied; stores call it the mark."""
    server: str
    """Who says so: another server may know less."""


class Shards(Protocol):
    """The index's side of catching up. Everything raises Unavailable when it is not reachable."""

    async def servers(self) -> tuple[dict[str, str], IndexUnavailable | None]:
        """What tells each server from any other, and from itself before it was emptied, by name.

        Those that cannot be reached are left out; the second part is what one of them raised.
        """
        ...

    def server(self, generation: int) -> str:
        """The name of the server that a board's shard is on."""
        ...

    async def state(self, generation: int) -> ShardState:
        """Whether the shard is complete, and how far it is."""
        ...

    async def begin_rebuild(self, board: Board) -> bytes:
        """Empty the shard and accept cards, but no reads; a token for `finish_rebuild`."""
        ...

    async def finish_rebuild(self, board: Board, token: bytes) -> bool:
        """Open the shard for reads; False when it was lost meanwhile."""
        ...

    async def move(self, changes: CardChanges) -> Places:
        """Apply changes of cards, and tell the places that are asked for.

        Where the shard has another card than the one that is replaced, the new one is applied by
        its version and its player's places are not told.
        """
        ...

    async def put(
        self, board: Board, outbox_id: int, cards: Sequence[Card], *, force: bool
    ) -> None:
        """Apply cards by their versions; with `force` also those that seem to be known."""
        ...

    async def differing(self, board: Board, cards: Sequence[Card]) -> list[tuple[str, str]]:
        """(player, ladder within the board) where an entry is missing; "" if the card differs."""
        ...

    async def ghosts(self, board: Board, ladder: Ladder, *, remove: bool) -> list[str]:
        """The players on a ladder whose card does not say so; taken off if wanted."""
        ...

    def players(self, board: Board) -> AsyncIterator[list[str]]:
        """Every player that has a card in the shard, some of them twice."""
        ...

    async def forget(self, board: Board, players: Sequence[str]) -> None:
        """Drop what is left of erased players: their empty cards."""
        ...

    async def expire(self, board: Board, horizon: int, *, anew: bool = False) -> int:
        """Drop the ladders of periods whose retention had ended at this time; how many there were.

        No card is put on such a ladder from now on. An earlier time than before is ignored, except
        with `anew`: then every card must be put again with `force`.
        """
        ...

    async def clear_line(self, tag: str) -> int:
        """Drop all shards of a line that has ended; how many keys there were."""
        ...

    async def remove(self, generation: int) -> None:
        """Forget the shard; harmless if there is none."""
        ...
