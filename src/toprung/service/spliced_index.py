"""The index as a shadow-banned player sees it: its own entry among those of everybody else.

Its entry is on the hidden twin of a ladder. What is asked about the ladder is answered by the index
itself, and then as if the entry were there: counts behind it grow by one, and its row is
put where it belongs. So every read works without knowing of restrictions.

The parts of an answer are asked for one after another, so on a board that changes meanwhile they
may be moments apart.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeAlias

from toprung.domain.board import Board
from toprung.domain.ladder import Ladder, PastLadder, UndenseLadder
from toprung.domain.ranking import Counts
from toprung.domain.trust.restriction import hidden_scope, plain_scope
from toprung.ports import LadderIndex, Place, Slice

OwnScopes: TypeAlias = Callable[[Ladder], Awaitable[Sequence[str]]]
"""The scopes of a ladder's period in which the player has an entry."""


class Own(NamedTuple):
    """The player's own entry, as it would stand on a ladder."""

    player: str
    place: Place
    key: bytes
    tie: bytes
    is_alone: bool
    """Whether nobody on the ladder is tied with it."""

    def is_before(self, key: bytes, player: str) -> bool:
        """Whether it lies before a point of the order; a short key is a prefix."""
        return self.key + self.player.encode() < key + player.encode()

    def beside(self, counts: Counts, tie: bytes) -> Counts:
        """The counts of another entry, with this one there."""
        is_better = self.tie < tie
        return Counts(
            counts.offset,
            counts.tied_before + is_better,
            counts.distinct_before + (is_better and self.is_alone),
        )


