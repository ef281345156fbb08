"""Where followers read the journal, and keep how far they are with what they derived from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from toprung.domain.effects import Effect
from toprung.domain.events import Event, EventBody
from toprung.ports.leases import Lease

HELD: Final = "held: "
"""How the fault of a follower begins that only waits."""


class Selection(msgspec.Struct, frozen=True):
    """Which events a follower wants to see."""

    kinds: tuple[type[EventBody], ...]
    newest: int | None = None
    """Of submissions (`Scored`), only so many, the newest that were accepted, per each of `per`;
    None: all of them. Counted within one stretch."""
    per: Literal["board", "route"] = "board"
    is_visible: bool = False
    """Whether to see only what the index shows by now."""


class Stretch(NamedTuple):
    """A part of the journal: the positions in (after, until]."""

    after: int
    until: int
    """Nothing can appear any more up to here; equal to `after` when there is nothing new."""
    events: Sequence[Event]
    """Those that were asked for, in order."""


class FollowerState(NamedTuple):
    """How far a follower is."""

    position: int
    """All events up to it are accounted for in what it derived."""
    note: bytes = b""
    """The follower's own."""
    fault: str | None = None
    """Why it has stopped there or, after `HELD`, why it waits there."""

    @property
    def is_held(self) -> bool:
        """Whether it waits, and nothing is wrong with the events."""
        return self.fault is not None and self.fault.startswith(HELD)


class DerivedRow(NamedTuple):
    """Something that a follower derived, kept under a board and a key."""

    board: str
    key: bytes
    value: bytes | None
    """None: the row goes."""
    player: int | None = None
    """The number by which `rows_of_player` finds it."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What a follower makes of a stretch; recorded whole, or not at all."""

    position: int
    """How far it is then."""
    rows: Sequence[DerivedRow] = ()
    keep: Mapping[str, int] = {}
    """Boards of which only so many rows stay, those with the greatest keys."""
    dropped: Sequence[str] = ()
    """Boards of which all rows go, before `rows` are written.

    Of many rows, those with the smallest keys go earlier, some at a time.
    """
    effects: Sequence[Effect] = ()
    note: bytes | None = None
    """None: as it was."""
    secrets: Mapping[int, bytes] = {}
    """New secrets of players, for the audit log; who was erased meanwhile gets none."""


class FollowerStore(Protocol):
    """What followers read and write. Nothing here is part of the journal's sequence.

    `commit` and what follows it are durable when they return, and fenced by a lease. Rows are there
    as long as their follower has a position: one that is forgotten has none at once, however long
    it takes to remove them, a few thousand in a commit. It begins anew when the last one is gone.
    """

    async def read(self, after: int, limit: int, selection: Selection) -> Stretch:
        """The next stretch after a position: `limit` positions long, or shorter at the end."""
        ...

    async def last(self) -> tuple[int, int]:
        """The last position that can be read, and when it was recorded; (0, 0) if there is none."""
        ...

    async def recorded_after(self, position: int) -> int | None:
        """When the first event after a position was recorded; None if there is none."""
        ...

    async def states(self) -> dict[str, FollowerState]:
        """Every follower that ever committed, by name."""
        ...

    async def rows(
        self, follower: str, board: str, before: bytes | None = None, limit: int = 1000
    ) -> list[tuple[bytes, bytes]]:
        """(key, value) of a board's rows, greatest keys first, below `before`."""
        ...

    async def find_rows(
        self, follower: str, wanted: Sequence[tuple[str, bytes]]
    ) -> dict[tuple[str, bytes], bytes]:
        """The values of rows by (board, key), where there are any."""
        ...

    async def rows_of_player(self, follower: str, player: int) -> list[tuple[str, bytes]]:
        """(board, key) of the rows that name a player."""
        ...

    async def commit(self, lease: Lease, follower: str, expected: int | None, step: Step) -> None:
        """Move a follower on from the position where it is expected to be (None: new).

        Atomic. Clears its fault. LeaseLost if it is elsewhere, because somebody else moved it.
        """
        ...

    async def stop(
        self, lease: Lease, follower: str, expected: int | None, state: FollowerState
    ) -> None:
        """Note that it stays where it is, and why (`state.fault`); nothing else changes.

        LeaseLost if it is not where it is expected to be (None: new), as in `commit`.
        """
        ...

    async def reset(self, follower: str) -> None:
        """Forget a follower and everything that it derived, without a lease.

        It begins anew. A `commit` that is under way finds it elsewhere, and is refused.
        """
        ...

    async def drop(self, lease: Lease, follower: str) -> None:
        """Forget a follower and everything that it derived."""
        ...

    async def sweep(self) -> int:
        """Remove what followers left behind that were forgotten while nobody finished; how much."""
        ...
