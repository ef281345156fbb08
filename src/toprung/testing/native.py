"""The native core as the oracle sees it: players named by id, ladders by number."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from toprung._native import Merge, PlayerTable, RankedSet
from toprung.domain.board import Board
from toprung.testing.machine import LADDERS
from toprung.testing.oracle import Arrival, Row, Shape, Stretch

ABSENT = 2**32 - 1
RULES = {"best": "keep-better", "latest": "replace", "sum": "add"}


class NativeIndex:
    """Ladders as ranked sets over one player table."""

    def __init__(self, shape: Shape) -> None:
        self.players = PlayerTable()
        self.sets = [RankedSet(self.players, **shape._asdict()) for _ in range(LADDERS)]

    def put(self, ladder: int, player: bytes, record: bytes) -> bytes | None:
        """Insert or replace; returns the old record."""
        return self.sets[ladder].put(self.players.intern(player), record)

    def remove(self, ladder: int, player: bytes) -> bytes | None:
        """Take the player off; returns the old record."""
        return self.sets[ladder].remove(player)

    def find(self, ladder: int, player: bytes) -> bytes | None:
        """The player's record."""
        return self.sets[ladder].find(player)

    def size(self, ladder: int) -> int:
        """Entries on the ladder."""
        return len(self.sets[ladder])

    def offset(self, ladder: int, player: bytes) -> int | None:
        """Entries before the player's."""
        return self.sets[ladder].offset(player)

    def count_before(self, ladder: int, key: bytes, player: bytes) -> int:
        """Entries before (key, player)."""
        return self.sets[ladder].count_before(key, player)

    def distinct_before(self, ladder: int, key: bytes) -> int:
        """Distinct tied prefixes before the key's."""
        return self.sets[ladder].distinct_before(key)

    def slice(self, ladder: int, start: int, stop: int) -> list[Row]:
        """The rows at these offsets."""
        return stretch(self.sets[ladder].slice(start, stop)).rows

    def drop(self, ladder: int) -> None:
        """Empty the ladder."""
        self.sets[ladder].clear()

    def check(self) -> None:
        """Every invariant of the table and the sets."""
        self.players._check()  # noqa: SLF001
        for ranked in self.sets:
            ranked._check()  # noqa: SLF001

    def numbers(self, players: Sequence[bytes]) -> bytes:
        """The players' numbers, interning those that are new."""
        return self.players.intern_many(list(players))


def stretch(answer: tuple[int, int, int, int, list[tuple[int, bytes, bytes]], int]) -> Stretch:
    """A slice as the oracle gives it: without player numbers."""
    start, size, tied_before, distinct_before, rows, tied_until = answer
    without_numbers = [(player, record) for _, player, record in rows]
    return Stretch(start, size, tied_before, distinct_before, without_numbers, tied_until)


def merge(
    board: Board,
    sets: Sequence[RankedSet],
    arrivals: Sequence[Arrival],
    *,
    routes: Sequence[Sequence[int]],
    first_version: int,
) -> Merge:
    """A native merge of the arrivals under the board's rules, with every set watched."""
    rows = array("q")
    for player, route, submission, _ in arrivals:
        number = sets[0].players.intern(player)
        rows.extend((number, routes.index(route), submission.at, submission.score))
        if submission.subscore is not None:
            rows.append(submission.subscore)
    return Merge(
        RULES[board.policy],  # type: ignore[arg-type]
        [[sets[number] for number in route] for route in routes],
        rows,
        first_version=first_version,
        descending=board.shape.descending,
        last_wins=board.shape.last_wins,
        max_increase=board.max_increase,
        watched=[range(len(route)) for route in routes],
        claims=array("q", [arrival.claim for arrival in arrivals]),
    )


def unpack(kind: str, packed: bytes) -> array[int]:
    """A packed native buffer as numbers."""
    return array(kind, packed)
