"""The index machine with the rules that only the native core has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from toprung._native import PlayerTable, RankedSet
from toprung.testing import strategies as some
from toprung.testing.machine import LADDERS, IndexMachine, counts, ladders, picks
from toprung.testing.native import ABSENT, NativeIndex, merge, stretch, unpack
from toprung.testing.oracle import Arrival, Place, Records, Shape, fold, no_worse

Places = tuple[int, int, int]


class NativeMachine(IndexMachine):
    """The index machine with the native core's batches, merges, dumps and player numbers."""

    index: NativeIndex
    shapes = some.shapes() | st.sampled_from(
        [Shape(tied + 2, order, tied) for tied in (1, 2) for order in (tied, tied + 1)]
    )
    routes = ((0,), (1, 2), (2, 0, 1))

    def make(self, shape: Shape) -> NativeIndex:
        """Empty sets over an empty player table."""
        self.names: list[bytes | None] = []  # the table's model: number -> id, None: forgotten
        self.known: dict[bytes, int] = {}  # and back
        return NativeIndex(shape)

    # --- changes -----------------------------------------------------------------------------

    @rule(ladder=ladders, count=counts, seed=some.seeds())
    def put_many(self, ladder: int, count: int, seed: int) -> None:
        """Insert and replace a batch at once; of a player's several records the last stays."""
        rows = some.bulk_rows(seed, count, self.shape.words)
        numbers = self.intern_all([player for player, _ in rows])
        self.index.sets[ladder].put_many(numbers, b"".join(record for _, record in rows))
        self.model[ladder].records |= dict(rows)
        self.touched.add(ladder)

    @rule(ladder=ladders, pick=picks, count=counts, missing=some.player_ids())
    def remove_many(self, ladder: int, pick: int, count: int, missing: bytes) -> None:
        """Remove every so-manieth entry at once, and somebody who may not be there."""
        present = self.model[ladder].ids()[pick % 3 :: 1 + pick % 5][:count]
        gone = [*present, missing, *present[:3]]
        expected = sum(player in self.model[ladder].records for player in set(gone))
        assert self.index.sets[ladder].remove_many(self.intern_all(gone)) == expected
        for player in gone:
            self.model[ladder].records.pop(player, None)
        self.touched.add(ladder)

    @rule(ladder=ladders, count=counts, seed=some.seeds())
    def build(self, ladder: int, count: int, seed: int) -> None:
        """Build an emptied set from a batch in no order."""
        self.drop(ladder)
        rows = dict(some.bulk_rows(seed, count, self.shape.words))
        self.index.sets[ladder].build(self.intern_all(list(rows)), b"".join(rows.values()))
        self.model[ladder].records = rows
        self.touched.add(ladder)

    @rule()
    def dump_and_load(self) -> None:
        """Go on with what was read back from dumps."""
        old, new = self.index, NativeIndex(self.shape)
        new.players = PlayerTable.load(old.players.dump())
        new.sets = [RankedSet.load(new.players, ranked.dump()) for ranked in old.sets]
        assert new.players.limit == old.players.limit
        assert all((s.words, s.order, s.tied) == self.shape for s in new.sets)
        self.index = new
        self.touched.update(range(LADDERS))

    @rule(ladder=ladders, at=st.integers(0, 2**20), bit=st.integers(0, 7), cut=st.booleans())
    def load_damaged(self, ladder: int, at: int, bit: int, cut: bool) -> None:
        """A dump that lost its end or had one bit flipped is refused."""
        table, ranked = self.index.players.dump(), self.index.sets[ladder].dump()
        with refused():
            PlayerTable.load(damaged(table, at, bit, cut=cut))
        with refused():
            RankedSet.load(self.index.players, damaged(ranked, at, bit, cut=cut))

    def mergeable(self) -> bool:
        """Whether records have the form of a board's entries."""
        words, order, tied = self.shape
        return tied <= 2 and words == tied + 2 and order - tied in (0, 1)

    @precondition(mergeable)
    @rule(data=st.data(), applied=st.booleans(), first_version=st.integers(1, 2**62))
    def merge(self, data: st.DataObject, applied: bool, first_version: int) -> None:
        """Fold a batch over the sets; nothing shows before it is applied, or if it never is."""
        board = data.draw(some.boards(self.shape), label="board")
        players = some.player_ids()
        if self.model[0].records:
            players |= st.sampled_from(self.model[0].ids()[:50])
        batch = data.draw(some.arrivals(board, players, self.routes), label="batch")
        self.intern_all([arrival.player for arrival in batch])
        stood = self.places_of(batch)
        merged = merge(
            board, self.index.sets, batch, routes=self.routes, first_version=first_version
        )
        outcomes, after = fold(board, self.model, batch, first_version)
        assert list(merged.statuses) == [outcome.status for outcome in outcomes]
        assert list(unpack("q", merged.versions)) == [outcome.version for outcome in outcomes]
        assert [merged.changes(row) for row in range(len(batch))] == [o.changes for o in outcomes]
        self.touched.update(range(LADDERS))
        self.agrees()
        if applied:
            before = [model.records for model in self.model]
            assert merged.apply() == sum(map(changed_between, before, after))
            for model, records in zip(self.model, after, strict=True):
                model.records = records
            self.touched.update(range(LADDERS))
            stands = self.places_of(batch)
            for row, outcome in enumerate(outcomes):
                expected = [
                    (board.shape.score(new), old and board.shape.score(old), before, after)
                    for (old, new), (before, _), (after, _) in zip(
                        outcome.changes, stood[row], stands[row], strict=outcome.version > 0
                    )
                ]
                told = merged.outcomes(row)
                assert [each[:4] for each in told] == expected
                assert [each[4] for each in told] == [size for _, size in stands[row]][: len(told)]

    def places_of(self, batch: Sequence[Arrival]) -> list[list[tuple[Places | None, int]]]:
        """For each row and each set of its route: what lies before its player, and the size."""
        sets = self.index.sets
        found = [
            [(sets[each].place(row.player), sets[each]) for each in row.route] for row in batch
        ]
        return [[(place and place[:3], len(ranked)) for place, ranked in row] for row in found]

    @rule(player=some.player_ids(), ladder=ladders, pick=picks)
    def forget(self, player: bytes, ladder: int, pick: int) -> None:
        """Erase a player's id: its number is never given again."""
        player = self.present(ladder, pick) or player
        number = self.index.players.number(player)
        if number is None:
            return
        if any(player in model.records for model in self.model):
            with refused():  # its id still orders ties
                self.index.players.forget(number)
        for each in range(LADDERS):
            self._remove(each, player)
        self.index.players.forget(number)
        self.names[number] = None
        del self.known[player]
        assert self.index.players.number(player) is None

    @rule(pick=picks)
    def truncate(self, pick: int) -> None:
        """Take back the newest numbers, as after a failed commit."""
        limit = max(0, len(self.names) - pick % 40)
        newest = list(filter(None, self.names[limit:]))
        if any(player in model.records for player in newest for model in self.model):
            with refused():
                self.index.players.truncate(limit)
        for player in newest:
            for ladder in range(LADDERS):
                self._remove(ladder, player)
            del self.known[player]
        self.index.players.truncate(limit)
        del self.names[limit:]

    # --- questions ---------------------------------------------------------------------------

    @rule(ladder=ladders, pick=picks, data=st.data())
    def ask_places(self, ladder: int, pick: int, data: st.DataObject) -> None:
        """Places and offsets in batches, by id and by number, of anyone."""
        model, ranked = self.model[ladder], self.index.sets[ladder]
        players = data.draw(st.lists(some.player_ids(), max_size=3), label="players")
        players += model.ids()[pick % 7 :: 1 + pick % 999][:6]
        numbers = self.intern_all(players)
        places = [model.place(player) for player in players]
        expected = [-1 if place is None else place.offset for place in places]
        assert ranked.places(players) == places
        assert ranked.places(list(unpack("I", numbers))) == places
        assert list(unpack("q", ranked.offsets(players))) == expected
        assert list(unpack("q", ranked.offsets(unpack("I", numbers)))) == expected
        for player, number, place in zip(players, unpack("I", numbers), places, strict=True):
            self._ask_place(ladder, player, number, place)

    def _ask_place(self, ladder: int, player: bytes, number: int, place: Place | None) -> None:
        ranked = self.index.sets[ladder]
        for who in (player, number):
            assert ranked.place(who) == place
            assert (who in ranked) is (place is not None)
            assert ranked.offset(who) == (place and place.offset)
            assert ranked.find(who) == (place and place.record)
        if place is not None:
            assert ranked.at(place.offset) == (number, player, place.record)

    @rule(ladder=ladders, pick=picks, above=st.integers(0, 99), below=st.integers(0, 99))
    def ask_around(self, ladder: int, pick: int, above: int, below: int) -> None:
        """A player and its neighbours."""
        player = self.present(ladder, pick)
        if player is not None:
            answer = self.index.sets[ladder].slice_around(player, above, below)
            assert answer is not None
            assert stretch(answer) == self.model[ladder].slice_around(player, above, below)

    @rule(ladder=ladders, above=st.integers(0, 99), below=st.integers(0, 99), data=st.data())
    def ask_at(self, ladder: int, above: int, below: int, data: st.DataObject) -> None:
        """The neighbours of a key that may be on the ladder or not."""
        key, player = self.some_key(ladder, data), data.draw(some.player_ids(), label="player")
        ranked, model = self.index.sets[ladder], self.model[ladder]
        for full in (False, True):
            answer = ranked.slice_at(key, player, above, below, full=full)
            assert stretch(answer) == model.slice_at(key, player, above, below, full=full)

    @rule(ladder=ladders, start=picks, length=picks)
    def ask_stretch(self, ladder: int, start: int, length: int) -> None:
        """A slice with its tie figures and player numbers."""
        size = len(self.model[ladder].records)
        start, stop = start % (size + 2), start % (size + 2) + length % (size + 2)
        answer = self.index.sets[ladder].slice(start, stop)
        assert stretch(answer) == self.model[ladder].slice(start, stop)
        assert all(self.names[number] == player for number, player, _ in answer[4])
        *_, rows, until = self.index.sets[ladder].slice(0, stop)
        ids, records = b"\0".join(row[1] for row in rows), b"".join(row[2] for row in rows)
        sizes = b"%d %d %d " % (size, until, len(rows))
        assert self.index.sets[ladder].fingerprint(stop) == sizes + records + ids

    @rule(ladder=ladders, others=st.lists(some.player_ids(), max_size=5), pick=picks)
    def ask_sort(self, ladder: int, others: list[bytes], pick: int) -> None:
        """A few players among themselves."""
        model, ranked = self.model[ladder], self.index.sets[ladder]
        friends = list(dict.fromkeys([*others, *model.ids()[pick % 9 :: 1 + pick % 20]]))
        present, until, best = ranked.best_of(self.intern_all(friends[::-1]), pick % 30)
        ordered = model.sort(friends)
        assert until == no_worse(model, ordered, pick % 30)
        assert present == len(ordered)
        assert best == [(player, ranked.place(player)) for player in ordered[: pick % 30]]

    @rule(player=some.player_ids())
    def ask_table(self, player: bytes) -> None:
        """The table's numbers and ids, of a player who may be unknown and of all others."""
        table = self.index.players
        assert table.number(player) == self.known.get(player)
        numbers = unpack("I", table.numbers([*self.known, player]))
        assert list(numbers) == [*self.known.values(), self.known.get(player, ABSENT)]
        assert [table.id(number) for number in range(table.limit)] == self.names
        assert len(table) == len(self.known)

    # --- the table's model -------------------------------------------------------------------

    def intern_all(self, players: list[bytes]) -> bytes:
        """Intern on both sides; the numbers are given in order, each once."""
        for player in players:
            if player not in self.known:
                self.known[player] = len(self.names)
                self.names.append(player)
        numbers = self.index.numbers(players)
        assert list(unpack("I", numbers)) == [self.known[player] for player in players]
        return numbers

    def _put(self, ladder: int, player: bytes, record: bytes) -> None:
        self.intern_all([player])
        assert self.index.put(ladder, player, record) == self.model[ladder].records.get(player)
        self.model[ladder].records[player] = record
        self.touched.add(ladder)

    def _remove(self, ladder: int, player: bytes) -> None:
        expected = self.model[ladder].records.pop(player, None)
        assert self.index.remove(ladder, player) == expected
        self.touched.add(ladder)


def changed_between(before: Records, after: Records) -> int:
    """How many players' records differ; none has left."""
    return sum(before.get(player) != record for player, record in after.items())


@contextmanager
def refused() -> Iterator[None]:
    """What happens inside must raise ValueError."""
    try:
        yield
    except ValueError:
        return
    raise AssertionError("accepted what must be refused")


def damaged(dump: bytes, at: int, bit: int, *, cut: bool) -> bytes:
    """The dump without its end, or with one bit flipped."""
    at %= len(dump)
    return dump[:at] if cut else dump[:at] + bytes([dump[at] ^ 1 << bit]) + dump[at + 1 :]
