"""A rule-based state machine for anything index-shaped, checked against the oracle.

An index under test is put behind `RankedIndex`: a few primitives over numbered ladders, players
named by id. The machine draws random steps, takes each on the index and on the oracle, and
compares: the step's own answer at once, then the whole order of the ladder it touched, then the
index's own invariants (`check`).

To drive another index, subclass and say how one is made::

    class RedisMachine(IndexMachine):
        def make(self, shape: Shape) -> RankedIndex: ...


    TestRedis = RedisMachine.TestCase
"""

from __future__ import annotations

from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from toprung.testing import strategies as some
from toprung.testing.oracle import Ladder, Row, Shape

LADDERS = 3

ladders = st.integers(0, LADDERS - 1)
picks = st.integers(0, 2**16)
counts = st.sampled_from([1, 2, 30, 65, 300, 1000, 4000])


class RankedIndex(Protocol):
    """What an index must answer to be driven. Ladders are numbered from 0 to LADDERS - 1."""

    def put(self, ladder: int, player: bytes, record: bytes) -> object:
        """Insert the player's record or replace it."""

    def remove(self, ladder: int, player: bytes) -> object:
        """Take the player off the ladder; nothing happens when it is not on it."""

    def find(self, ladder: int, player: bytes) -> bytes | None:
        """The player's record, None when it is not on the ladder."""

    def size(self, ladder: int) -> int:
        """Entries on the ladder."""

    def offset(self, ladder: int, player: bytes) -> int | None:
        """How many entries lie before the player's, None when it is not on the ladder."""

    def count_before(self, ladder: int, key: bytes, player: bytes) -> int:
        """Entries before (key, player); a key of fewer words is a prefix."""

    def distinct_before(self, ladder: int, key: bytes) -> int:
        """Distinct tied prefixes before the key's."""

    def slice(self, ladder: int, start: int, stop: int) -> list[Row]:
        """The rows at offsets start to stop (exclusive), best first."""

    def drop(self, ladder: int) -> None:
        """Empty the ladder."""

    def check(self) -> None:
        """Raise when an invariant of the structure does not hold."""


class IndexMachine(RuleBasedStateMachine):
    """Random steps on an index and on the oracle; both must agree after each."""

    index: RankedIndex
    shape: Shape
    model: list[Ladder]
    touched: set[int]

    shapes = some.shapes()

    def make(self, shape: Shape) -> RankedIndex:
        """A new, empty index whose ladders hold records of this shape."""
        # Not abstract: Hypothesis has a metaclass of its own.
        raise NotImplementedError("a machine's subclass makes the index under test")

    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """Begin with empty ladders of one of the machine's shapes."""
        self.shape = data.draw(self.shapes, label="shape")
        self.model = [Ladder(self.shape) for _ in range(LADDERS)]
        self.touched = set(range(LADDERS))
        self.index = self.make(self.shape)

    # --- steps that change something ---------------------------------------------------------

    @rule(ladder=ladders, player=some.player_ids(), data=st.data())
    def put(self, ladder: int, player: bytes, data: st.DataObject) -> None:
        """Insert or replace one entry."""
        self._put(ladder, player, data.draw(some.records(self.shape.words), label="record"))

    @rule(ladder=ladders, pick=picks, data=st.data())
    def replace(self, ladder: int, pick: int, data: st.DataObject) -> None:
        """Replace the entry of a player who is on the ladder."""
        player = self.present(ladder, pick)
        if player is not None:
            self._put(ladder, player, data.draw(some.records(self.shape.words), label="record"))

    @rule(ladder=ladders, count=counts, seed=some.seeds())
    def put_bulk(self, ladder: int, count: int, seed: int) -> None:
        """Insert enough to split nodes."""
        for player, record in some.bulk_rows(seed, count, self.shape.words):
            self._put(ladder, player, record)

    @rule(ladder=ladders, player=some.player_ids())
    def remove(self, ladder: int, player: bytes) -> None:
        """Remove a player who may not be there."""
        self._remove(ladder, player)

    @rule(ladder=ladders, pick=picks, count=counts)
    def remove_stretch(self, ladder: int, pick: int, count: int) -> None:
        """Remove neighbours, which empties whole nodes."""
        players = self.model[ladder].ids()
        start = pick % (len(players) or 1)
        for player in players[start : start + count]:
            self._remove(ladder, player)

    @rule(ladder=ladders)
    def drop(self, ladder: int) -> None:
        """Empty a ladder."""
        self.index.drop(ladder)
        self.model[ladder].records.clear()
        self.touched.add(ladder)

    # --- steps that ask ----------------------------------------------------------------------

    @rule(ladder=ladders, pick=picks, player=some.player_ids())
    def ask_player(self, ladder: int, pick: int, player: bytes) -> None:
        """Find a player's record and offset: one that may be missing, one that is there."""
        for who in (player, self.present(ladder, pick) or player):
            assert self.index.find(ladder, who) == self.model[ladder].records.get(who)
            assert self.index.offset(ladder, who) == self.model[ladder].offset(who)

    @rule(ladder=ladders, start=picks, length=picks)
    def ask_slice(self, ladder: int, start: int, length: int) -> None:
        """Read a stretch that may begin or end beyond the ladder."""
        size = len(self.model[ladder].records)
        start, stop = start % (size + 2), start % (size + 2) + length % (size + 2)
        assert self.index.slice(ladder, start, stop) == self.model[ladder].slice(start, stop).rows

    @rule(ladder=ladders, data=st.data())
    def ask_before(self, ladder: int, data: st.DataObject) -> None:
        """Count what lies before a key, a shorter prefix of it, and a key with an id."""
        key, player = self.some_key(ladder, data), data.draw(some.player_ids(), label="player")
        model = self.model[ladder]
        assert self.index.distinct_before(ladder, key) == model.distinct_before(key)
        assert self.index.count_before(ladder, key, player) == model.count_before(key, player)
        for words in range(1, self.shape.order + 1):
            prefix = key[: 8 * words]
            assert self.index.count_before(ladder, prefix, b"") == model.count_before(prefix)

    # --- after every step --------------------------------------------------------------------

    @invariant()
    def agrees(self) -> None:
        """The touched ladders are equal to the oracle's, and the structure is sound."""
        self.index.check()
        for ladder in range(LADDERS):
            assert self.index.size(ladder) == len(self.model[ladder].records)
        for ladder in self.touched:
            rows = self.model[ladder].slice(0, len(self.model[ladder].records)).rows
            assert self.index.slice(ladder, 0, len(rows) + 1) == rows
        self.touched.clear()

    # --- for subclasses ----------------------------------------------------------------------

    def present(self, ladder: int, pick: int) -> bytes | None:
        """Some player of the ladder; None when it is empty."""
        players = self.model[ladder].ids()
        return players[pick % len(players)] if players else None

    def some_key(self, ladder: int, data: st.DataObject) -> bytes:
        """A key that is on the ladder about every other time."""
        record = data.draw(some.records(self.shape.words), label="key of")
        player = self.present(ladder, data.draw(picks, label="pick"))
        if player is not None and data.draw(st.booleans(), label="present"):
            record = self.model[ladder].records[player]
        return record[: 8 * self.shape.order]

    def _put(self, ladder: int, player: bytes, record: bytes) -> None:
        self.index.put(ladder, player, record)
        self.model[ladder].records[player] = record
        self.touched.add(ladder)

    def _remove(self, ladder: int, player: bytes) -> None:
        self.index.remove(ladder, player)
        self.model[ladder].records.pop(player, None)
        self.touched.add(ladder)
