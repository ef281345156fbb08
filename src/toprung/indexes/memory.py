"""The index in process: one ranked set of the native core per ladder.

All sets share one player table, so an id costs its bytes once. Only the journal's writer thread
changes anything here; readers on any thread see each submission on all of its ladders or on
none, because the native core publishes a batch in chunks that never split one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar, overload

from toprung._native import PlayerTable, RankedSet
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import LadderCounts
from toprung.domain.ranking import Counts
from toprung.domain.sortkey import RecordShape
from toprung.domain.trust.restriction import is_hidden
from toprung.ports import Index, Place, Slice
from toprung.waiting.pace import LongWork

if TYPE_CHECKING:
    from toprung._native import Slice as NativeSlice

_SCOPES_AT_ONCE = 1_000
T = TypeVar("T")


class PlayerNumbers(Sequence[str]):
    """Player ids that are still numbers: turned into text only where somebody looks."""

    __slots__ = ("_players", "numbers")

    def __init__(self, players: PlayerTable, numbers: array[int]) -> None:
        self._players = players
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> PlayerNumbers: ...
    def __getitem__(self, index: int | slice) -> str | PlayerNumbers:
        if isinstance(index, slice):
            return PlayerNumbers(self._players, self.numbers[index])
        return (self._players.id(self.numbers[index]) or b"").decode()

    def __iter__(self) -> Iterator[str]:
        identify = self._players.id
        return ((identify(number) or b"").decode() for number in self.numbers)


class MemoryIndex:
    """Every ladder of every board, in memory."""

    def __init__(self, players: PlayerTable | None = None) -> None:
        # Not `or`: a table whose players were all erased is empty, and must keep its numbers.
        self.players = PlayerTable() if players is None else players
        self._boards: dict[str, dict[Ladder, RankedSet]] = {}
        self._versions: dict[Ladder, int] = {}
        self._periods: dict[str, dict[tuple[str, str], dict[str, RankedSet]]] = {}
        """The sets of each board by (window, period), then by scope."""
        self._scoped: dict[str, int] = {}
        """How many of them each board has besides those of everybody."""
        self.drops = 0
        """How many ladders were dropped: whoever remembers sets looks whether this has changed."""

    # --- reads (the Index port) -------------------------------------------------------------

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stands. O(log n)."""
        board = self._boards.get(ladder.board)  # `find`, without a call: the hottest read
        ranked = None if board is None else board.get(ladder)
        found = None if ranked is None else ranked.place(player)
        return None if found is None else Place(*found)

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """Where many players stand, at one moment. O(k log n)."""
        ranked = self.find(ladder)
        if ranked is None:
            return [None] * len(players)
        places = ranked.places(list(players))
        return [None if found is None else Place(*found) for found in places]

    async def among(
        self, ladder: Ladder, player: str, others: Sequence[str], limit: int | None
    ) -> tuple[int, int, list[tuple[str, Place]]]:
        """The player and others, as far as they have an entry, best first. O(k log n)."""
        ranked = self.find(ladder)
        if ranked is None:
            return 0, 0, []
        if isinstance(others, PlayerNumbers):
            numbers = self.players.numbers([player]) + others.numbers.tobytes()
        else:
            numbers = self.players.numbers([player, *others])
        wanted = len(others) + 1 if limit is None else limit
        present, tied_until, best = ranked.best_of(numbers, wanted)
        return present, tied_until, [(friend.decode(), Place(*place)) for friend, place in best]

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop). O(log n + k)."""
        ranked = self.find(ladder)
        return _EMPTY if ranked is None else _slice(ranked.slice(start, stop))

    async def fingerprint(self, ladder: Ladder, stop: int) -> bytes | None:
        """The `fingerprint` of the slice [0, stop), without its rows. O(log n + k)."""
        ranked = self.find(ladder)
        return _EMPTY.fingerprint() if ranked is None else ranked.fingerprint(stop)

    async def slice_around(
        self, ladder: Ladder, player: str, above: int, below: int
    ) -> Slice | None:
        """The player with neighbours. O(log n + k)."""
        ranked = self.find(ladder)
        found = None if ranked is None else ranked.slice_around(player, above, below)
        return None if found is None else _slice(found)

    async def slice_at(
        self, ladder: Ladder, key: bytes, player: str, above: int, below: int, *, full: bool
    ) -> Slice:
        """The entries around a point of the order. O(log n + k)."""
        ranked = self.find(ladder)
        if ranked is None:
            return _EMPTY
        return _slice(ranked.slice_at(key, player.encode(), above, below, full=full))

    async def count_before(self, ladder: Ladder, keys: Sequence[bytes]) -> list[int]:
        """How many entries lie before each key or prefix. O(k log n)."""
        ranked = self.find(ladder)
        return [0] * len(keys) if ranked is None else ranked.counts_before(keys)

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has. O(1)."""
        ranked = self.find(ladder)
        return 0 if ranked is None else len(ranked)

    async def ladders(self, board_id: str) -> list[tuple[Ladder, int]]:
        """The board's ladders that have entries, with their sizes."""
        sizes = ((ladder, len(ranked)) for ladder, ranked in self.sets(board_id))
        return [(ladder, size) for ladder, size in sizes if size]

    async def scopes(self, ladder: Ladder, after: str, limit: int) -> list[tuple[str, int]]:
        """The first scopes of the ladder's period after a name. O(k), k scopes of the period."""
        sets = _each(self._periods.get(ladder.board, {}).get(ladder[1:3], {}))
        found: list[tuple[str, int]] = []
        async with LongWork() as work:
            while some := list(islice(sets, _SCOPES_AT_ONCE)):
                last = found[-1][0] if len(found) == limit else None
                for scope, ranked in some:
                    if is_hidden(scope):
                        continue
                    if scope > after and (last is None or scope < last) and (size := len(ranked)):
                        found.append((scope, size))
                found.sort()
                del found[limit:]
                if work.is_due():
                    await work.rest()
        return found

    async def version(self, ladder: Ladder) -> int:
        """The position of the last event that changed the ladder."""
        return self._versions.get(ladder, 0)

    # --- what the fold does to it (writer thread only) ----------------------------------------

    def find(self, ladder: Ladder) -> RankedSet | None:
        """The ladder's set, if it was ever needed."""
        board = self._boards.get(ladder.board)
        return None if board is None else board.get(ladder)

    def sets(self, board_id: str) -> Iterator[tuple[Ladder, RankedSet]]:
        """The board's ladders and their sets, as they are when their turn comes."""
        return _each(self._boards.get(board_id, {}))

    def open(self, ladder: Ladder, shape: RecordShape) -> RankedSet:
        """The ladder's set, made when it is needed for the first time."""
        board = self._boards.setdefault(ladder.board, {})
        ranked = board.get(ladder)
        if ranked is None:
            ranked = board[ladder] = RankedSet(
                self.players, words=shape.words, order=shape.order, tied=shape.tied
            )
            self._list(ladder, ranked)
        return ranked

    def adopt(self, ladder: Ladder, dump: bytes | memoryview, version: int) -> None:
        """Take a ladder from a checkpoint."""
        ranked = RankedSet.load(self.players, dump)
        self._boards.setdefault(ladder.board, {})[ladder] = ranked
        self._versions[ladder] = version
        self._list(ladder, ranked)

    def touch(self, ladder: Ladder, position: int) -> None:
        """Note that the event at `position` changed the ladder."""
        if position > self._versions.get(ladder, 0):  # submissions of a commit are applied first
            self._versions[ladder] = position

    def version_of(self, ladder: Ladder) -> int:
        """`version`, for the fold."""
        return self._versions.get(ladder, 0)

    def drop(self, ladder: Ladder) -> None:
        """Forget the ladder; emptied, so that it holds no player whoever still refers to it."""
        ranked = self._boards.get(ladder.board, {}).pop(ladder, None)
        self._versions.pop(ladder, None)
        self.drops += 1
        if ranked is not None:
            ranked.clear()
            self._unlist(ladder)

    def drop_board(self, board_id: str) -> None:
        """Forget every ladder of the board.

        One after the other: a hundred thousand of them that are freed together would keep all
        other threads waiting.
        """
        sets = self._boards.pop(board_id, {})
        periods = self._periods.pop(board_id, {})
        self._scoped.pop(board_id, None)
        self.drops += len(sets)
        while periods:
            periods.popitem()
        while sets:
            ladder, ranked = sets.popitem()
            self._versions.pop(ladder, None)
            ranked.clear()

    def periods(self, board_id: str) -> list[tuple[str, str]]:
        """The (window, period) pairs in which the board has ladders."""
        return list(self._periods.get(board_id, ()))

    def _list(self, ladder: Ladder, ranked: RankedSet) -> None:
        periods = self._periods.setdefault(ladder.board, {})
        periods.setdefault(ladder[1:3], {})[ladder.scope] = ranked
        self._count(ladder, 1)

    def _unlist(self, ladder: Ladder) -> None:
        periods, name = self._periods[ladder.board], ladder[1:3]
        del periods[name][ladder.scope]
        if not periods[name]:
            del periods[name]
        self._count(ladder, -1)

    def _count(self, ladder: Ladder, change: int) -> None:
        if ladder.scope != GLOBAL and not is_hidden(ladder.scope):
            self._scoped[ladder.board] = self._scoped.get(ladder.board, 0) + change

    def scope_ladders(self, board_id: str) -> int:
        """How many ladders the board has besides those of everybody."""
        return self._scoped.get(board_id, 0)

    def ladder_counts(self) -> LadderCounts:
        """How many such ladders there are in all, and on the board that has most."""
        counts = list(self._scoped.values())
        return LadderCounts(sum(counts), max(counts, default=0))

    def measure(self) -> tuple[int, int]:
        """How many entries there are on all ladders, and the bytes of all that is kept.

        Step by step, so that other threads get their turns in between.
        """
        entries, size = 0, self.players.nbytes
        for board_id in self.board_ids:
            for _, ranked in self.sets(board_id):
                entries += len(ranked)
                size += ranked.nbytes
        return entries, size

    def become(self, other: MemoryIndex) -> None:
        """Show the ladders of another index instead."""
        self.players, self._boards, self._versions = other.players, other._boards, other._versions
        self._periods, self._scoped = other._periods, other._scoped

    @property
    def board_ids(self) -> list[str]:
        """Boards that have ladders here."""
        return list(self._boards)


def _each(sets: Mapping[T, RankedSet]) -> Iterator[tuple[T, RankedSet]]:
    # A list of pairs would be much slower to make if there are many: the garbage collector would
    # look at everything there is, several times, and no other thread could run.
    for name in list(sets):
        ranked = sets.get(name)
        if ranked is not None:  # else it was dropped meanwhile
            yield name, ranked


def _slice(found: NativeSlice) -> Slice:
    start, total, tied_before, distinct_before, rows, tied_until = found
    first = Counts(start, tied_before, distinct_before)
    if not rows:
        return Slice(first, total, [], [], tied_until)
    _, players, records = zip(*rows, strict=True)
    return Slice(first, total, [player.decode() for player in players], [*records], tied_until)


_EMPTY = Slice(Counts(0, 0, 0), 0, [], [], 0)
_: type[Index] = MemoryIndex
