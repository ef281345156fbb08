"""What is read of periods that have ended, to close, settle and archive them."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Collection, Sequence
from typing import NamedTuple, Protocol

from toprung.domain.board import Board
from toprung.domain.events import PeriodName


class PeriodRows(NamedTuple):
    """Consecutive entries of one ladder, in columns."""

    numbers: bytes
    """Of the players: native 64-bit integers."""
    records: bytes
    """One after the other."""
    ids: tuple[bytes, bytes]
    """Of the players: native 32-bit offsets, one more than entries, and their UTF-8 texts."""
    has_erased: bool = False
    """Whether some ids are empty: those players were erased."""

    @classmethod
    def of(cls, numbers: bytes, records: bytes, offsets: Sequence[int], ids: bytes) -> PeriodRows:
        """Rows whose offsets are a list."""
        has_erased = any(map(int.__eq__, offsets, offsets[1:]))
        return cls(numbers, records, (array("i", offsets).tobytes(), ids), has_erased)

    def __len__(self) -> int:
        return len(self.numbers) // 8


class PeriodContents(Protocol):
    """All entries of a period, at one moment or later than its position.

    Whatever was recorded up to the position is in it. Where it is read while something changes,
    `State.has_changed` says so when something is recorded about it.
    """

    @property
    def position(self) -> int:
        """Of the journal."""
        ...

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        ...

    def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first; some thousand at a time."""
        ...


class PeriodReader(Protocol):
    """Reads whole periods from the truth, or from what is exactly as new."""

    async def periods(self, board: Board) -> Collection[PeriodName]:
        """The periods of a board in which anybody has an entry; others may be among them."""
        ...

    async def occupied(self, board: Board, periods: Collection[PeriodName]) -> set[PeriodName]:
        """Those of the periods in which somebody has an entry."""
        ...

    async def read(self, board: Board, period: PeriodName) -> PeriodContents:
        """What a period holds."""
        ...

    async def numbers(self, players: Sequence[str]) -> Sequence[int | None]:
        """The numbers of players; None for those who are not known."""
        ...
