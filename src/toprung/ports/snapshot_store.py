"""Where snapshots of ladders are kept, and where their orders are read from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from toprung.domain.board import Board
from toprung.domain.events import PeriodName
from toprung.domain.snapshots import Part
from toprung.ports.leases import Lease

LadderName: TypeAlias = tuple[str, str, str]
"""Window, period and scope of a ladder, on a board that is known."""


class Snapshot(NamedTuple):
    """The order of a board's ladders at one moment."""

    number: int
    """Grows with every snapshot of a board."""
    boundary: int
    """The moment that it was due at (microseconds): one per board and boundary."""
    name: str
    """What the boundary is called, such as ``2026-11-15``."""
    taken_at: int


class KeptLadder(NamedTuple):
    """A ladder of a snapshot."""

    ladder: int
    """Its place among the ladders of the snapshot."""
    window: str
    period: str
    scope: str
    total: int
    position: int
    """Of the journal: it shows everything that was recorded up to there."""


class PartPlace(NamedTuple):
    """A place in a ladder of a snapshot: of a player's number, an offset or a tie group."""

    boundary: int
    ladder: int
    kind: int
    place: int


class LadderOrder(NamedTuple):
    """The order of a ladder, as `domain.snapshots.parts_of` takes it."""

    name: LadderName
    position: int
    numbers: Sequence[int]
    starts: bytes
    words: Sequence[int]


class OrderReader(Protocol):
    """Reads the orders of ladders, from the truth or from what is exactly as new."""

    def orders(self, board: Board, periods: Collection[PeriodName]) -> AsyncIterator[LadderOrder]:
        """Every ladder of the periods that has entries, each as it was at one moment.

        UnknownBoard if the board was deleted or created again meanwhile.
        """
        ...


class SnapshotStore(Protocol):
    """Snapshots, by the generation of their board.

    A snapshot is there, whole, from when `finish` returns, and is not there before. What was
    begun and not finished is invisible until it is removed by `clear`. Everything that is written
    is fenced by the lease and durable when the method returns.
    """

    # --- reading ---------------------------------------------------------------------------------

    async def all(self, generation: int) -> list[Snapshot]:
        """The snapshots of a board, newest first."""
        ...

    async def mark(self, generation: int) -> object:
        """A value that is another one when a snapshot of the board has come or gone.

        Of other processes' snapshots it may tell a moment later.
        """
        ...

    async def newest(
        self, generation: int, ladder: LadderName
    ) -> tuple[Snapshot, KeptLadder] | None:
        """A ladder in the newest snapshot that has it."""
        ...

    async def of_window(
        self, generation: int, window: str, scope: str, before: int | None, limit: int
    ) -> list[tuple[Snapshot, KeptLadder]]:
        """Ladders of a window and scope, newest first, of snapshots below a number."""
        ...

    async def parts(self, generation: int, start: PartPlace, limit: int) -> list[Part]:
        """Parts of one kind and ladder in order, from the first whose `first` is not below."""
        ...

    async def parts_at(self, generation: int, wanted: Sequence[PartPlace]) -> list[Part | None]:
        """For each place the last part whose `first` is not above it."""
        ...

    async def generations(self) -> set[int]:
        """Of which boards anything is kept, finished or not."""
        ...

    # --- writing ---------------------------------------------------------------------------------

    async def write(
        self,
        lease: Lease,
        key: tuple[int, int],
        ladders: Sequence[KeptLadder],
        parts: Sequence[tuple[int, Part]],
    ) -> None:
        """Keep some ladders, and parts of ladders by their index, for (generation, boundary)."""
        ...

    async def finish(self, lease: Lease, generation: int, snapshot: Snapshot, ladders: int) -> bool:
        """Have a snapshot be there, with everything that was written for its boundary.

        False, and nothing is changed, if there is one of the same boundary already, or if there are
        not so many ladders. Its number is given here.
        """
        ...

    async def drop(self, lease: Lease, generation: int, boundaries: Sequence[int]) -> None:
        """Have snapshots be gone; `clear` removes what they leave behind."""
        ...

    async def clear(self, lease: Lease, generation: int) -> None:
        """Remove what belongs to no snapshot, some of it at a time."""
        ...
