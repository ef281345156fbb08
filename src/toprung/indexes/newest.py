"""The newest submission of every player on every board: where a player's history on it begins.

A submission is recorded with the position of the same player's submission before it, on any board;
and, where that one was made on another board, with a link to the one before it on the same board.
So a history is read link by link, without passing what the player did elsewhere.

Beside it stands the reverse, the boards of every player, so that what concerns one player costs
what that player has, however many boards there are. There a board is a short number, its *slot*.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from typing_extensions import Buffer

from toprung._native import PlayerLists, PlayerTable, PositionMap

NUMBERS_AT_ONCE = 10_000


class NewestSubmissions:
    """Positions by generation of a board and number of a player."""

    def __init__(self, players: PlayerTable) -> None:
        self._players = players
        self._maps: dict[int, PositionMap] = {}
        self._slots = Slots()
        self._boards = PlayerLists(players)
        """The slots of the boards that each player has submitted to."""

    def find(self, generation: int, number: int) -> int:
        """The position of a player's newest submission on a board; 0 is none."""
        positions = self._maps.get(generation)
        return 0 if positions is None else positions.find(number) or 0

    def links(
        self, generation: int, numbers: Sequence[int], versions: Sequence[int], previous: list[int]
    ) -> Iterable[int | None]:
        """For rows of one board, the position of each player's submission before it on that board.

        0 where there is none; None where `previous`, the one before it on any board, is the same.
        """
        known = self._maps.get(generation) or PositionMap(self._players)
        found = known.previous(_packed("I", numbers), _packed("q", versions))
        if found == array("q", previous).tobytes():  # nobody comes from another board
            return repeat(None)
        return [
            None if link == before else link
            for link, before in zip(memoryview(found).cast("q"), previous, strict=True)
        ]

    def generations_of(self, number: int) -> list[int]:
        """The generations of the boards that a player has submitted to, in order.

        O(k log k), k boards of the player.
        """
        return sorted(map(self._slots.generation, memoryview(self._boards.find(number)).cast("I")))

    def note(self, generation: int, numbers: Sequence[int], versions: Sequence[int]) -> None:
        """Rows of one board are recorded; those of version 0 are not."""
        self._put(generation, _packed("I", numbers), _packed("q", versions))

    def _put(self, generation: int, numbers: Buffer, positions: Buffer) -> None:
        known = self._maps.get(generation)
        if known is None:
            known = self._maps[generation] = PositionMap(self._players)
        if added := known.put_many(numbers, positions):
            self._boards.add(self._slots.of(generation), memoryview(added).cast("I"))

    def drop(self, generation: int) -> None:
        """The board is gone. O(k), k boards of its players."""
        known = self._maps.pop(generation, None)
        if known is None:
            return
        slot = self._slots.of(generation)
        numbers = memoryview(known.items()[0]).cast("I")
        for start in range(0, len(numbers), NUMBERS_AT_ONCE):  # others get a turn in between
            self._boards.remove(slot, numbers[start : start + NUMBERS_AT_ONCE])
        self._slots.free(generation)

    def forget(self, number: int) -> None:
        """The player is gone. O(k), k boards of the player."""
        for generation in self.generations_of(number):
            self._maps[generation].forget(number)
        self._boards.forget(number)

    def differing(self, replayed: NewestSubmissions) -> list[int]:
        """Generations of boards where this is not what the journal says."""
        nobody = PositionMap(self._players)
        return [
            generation
            for generation in self._maps.keys() | replayed._maps.keys()
            if self._differs(
                self._maps.get(generation, nobody), replayed._maps.get(generation, nobody)
            )
        ]

    def _differs(self, ours: PositionMap, theirs: PositionMap) -> bool:
        if len(ours) != len(theirs):
            return True
        numbers, positions = ours.items()
        return theirs.previous(array("I", numbers), array("q", bytes(len(positions)))) != positions

    @property
    def nbytes(self) -> int:
        """Bytes of memory, for whoever measures while others write."""
        return self._boards.nbytes + sum(known.nbytes for known in list(self._maps.values()))

    def dump(self) -> Iterator[tuple[int, bytes, bytes]]:
        """(generation, numbers, positions) of every board."""
        for generation, known in self._maps.items():
            yield generation, *known.items()

    def load(self, generation: int, numbers: memoryview, positions: memoryview) -> None:
        """Take in what was dumped of a board."""
        self._put(generation, numbers, positions)

    def _check(self) -> None:
        """Assert that each player's boards are those that know the player."""
        boards: dict[int, list[int]] = {}
        for generation in sorted(self._maps):
            for number in memoryview(self._maps[generation].items()[0]).cast("I"):
                boards.setdefault(number, []).append(generation)
        for number in range(self._players.limit):
            assert self.generations_of(number) == boards.get(number, []), number


class Slots:
    """Short numbers of boards by generation, given again when a board is gone.

    >>> slots = Slots()
    >>> [slots.of(generation) for generation in (100, 200, 100)]
    [0, 1, 0]
    >>> slots.free(100)
    >>> slots.of(300), slots.generation(0)
    (0, 300)
    """

    def __init__(self) -> None:
        self._by_generation: dict[int, int] = {}
        self._generations: list[int] = []
        self._free: list[int] = []

    def of(self, generation: int) -> int:
        """The slot of a board, which gets one when it has none. O(1)."""
        slot = self._by_generation.get(generation)
        if slot is None:
            if self._free:
                slot = self._free.pop()
                self._generations[slot] = generation
            else:
                slot = len(self._generations)
                self._generations.append(generation)
            self._by_generation[generation] = slot
        return slot

    def generation(self, slot: int) -> int:
        """The board whose slot it is. O(1)."""
        return self._generations[slot]

    def free(self, generation: int) -> None:
        """Let another board have the slot: no player refers to it any more. O(1)."""
        self._free.append(self._by_generation.pop(generation))


def _packed(kind: str, values: Sequence[int]) -> Buffer:
    return values if isinstance(values, memoryview) else array(kind, values)