class SplicedIndex:
    """An index in which one player's hidden entries are visible."""

    def __init__(
        self, index: LadderIndex, board: Board, player: str, own_scopes: OwnScopes
    ) -> None:
        self._index = index
        self._player = player
        self._own_scopes = own_scopes
        self._order, self._tied = 8 * board.shape.order, 8 * board.shape.tied

    async def _own(self, ladder: Ladder) -> Own | None:
        """The player's entry; None: it has none, or is not hidden there."""
        if isinstance(ladder, PastLadder):
            return None
        hidden = UndenseLadder(*ladder._replace(scope=hidden_scope(ladder.scope)))
        found = await self._index.place(hidden, self._player)
        if found is None:
            return None
        key, tie = found.record[: self._order], found.record[: self._tied]
        offset, total = await self._point(ladder, key, self._player)
        beyond = _after(tie)
        keys = [tie] if beyond is None else [tie, beyond]
        before, until = [*await self._index.count_before(ladder, keys), total][:2]
        counts, is_alone = await self.before_tie(ladder, tie)
        place = Place(offset, before, counts.distinct_before, until + 1, total + 1, found.record)
        return Own(self._player, place, key, tie, is_alone)

    async def before_tie(self, ladder: Ladder, tie: bytes) -> tuple[Counts, bool]:
        """What others have before a result that is tied in these words, and whether none is tied.

        The offset is that of the first who is.
        """
        group = await self._index.slice_at(ladder, tie, "", 1, 1, full=False)
        if not group.records:
            return Counts(0, 0, 0), True
        passed = int(group.records[0][: self._tied] < tie)
        before = group.first.offset + passed
        is_alone = all(record[: self._tied] != tie for record in group.records)
        return Counts(before, before, group.first.distinct_before + passed), is_alone

    async def _point(self, ladder: Ladder, key: bytes, player: str) -> tuple[int, int]:
        """How many entries of the ladder itself lie before a point, and how many there are."""
        near = await self._index.slice_at(ladder, key, player, 1, 1, full=False)
        if not near.records:
            return 0, near.total or await self._index.size(ladder)
        wanted = key + player.encode()
        rows = zip(near.records, near.players, strict=True)
        passed = sum(record[: self._order] + who.encode() < wanted for record, who in rows)
        return near.first.offset + passed, near.total

    # --- places ----------------------------------------------------------------------------------

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where a player stands. O(log n)."""
        return (await self.places(ladder, [player]))[0]

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """Where many players stand. O(k log n)."""
        found = await self._index.places(ladder, players)
        own = await self._own(ladder)
        if own is None:
            return found
        pairs = zip(players, found, strict=True)
        return [own.place if who == own.player else self._beside(own, who, at) for who, at in pairs]

    def _beside(self, own: Own, player: str, place: Place | None) -> Place | None:
        if place is None:
            return None
        tie = place.record[: self._tied]
        counts = own.beside(place, tie)
        return Place(
            place.offset + own.is_before(place.record[: self._order], player),
            counts.tied_before,
            counts.distinct_before,
            place.tied_until + (own.tie <= tie),
            place.total + 1,
            place.record,
        )

    async def among(
        self, ladder: Ladder, player: str, others: Sequence[str], limit: int | None
    ) -> tuple[int, int, list[tuple[str, Place]]]:
        """The player and others, as far as they have an entry, best first. O(k log n)."""
        own = await self._own(ladder)
        if own is None:
            return await self._index.among(ladder, player, others, limit)
        _, _, all_found = await self._index.among(ladder, player, others, None)
        found = [
            (who, place)
            for who, at in all_found
            if (place := self._beside(own, who, at)) is not None
        ]
        if own.player == player or own.player in set(others):
            found.append((own.player, own.place))
        found.sort(key=lambda each: (each[1].record[: self._order], each[0].encode()))
        best = found if limit is None else found[:limit]
        last = best[-1][1].record[: self._tied] if best else b""
        tied_until = sum(place.record[: self._tied] <= last for _, place in found)
        return len(found), tied_until, best

    # --- slices ----------------------------------------------------------------------------------

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop). O(log n + k)."""
        own = await self._own(ladder)
        if own is None:
            return await self._index.slice(ladder, start, stop)
        return await self._slice(ladder, own, start, stop)

    async def _slice(self, ladder: Ladder, own: Own, start: int, stop: int) -> Slice:
        start, stop = max(0, start), min(stop, own.place.total)
        at = own.place.offset
        shift_start, shift_stop = int(start > at), int(stop > at)
        found = await self._index.slice(ladder, start - shift_start, max(stop - shift_stop, 0))
        players, records = list(found.players), list(found.records)
        if start <= at < stop:
            players.insert(at - start, own.player)
            records.insert(at - start, own.place.record)
        if not records:
            return Slice(Counts(start, 0, 0), own.place.total, [], [], 0)
        is_first, is_last = players[0] == own.player, players[-1] == own.player
        first: Counts = own.place if is_first else own.beside(found.first, self._tie(records[0]))
        tied_until = found.tied_until + (own.tie <= self._tie(records[-1]))
        return Slice(
            Counts(start, first.tied_before, first.distinct_before),
            own.place.total,
            players,
            records,
            own.place.tied_until if is_last else tied_until,
        )

    def _tie(self, record: bytes) -> bytes:
        return record[: self._tied]

    async def fingerprint(self, ladder: Ladder, stop: int) -> bytes | None:
        """The `fingerprint` of the slice [0, stop). O(log n + k)."""
        return (await self.slice(ladder, 0, stop)).fingerprint()

    async def slice_around(
        self, ladder: Ladder, player: str, above: int, below: int
    ) -> Slice | None:
        """A player with neighbours. O(log n + k)."""
        own = await self._own(ladder)
        if own is None:
            return await self._index.slice_around(ladder, player, above, below)
        place = await self.place(ladder, player)
        if place is None:
            return None
        return await self._full(ladder, own, place.offset - above, place.offset + below + 1)

    async def slice_at(
        self, ladder: Ladder, key: bytes, player: str, above: int, below: int, *, full: bool
    ) -> Slice:
        """The entries around a point of the order. O(log n + k)."""
        own = await self._own(ladder)
        if own is None:
            return await self._index.slice_at(ladder, key, player, above, below, full=full)
        point = (await self._point(ladder, key, player))[0] + own.is_before(key, player)
        read = self._full if full else self._slice
        return await read(ladder, own, point - above, point + below)

    async def _full(self, ladder: Ladder, own: Own, start: int, stop: int) -> Slice:
        """A slice that is shifted at the ends so that it stays full."""
        total = own.place.total
        if start < 0:
            start, stop = 0, stop - start
        if stop > total:
            start, stop = start - (stop - total), total
        return await self._slice(ladder, own, start, stop)

    # --- counts ----------------------------------------------------------------------------------

    async def count_before(self, ladder: Ladder, keys: Sequence[bytes]) -> list[int]:
        """How many entries lie before each key or prefix. O(k log n)."""
        found = await self._index.count_before(ladder, keys)
        own = await self._own(ladder)
        if own is None:
            return found
        return [count + (own.key[: len(k)] < k) for count, k in zip(found, keys, strict=True)]

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has. O(log n)."""
        own = await self._own(ladder)
        return await self._index.size(ladder) if own is None else own.place.total

    async def scopes(self, ladder: Ladder, after: str, limit: int) -> list[tuple[str, int]]:
        """The first scopes of the ladder's period after a name."""
        found = dict(await self._index.scopes(ladder, after, limit))
        for scope in map(plain_scope, await self._own_scopes(ladder)):
            if scope > after:
                found[scope] = await self.size(ladder._replace(scope=scope))
        return sorted(found.items())[:limit]

    async def version(self, ladder: Ladder) -> int:
        """The position of the last event that changed the ladder, or its twin."""
        own = await self._index.version(ladder)
        if isinstance(ladder, PastLadder):
            return own
        twin = ladder._replace(scope=hidden_scope(ladder.scope))
        return max(own, await self._index.version(twin))


def _after(prefix: bytes) -> bytes | None:
    """The least bytes of the same length that sort after everything that begins with a prefix.

    None: nothing does.

    >>> _after(bytes([0, 255])), _after(bytes([255, 255]))
    (b'\\x01\\x00', None)
    """
    number = int.from_bytes(prefix) + 1
    return None if number >> 8 * len(prefix) else number.to_bytes(len(prefix))


_: type[LadderIndex] = SplicedIndex
