"""The index, the disposable order of every ladder, and the shapes of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toprung.domain.ladder import Ladder
from toprung.domain.ranking import Counts, TieCounts


class Place(TieCounts, frozen=True, gc=False):
    """Where a player stands on a ladder: what lies before its entry, of how many, and the entry."""

    total: int
    record: bytes
    """The version in it is the entry's, or that of a later change of the player on the board."""


class Slice(NamedTuple):
    """Consecutive entries of one ladder, with the counts of the first and the ties of the last."""

    first: Counts
    """What lies before the first of them."""
    total: int
    players: list[str]
    records: list[bytes]
    """Those of the players' entries; an index that does not know their versions has 0 there."""
    tied_until: int
    """Entries of the ladder that are not worse than the last of these; 0 if there are none here."""

    def fingerprint(self) -> bytes:
        r"""Equal for equal entries of ladders of equal size, tied with as many: ids have no NUL.

        >>> Slice(Counts(0, 0, 0), 3, ["ann", "bob"], [b"\1", b"\2"], 2).fingerprint()
        b'3 2 2 \x01\x02ann\x00bob'
        """
        sizes = f"{self.total} {self.tied_until} {len(self.records)} ".encode()
        return sizes + b"".join(self.records) + "\0".join(self.players).encode()


class LadderIndex(Protocol):
    """The order of ladders, one at a time.

    Guarantees: every call sees one consistent state of its ladder, in which each submission
    counts on all of its ladders or on none; a ladder nobody is on is an empty one; a ladder
    that is not complete raises NotReady and never answers wrongly.

    An index that other programs wait for may answer a call for many entries, or for a dense rank
    that it has to count, in parts: of one moment where the ladder holds still, and where it does
    not, moments apart. A submission that touches very many ladders may reach them one by one.
    """

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stands; None when it has no entry. O(log n)."""
        ...

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """`place` of many players, at one moment."""
        ...

    async def among(
        self, ladder: Ladder, player: str, others: Sequence[str], limit: int | None
    ) -> tuple[int, int, list[tuple[str, Place]]]:
        """How many of the player and the others have an entry, and the best of these, in order.

        At most `limit` of them; None means all. The second number tells how many of those that
        have an entry are not worse than the last of the best.
        """
        ...

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop), as far as there are any."""
        ...

    async def fingerprint(self, ladder: Ladder, stop: int) -> bytes | None:
        """The `fingerprint` of the slice [0, stop); None where that takes as long as reading it."""
        ...

    async def slice_around(
        self, ladder: Ladder, player: str, above: int, below: int
    ) -> Slice | None:
        """The player with neighbours; shifted at the ends so that it stays full."""
        ...

    async def slice_at(
        self, ladder: Ladder, key: bytes, player: str, above: int, below: int, *, full: bool
    ) -> Slice:
        """`above` entries before the point (key, player) and `below` from it on.

        The point need not be an entry; a short key is a prefix; "" sorts before all players.
        """
        ...

    async def count_before(self, ladder: Ladder, keys: Sequence[bytes]) -> list[int]:
        """For each key or prefix, how many entries lie before it, at one moment."""
        ...

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has."""
        ...

    async def scopes(self, ladder: Ladder, after: str, limit: int) -> list[tuple[str, int]]:
        """The scopes of the ladder's period that have entries, with their sizes, by name.

        Only those that sort after a name ("" sorts before all), and at most `limit`.
        """
        ...

    async def version(self, ladder: Ladder) -> int:
        """The position of the last event that changed the ladder.

        0 if none did; it may be 0 again, too, when nobody is on the ladder any more.
        """
        ...


class PastIndex(LadderIndex, Protocol):
    """The order of ladders that change no more: those in archives."""

    async def scopes_of(self, ladder: Ladder, player: str) -> list[str]:
        """The scopes of the ladder's period in which the player has an entry. O(log n)."""
        ...


class Index(LadderIndex, Protocol):
    """The disposable order of every ladder."""

    async def ladders(self, board_id: str) -> list[tuple[Ladder, int]]:
        """The board's ladders that have entries, with their sizes."""
        ...
