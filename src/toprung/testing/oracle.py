"""Slow models whose answers are obviously right: every question sorts everything again.

`Ladder` is one ordered list: a dict from player id to record. An entry's place in the order is
the Python tuple (key words as ints, id bytes); nothing is remembered between two questions.
`fold` is a batch of submissions over such ladders: `decide` for one after the other, on copies.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from toprung.domain.board import Board
from toprung.domain.entry import check_increase, decide
from toprung.domain.submission import Submission
from toprung.errors import ExcessiveIncrease, ScoreOverflow

Row = tuple[bytes, bytes]  # player id, record


@lru_cache(maxsize=2**16)  # re-sorting asks for the same ones again and again
def words_of(packed: bytes) -> tuple[int, ...]:
    """The big-endian unsigned 64-bit words of a key or record."""
    return struct.unpack(f">{len(packed) // 8}Q", packed)


class Shape(NamedTuple):
    """How many words a record has, how many are ordered by, and how many make a tie."""

    words: int
    order: int
    tied: int


class Place(NamedTuple):
    """Where one player stands: what lies before it, before its tie group, and before its end."""

    offset: int
    tied_before: int
    distinct_before: int
    tied_until: int
    size: int
    record: bytes


class Stretch(NamedTuple):
    """Consecutive rows; what lies before the first one's tie group and the last one's end."""

    start: int
    size: int
    tied_before: int
    distinct_before: int
    rows: list[Row]
    tied_until: int


class Ladder:
    """One ordered list, as a dict.

    >>> ladder = Ladder(Shape(words=1, order=1, tied=1))
    >>> ladder.records = {b"ann": bytes(8), b"bob": bytes(7) + b"2", b"cy": bytes(8)}
    >>> ladder.place(b"cy")[:4], ladder.place(b"bob")[:4]
    ((1, 0, 0, 2), (2, 2, 1, 3))
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.records: dict[bytes, bytes] = {}

    def order_of(self, player: bytes) -> tuple[tuple[int, ...], bytes]:
        """What the list is sorted by: the key words, then the id."""
        return words_of(self.records[player])[: self.shape.order], player

    def ids(self) -> list[bytes]:
        """Every player, best first."""
        return sorted(self.records, key=self.order_of)

    def sort(self, players: Iterable[bytes]) -> list[bytes]:
        """Those of `players` that are present, best first."""
        return sorted((p for p in players if p in self.records), key=self.order_of)

    def prefixes(self) -> list[tuple[int, ...]]:
        """Every entry's tied words, repeated as often as they are tied."""
        return [words_of(record)[: self.shape.tied] for record in self.records.values()]

    def count_before(self, key: bytes, player: bytes = b"") -> int:
        """Entries before (key, player); a key of fewer words is compared with as many words."""
        probe = words_of(key)
        orders = [self.order_of(p) for p in self.records]
        return sum((words[: len(probe)], p) < (probe, player) for words, p in orders)

    def distinct_before(self, key: bytes) -> int:
        """Distinct tied prefixes smaller than the key's."""
        probe = words_of(key)[: self.shape.tied]
        return sum(prefix < probe for prefix in set(self.prefixes()))

    def tied_before(self, key: bytes) -> int:
        """Entries whose tied prefix is smaller than the key's."""
        probe = words_of(key)[: self.shape.tied]
        return sum(prefix < probe for prefix in self.prefixes())

    def tied_until(self, key: bytes) -> int:
        """Entries whose tied prefix is the key's or smaller."""
        probe = words_of(key)[: self.shape.tied]
        return sum(prefix <= probe for prefix in self.prefixes())

    def offset(self, player: bytes) -> int | None:
        """How many entries lie before the player's."""
        return self.ids().index(player) if player in self.records else None

    def place(self, player: bytes) -> Place | None:
        """Everything that ranks are made of, for one player."""
        record = self.records.get(player)
        if record is None:
            return None
        tied, distinct = self.tied_before(record), self.distinct_before(record)
        until, size = self.tied_until(record), len(self.records)
        return Place(self.ids().index(player), tied, distinct, until, size, record)

    def slice(self, start: int, stop: int) -> Stretch:
        """The rows at offsets start to stop (exclusive), clipped to what is there."""
        size = len(self.records)
        start, stop = max(0, min(start, size)), max(0, stop)
        rows = [(p, self.records[p]) for p in self.ids()[start : max(start, stop)]]
        if not rows:
            return Stretch(start, size, 0, 0, rows, 0)
        first, last = rows[0][1], rows[-1][1]
        tied, distinct = self.tied_before(first), self.distinct_before(first)
        return Stretch(start, size, tied, distinct, rows, self.tied_until(last))

    def slice_around(self, player: bytes, above: int, below: int) -> Stretch | None:
        """The player with neighbours; at the ends it shifts, so that it stays full."""
        offset = self.offset(player)
        return None if offset is None else self._window(offset - above, above + below + 1)

    def slice_at(
        self, key: bytes, player: bytes, above: int, below: int, *, full: bool = False
    ) -> Stretch:
        """The last `above` rows before (key, player) and the first `below` from there on.

        With `full` it shifts at the ends, so that it stays full.
        """
        offset = self.count_before(key, player)
        if full:
            return self._window(offset - above, above + below)
        return self.slice(offset - above, offset + below)

    def _window(self, start: int, length: int) -> Stretch:
        start = max(0, min(start, len(self.records) - length))
        return self.slice(start, start + length)


