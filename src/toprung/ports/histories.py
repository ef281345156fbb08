"""The truth at one moment, player by player, to count cards anew from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

from toprung.domain.board import Board
from toprung.domain.events import BoardSet, Event
from toprung.domain.ladder import Stop


class RulesSet(NamedTuple):
    """A version of a board's rules, as it was recorded."""

    board: Board
    change: BoardSet
    recorded_at: int


class HistoryRow(NamedTuple):
    """One thing that the truth says of a player; which fields matter depends on `kind`."""

    player: int
    """The player's number."""
    position: int
    kind: str
    """``known`` (its id), ``score``, ``event``, or ``card``."""
    generation: int | None
    at: int | None
    score: int | None
    subscore: int | None
    version: int
    """The version of the rules that decided a score."""
    stops: tuple[Stop, ...]
    """Where a score counts."""
    id: str | None
    event: Event | None
    """What else happened to it."""
    entries: bytes | None
    """A card's."""


class Histories(Protocol):
    """The truth at one moment, player by player."""

    async def rules(self) -> list[RulesSet]:
        """Every version of the rules of every board that exists, in the order of positions."""
        ...

    async def names(
        self, generation: int
    ) -> tuple[dict[bytes, tuple[str, str]], dict[bytes, tuple[str, ...]]]:
        """What the numbers in the cards of a board stand for: (window, period), and scopes."""
        ...

    def rows(self) -> AsyncIterator[list[HistoryRow]]:
        """All rows, a bounded number at a time: by player, `known` first and cards last."""
        ...
