"""The native ranked set: what each call answers, at the edges above all."""

import array
import copy
import pickle
import random
import struct
from typing import Any, cast

import pytest

from toprung._native import PlayerTable, RankedSet, Slice

MOST = 2**63 - 1


def record(*words: int) -> bytes:
    return struct.pack(f">{len(words)}Q", *words)


def numbers(*given: int) -> bytes:
    return struct.pack(f"={len(given)}I", *given)


def ids(rows: Slice | None) -> list[str]:
    assert rows is not None
    return [id.decode() for _, id, _ in rows[4]]


@pytest.fixture
def players() -> PlayerTable:
    table = PlayerTable()
    table.intern_many(list("abcdefghij"))
    return table


@pytest.fixture
def ladder(players: PlayerTable) -> RankedSet:
    """Ten players, two by two tied at 10, 20, 30, 40, 50."""
    ranked = RankedSet(players, words=2, order=1, tied=1)
    for at, player in enumerate("abcdefghij"):
        ranked.put(player, record(at // 2 * 10 + 10, at))
    return ranked


def test_shapes(players: PlayerTable) -> None:
    ranked = RankedSet(players, words=3, order=2, tied=2)
    assert (ranked.words, ranked.order, ranked.tied) == (3, 2, 2)
    assert (RankedSet(players).words, RankedSet(players, words=4).order) == (2, 4)
    assert ranked.players is players


@pytest.mark.parametrize(
    "shape",
    [
        {"words": 0},
        {"words": 5},
        {"words": 2, "order": 3},
        {"order": 0},
        {"tied": 0},
        {"words": 3, "order": 1, "tied": 2},
        {"words": -1},
        {"words": 2**62},
    ],
)
def test_impossible_shapes(players: PlayerTable, shape: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="shape"):
        RankedSet(players, **shape)


def test_put_returns_what_was_there(ladder: RankedSet) -> None:
    assert ladder.put("a", record(99, 1)) == record(10, 0)
    assert ladder.put(0, record(98, 2)) == record(99, 1)
    assert (ladder.find(b"a"), ladder.offset("a"), len(ladder)) == (record(98, 2), 9, 10)


def test_words_after_the_key_are_carried(players: PlayerTable) -> None:
    ranked = RankedSet(players, words=2, order=1)
    ranked.put("b", record(5, 1))
    ranked.put("a", record(5, 9))
    assert ids(ranked.slice(0, 2)) == ["a", "b"]


def test_remove(ladder: RankedSet) -> None:
    assert ladder.remove("c") == record(20, 2)
    assert ladder.remove("c") is None
    assert ("c" in ladder, "d" in ladder, ladder.offset("d"), len(ladder)) == (False, True, 2, 9)
    ladder._check()


def test_place(ladder: RankedSet) -> None:
    assert ladder.place("d") == (3, 2, 1, 4, 10, record(20, 3))
    assert ladder.place("a") == (0, 0, 0, 2, 10, record(10, 0))


def test_a_tie_group_longer_than_a_leaf() -> None:
    table = PlayerTable()
    table.intern_many([f"{n:05}" for n in range(3000)])
    ranked = RankedSet(table, words=1)
    for n in random.Random(1).sample(range(3000), 3000):
        ranked.put(n, record(n // 1000))
    place = ranked.place(2999)
    assert place is not None
    assert place[:4] == (2999, 2000, 2, 3000)
    assert ranked.slice(1500, 1501)[:4] == (1500, 3000, 1000, 1)
    for n in range(0, 3000, 7):
        at, until = ranked.place(n), (n // 1000 + 1) * 1000
        assert at is not None
        assert (at[3], ranked.slice(n - n % 1000, n + 1)[5]) == (until, until)
    ranked._check()


def test_questions_about_nobody(ladder: RankedSet) -> None:
    for nobody in ("zz", b"zz", 99, -1, 2**40, 2**70):
        assert ladder.find(nobody) is None
        assert ladder.offset(nobody) is None
        assert ladder.place(nobody) is None
        assert ladder.remove(nobody) is None
        assert ladder.slice_around(nobody, 1, 1) is None
        assert nobody not in ladder
    assert struct.unpack("=4q", ladder.offsets(["zz", 99, "a", -1])) == (-1, -1, 0, -1)
    assert ladder.places(["zz", "a"])[0] is None


def test_putting_nobody(ladder: RankedSet, players: PlayerTable) -> None:
    with pytest.raises(KeyError):
        ladder.put("zz", record(1, 1))
    for number in (10, -1, 2**32 - 1, 2**70):
        with pytest.raises(IndexError):
            ladder.put(number, record(1, 1))
    ladder.remove("a")
    players.forget(0)
    with pytest.raises(KeyError):
        ladder.put(0, record(1, 1))


@pytest.mark.parametrize("wrong", [True, None, 1.0, [], ("a",), bytearray(b"a")])
def test_players_of_a_wrong_type(ladder: RankedSet, wrong: Any) -> None:
    calls = [ladder.find, ladder.offset, ladder.place, ladder.remove, ladder.__contains__]
    for call in calls:
        with pytest.raises(TypeError):
            call(wrong)
    with pytest.raises(TypeError):
        ladder.put(wrong, record(1, 1))
    with pytest.raises(TypeError):
        ladder.offsets(["a", wrong])


@pytest.mark.parametrize("wrong", [b"", bytes(8), bytes(15), bytes(24), bytes(2**20)])
def test_records_of_a_wrong_length(ladder: RankedSet, wrong: bytes) -> None:
    with pytest.raises(ValueError, match="bytes"):
        ladder.put("a", wrong)


def test_records_of_a_wrong_type(ladder: RankedSet) -> None:
    wrong: Any
    for wrong in (None, 1, "x" * 16, bytearray(16)):
        with pytest.raises(TypeError):
            ladder.put("a", wrong)


def test_at(ladder: RankedSet) -> None:
    assert ladder.at(9) == (9, b"j", record(50, 9))
    for offset in (10, -1, MOST, -(2**63)):
        with pytest.raises(IndexError):
            ladder.at(offset)
    with pytest.raises(OverflowError):
        ladder.at(2**63)


def test_count_before(ladder: RankedSet, players: PlayerTable) -> None:
    assert [ladder.count_before(record(n)) for n in (0, 10, 11, 50, 2**64 - 1)] == [0, 0, 2, 8, 10]
    assert ladder.count_before(record(20), b"c") == 2
    assert ladder.count_before(record(20), b"c\0") == 3
    assert ladder.count_before(record(20), b"\xff" * 257) == 4
    for wrong in (b"", bytes(7), bytes(16)):
        with pytest.raises(ValueError, match="key"):
            ladder.count_before(wrong)
    with pytest.raises(ValueError, match="id"):
        ladder.count_before(record(1), b"x" * 258)
    two = RankedSet(players, words=2)
    two.put("a", record(1, 5))
    two.put("b", record(1, 0))
    assert [two.count_before(key) for key in (record(1), record(1, 1), record(2))] == [0, 1, 2]


def test_counts_before(ladder: RankedSet) -> None:
    keys = [record(n) for n in (2**64 - 1, 50, 0, 10, 11)]
    assert ladder.counts_before(keys) == [10, 8, 0, 0, 2]
    assert ladder.counts_before(tuple(keys * 50)) == [10, 8, 0, 0, 2] * 50
    assert ladder.counts_before([]) == []
    wrong: Any
    for wrong, error in ((bytes(7), ValueError), (b"", ValueError), ("12345678", TypeError)):
        with pytest.raises(error, match="key"):
            ladder.counts_before([keys[0], wrong])
    with pytest.raises(TypeError, match="keys"):
        ladder.counts_before(cast("Any", 1))


def test_distinct_before(ladder: RankedSet) -> None:
    assert [ladder.distinct_before(record(n)) for n in (0, 10, 11, 30, 99)] == [0, 0, 1, 2, 5]


def test_slices_are_clipped(ladder: RankedSet) -> None:
    assert ids(ladder.slice(3, 5)) == ["d", "e"]
    assert ladder.slice(3, 5)[:4] == (3, 10, 2, 1)
    assert ids(ladder.slice(8, MOST)) == ["i", "j"]
    assert ladder.slice(10, 20) == (10, 10, 0, 0, [], 0)
    assert ladder.slice(MOST, MOST) == (10, 10, 0, 0, [], 0)
    assert ladder.slice(5, 2)[4] == []
    for start, stop in ((-1, 2), (0, -1)):
        with pytest.raises(ValueError, match="negative"):
            ladder.slice(start, stop)
    with pytest.raises(OverflowError):
        ladder.slice(0, 2**63)


def test_slice_around_stays_full(ladder: RankedSet) -> None:
    assert ids(ladder.slice_around("e", 1, 2)) == ["d", "e", "f", "g"]
    assert ids(ladder.slice_around("a", 2, 1)) == ["a", "b", "c", "d"]
    assert ids(ladder.slice_around("j", 1, 2)) == ["g", "h", "i", "j"]
    assert ids(ladder.slice_around("e", 0, 0)) == ["e"]
    assert len(ids(ladder.slice_around("e", MOST, MOST))) == 10
    assert len(ids(ladder.slice_around("e", 0, MOST))) == 10
    with pytest.raises(ValueError, match="negative"):
        ladder.slice_around("e", -1, 0)


def test_slice_at(ladder: RankedSet) -> None:
    assert ids(ladder.slice_at(record(30), b"", 1, 2)) == ["d", "e", "f"]
    assert ids(ladder.slice_at(record(0), b"", 3, 2)) == ["a", "b"]
    assert ids(ladder.slice_at(record(0), b"", 3, 2, full=True)) == ["a", "b", "c", "d", "e"]
    assert ids(ladder.slice_at(record(99), b"", 1, 3, full=True)) == ["g", "h", "i", "j"]
    assert ids(ladder.slice_at(record(99), b"", 0, 3)) == []
    assert len(ids(ladder.slice_at(record(30), b"", MOST, MOST, full=True))) == 10


def test_batches_take_sequences_and_buffers(ladder: RankedSet) -> None:
    expected = struct.pack("=3q", 9, 0, -1)
    assert ladder.offsets(["j", "a", "zz"]) == expected
    assert ladder.offsets((9, b"a", 77)) == expected
    assert ladder.offsets(array.array("I", [9, 0, 77])) == expected
    assert ladder.offsets(memoryview(numbers(9, 0, 77))) == expected
    assert ladder.offsets([]) == b""
    assert [place and place[0] for place in ladder.places(["j", "zz", 0])] == [9, None, 0]


def test_best_of(ladder: RankedSet) -> None:
    everyone = [(ladder.at(n)[1], ladder.place(n)) for n in (0, 4, 9)]
    for count in (0, 1, 2, 3, 100):
        found = ladder.best_of(numbers(9, 77, 0, 4), count)
        assert found == (3, min(count, 3), everyone[:count])
    assert ladder.best_of(b"", 5) == (0, 0, [])
    assert ladder.best_of(numbers(1, 0, 4), 1)[:2] == (3, 2)
    with pytest.raises(ValueError, match="negative"):
        ladder.best_of(b"", -1)


@pytest.mark.parametrize("distinct", [1, 7, 400, 10**9])
def test_best_of_many_leaves(distinct: int) -> None:
    """Candidates are picked by their leaves: ties across leaves must not mislead."""
    rng = random.Random(distinct)
    table = PlayerTable()
    table.intern_many([f"{n:05}" for n in range(6000)])
    ranked = RankedSet(table, words=2, order=1)
    for n in rng.sample(range(6000), 5000):
        ranked.put(n, record(rng.randrange(distinct), n))
    for size in (1, 40, 500, 6000):
        asked = rng.sample(range(6000), size)
        placed = [(place, table.id(n)) for n in asked if (place := ranked.place(n)) is not None]
        best = [(player, place) for place, player in sorted(placed)]
        for count in (0, 1, 20, size):
            last = max((place[1] for _, place in best[:count]), default=-1)
            until = sum(place[1] <= last for _, place in best)
            assert ranked.best_of(numbers(*asked), count) == (len(best), until, best[:count])


def test_the_end_of_the_last_tie_group_there_can_be() -> None:
    """Beyond the greatest prefix there is no next one to look for."""
    table = PlayerTable()
    table.intern_many([f"{n:05}" for n in range(500)])
    ranked = RankedSet(table, words=3, order=3, tied=2)
    for n in range(500):
        ranked.put(n, record(2**64 - 1 - (n < 200), 2**64 - 1, n))
    first, last = ranked.place(0), ranked.place(499)
    assert first is not None
    assert last is not None
    assert (first[3], last[3], ranked.slice(100, 300)[5]) == (200, 500, 500)


def test_put_many_and_remove_many(ladder: RankedSet) -> None:
    ladder.put_many(numbers(0, 9, 0), record(100, 0) + record(1, 0) + record(2, 0))
    assert ids(ladder.slice(0, 3)) == ["j", "a", "b"]
    assert ladder.remove_many(numbers(0, 9, 77, 0)) == 2
    assert len(ladder) == 8
    ladder._check()


def test_put_many_is_all_or_nothing(ladder: RankedSet, players: PlayerTable) -> None:
    before = ladder.dump()
    with pytest.raises(IndexError):
        ladder.put_many(numbers(0, 77), record(1, 1) * 2)
    for records in (b"", record(1, 1), record(1, 1) * 3, bytes(33)):
        with pytest.raises(ValueError, match="records"):
            ladder.put_many(numbers(0, 1), records)
    assert ladder.dump() == before
    assert players.limit == 10


def test_build(players: PlayerTable) -> None:
    ranked = RankedSet(players, words=1)
    ranked.build(numbers(3, 1, 2), record(9, 7, 7))
    assert ids(ranked.slice(0, 9)) == ["b", "c", "d"]
    ranked._check()
    with pytest.raises(ValueError, match="empty"):
        ranked.build(numbers(0), record(1))
    ranked.clear()
    with pytest.raises(ValueError, match="twice"):
        ranked.build(numbers(1, 2, 1), record(1, 2, 3))
    assert len(ranked) == 0
    ranked._check()
    with pytest.raises(IndexError):
        ranked.build(numbers(77), record(1))
    ranked.build(b"", b"")
    assert len(ranked) == 0


@pytest.mark.parametrize("wrong", [array.array("d", [1.0]), array.array("q", [1]), b"abc"])
def test_buffers_of_a_wrong_kind(ladder: RankedSet, wrong: Any) -> None:
    for call in (ladder.offsets, lambda each: ladder.best_of(each, 5), ladder.remove_many):
        with pytest.raises((TypeError, ValueError)):
            call(wrong)


def test_buffers_must_be_contiguous(ladder: RankedSet) -> None:
    with pytest.raises(BufferError):
        ladder.best_of(memoryview(numbers(1, 2, 3, 4))[::2], 4)
    wrong: Any
    for wrong in (None, 5, "abcd"):
        with pytest.raises(TypeError):
            ladder.best_of(wrong, 4)


def test_dump_and_load(ladder: RankedSet, players: PlayerTable) -> None:
    dump = ladder.dump()
    loaded = RankedSet.load(players, bytearray(dump))
    loaded._check()
    assert loaded.slice(0, 99) == ladder.slice(0, 99)
    assert (loaded.words, loaded.order, loaded.tied, loaded.players) == (2, 1, 1, players)
    empty = RankedSet(players, words=3)
    assert len(RankedSet.load(players, empty.dump())) == 0


def test_every_damaged_dump_is_refused(ladder: RankedSet, players: PlayerTable) -> None:
    dump = ladder.dump()
    for cut in range(len(dump)):
        with pytest.raises(ValueError, match="dump"):
            RankedSet.load(players, dump[:cut])
    for bit in range(len(dump) * 8):
        damaged = bytearray(dump)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="dump"):
            RankedSet.load(players, bytes(damaged))
    with pytest.raises(ValueError, match="dump"):
        RankedSet.load(players, players.dump())


def test_a_dump_of_players_the_table_lacks(ladder: RankedSet) -> None:
    dump = ladder.dump()
    with pytest.raises(ValueError, match="does not have"):
        RankedSet.load(PlayerTable(), dump)
    other = PlayerTable()
    other.intern_many(list("jihgfedcba"))
    with pytest.raises(ValueError, match="order"):
        RankedSet.load(other, dump)


def test_sets_cannot_be_copied_or_extended(ladder: RankedSet, players: PlayerTable) -> None:
    thing: Any
    for thing in (ladder, players):
        with pytest.raises(TypeError):
            copy.copy(thing)
        with pytest.raises(TypeError):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            type("Derived", (type(thing),), {})
        with pytest.raises(AttributeError):
            thing.extra = 1


def test_a_set_keeps_its_table_alive() -> None:
    table = PlayerTable()
    table.intern("ann")
    ranked = RankedSet(table, words=1)
    del table
    ranked.put("ann", record(1))
    assert ranked.players.id(0) == b"ann"


def test_wrong_tables() -> None:
    wrong: Any
    for wrong in (None, 1, "table"):
        with pytest.raises(TypeError):
            RankedSet(wrong)
        with pytest.raises(TypeError):
            RankedSet.load(wrong, b"")


def test_objects_that_were_never_made() -> None:
    owner: Any
    for owner in (PlayerTable, RankedSet):
        empty = owner.__new__(owner)
        with pytest.warns(RuntimeWarning), pytest.raises(TypeError):
            empty.dump()


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_extremes(words: int) -> None:
    table = PlayerTable()
    table.intern_many([bytes([n]) for n in range(200)])
    ranked = RankedSet(table, words=words)
    rng = random.Random(words)
    choices = (0, 1, 2**63 - 1, 2**63, 2**64 - 1)
    for _ in range(2000):
        ranked.put(rng.randrange(200), record(*(rng.choice(choices) for _ in range(words))))
    ranked._check()
    rows = ranked.slice(0, 200)[4]
    assert rows == sorted(rows, key=lambda row: (row[2], row[1]))
