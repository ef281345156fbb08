"""The newest submission of every player on every board: where a player's history on it begins.

A submission is recorded with the position of the same player's submission before it, on any board;
and, where that one was made on another board, with a link to the one before it on the same board.
So a history is read link by link, without passing what the player did elsewhere.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from typing_extensions import Buffer

from toprung._native import PlayerTable, PositionMap


class NewestSubmissions:
    """Positions by generation of a board and number of a player."""

    def __init__(self, players: PlayerTable) -> None:
        self._players = players
        self._maps: dict[int, PositionMap] = {}

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

    def note(self, generation: int, numbers: Sequence[int], versions: Sequence[int]) -> None:
        """Rows of one board are recorded; those of version 0 are not."""
        known = self._maps.get(generation)
        if known is None:
            known = self._maps[generation] = PositionMap(self._players)
        known.put_many(_packed("I", numbers), _packed("q", versions))

    def drop(self, generation: int) -> None:
        """The board is gone."""
        self._maps.pop(generation, None)

    def forget(self, number: int) -> None:
        """The player is gone."""
        for known in self._maps.values():
            known.forget(number)

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
        return sum(known.nbytes for known in list(self._maps.values()))

    def dump(self) -> Iterator[tuple[int, bytes, bytes]]:
        """(generation, numbers, positions) of every board."""
        for generation, known in self._maps.items():
            yield generation, *known.items()

    def load(self, generation: int, numbers: memoryview, positions: memoryview) -> None:
        """Take in what was dumped of a board."""
        known = self._maps[generation] = PositionMap(self._players)
        known.put_many(numbers, positions)


def _packed(kind: str, values: Sequence[int]) -> Buffer:
    return values if isinstance(values, memoryview) else array(kind, values)