def no_worse(ladder: Ladder, players: Sequence[bytes], limit: int | None) -> int:
    """How many of the players, best first, are not worse than the last of the first `limit`."""
    tied = [words_of(ladder.records[player])[: ladder.shape.tied] for player in players]
    best = tied[:limit]
    return sum(each <= best[-1] for each in tied) if best else 0


class Status(IntEnum):
    """What became of one row of a batch."""

    UNCHANGED = 0
    ACCEPTED = 1
    OVERFLOW = 2
    EXCESSIVE = 3
    REPEATED = 4


class Arrival(NamedTuple):
    """One row of a batch: a player's submission to the ladders with these numbers."""

    player: bytes
    route: Sequence[int]
    submission: Submission
    claim: int = -1
    """What the first row that brings it and is not refused takes; later ones repeat. -1: none."""


class Outcome(NamedTuple):
    """What became of one row: version 0 and no changes when it was refused or repeated."""

    status: Status
    version: int
    changes: list[tuple[bytes | None, bytes]]


Records = dict[bytes, bytes]


def fold(
    board: Board, ladders: Sequence[Ladder], arrivals: Iterable[Arrival], first_version: int
) -> tuple[list[Outcome], list[Records]]:
    """The outcome of every row, and every ladder's records afterwards. `ladders` stay as they are.

    Rows that are not refused are numbered from `first_version`; a refused row changes nothing.
    """
    after = [dict(ladder.records) for ladder in ladders]
    outcomes: list[Outcome] = []
    claimed: set[int] = set()
    version = first_version
    for arrival in arrivals:
        if arrival.claim in claimed:
            outcomes.append(Outcome(Status.REPEATED, 0, []))
            continue
        outcome = _arrive(board, [after[number] for number in arrival.route], arrival, version)
        outcomes.append(outcome)
        if outcome.version > 0 and arrival.claim >= 0:
            claimed.add(arrival.claim)
        for number, (_, record) in zip(arrival.route, outcome.changes, strict=False):
            after[number][arrival.player] = record
        version += outcome.version > 0
    return outcomes, after


def _arrive(board: Board, route: list[Records], arrival: Arrival, version: int) -> Outcome:
    player, submission = arrival.player, arrival.submission
    before = [records.get(player) for records in route]
    currents = [None if record is None else board.shape.entry(record) for record in before]
    try:
        check_increase(board, currents[0], submission)
        entries = [decide(board, current, submission, version) for current in currents]
    except ExcessiveIncrease:
        return Outcome(Status.EXCESSIVE, 0, [])
    except ScoreOverflow:
        return Outcome(Status.OVERFLOW, 0, [])
    changes = [(old, board.shape.record(e)) for old, e in zip(before, entries, strict=True)]
    changed = any(old != new for old, new in changes)
    return Outcome(Status.ACCEPTED if changed else Status.UNCHANGED, version, changes)
