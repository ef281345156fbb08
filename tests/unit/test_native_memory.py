"""The native core and memory: deleting gives it back, running out of it breaks nothing."""

import os
import random
import struct
import sys
from collections.abc import Callable
from functools import partial

import pytest

from toprung._native import (
    Merge,
    PlayerTable,
    RankColumns,
    RankedSet,
    RecordReader,
    _fail_allocations_after,
)


def out_of_memory() -> tuple[type[BaseException], ...]:
    """What a failed allocation is raised as: DuckDB, once imported, answers for everybody."""
    duckdb = sys.modules.get("_duckdb")
    return (MemoryError,) if duckdb is None else (MemoryError, duckdb.OutOfMemoryException)


def records(rng: random.Random, count: int, words: int = 2) -> bytes:
    return b"".join(rng.getrandbits(40).to_bytes(8, "big") for _ in range(count * words))


def packed(numbers: list[int]) -> bytes:
    return struct.pack(f"={len(numbers)}I", *numbers)


def table_of(count: int) -> PlayerTable:
    table = PlayerTable()
    table.intern_many([f"player{n:06}" for n in range(count)])
    return table


def survive(work: Callable[[], object], check: Callable[[], None]) -> int:
    """Let the first, second, third ... allocation fail until the work gets through."""
    for n in range(10_000):
        _fail_allocations_after(n)
        try:
            work()
        except out_of_memory():
            continue
        else:
            return n
        finally:
            _fail_allocations_after(-1)
            check()
    pytest.fail("it never got enough memory")


@pytest.mark.slow
def test_fifty_rewrites_stay_near_a_fresh_build() -> None:
    size = 200_000 if os.environ.get("TOPRUNG_SOAK") else 20_000
    players, rng = table_of(size), random.Random(1)
    everyone = list(range(size))
    fresh = RankedSet(players)
    fresh.build(packed(everyone), records(rng, size))
    ranked = RankedSet(players)
    for _ in range(50):
        rng.shuffle(everyone)
        ranked.put_many(packed(everyone), rng.randbytes(16 * size))
    ranked._check()
    assert ranked.nbytes <= 1.3 * fresh.nbytes


def test_what_is_removed_makes_room() -> None:
    players, rng = table_of(20_000), random.Random(2)
    ranked = RankedSet(players)
    ranked.put_many(packed(list(range(20_000))), records(rng, 20_000))
    full = ranked.nbytes
    for _ in range(10):
        some = rng.sample(range(20_000), 15_000)
        assert ranked.remove_many(packed(some)) == 15_000
        ranked._check()
        ranked.put_many(packed(some), records(rng, 15_000))
    assert ranked.nbytes <= 1.2 * full
    ranked.clear()
    assert ranked.nbytes < 1000


def test_small_sets_are_small() -> None:
    players = table_of(10_000)
    ranked = RankedSet(players)
    ranked.put(1, bytes(16))
    assert ranked.nbytes < 2000


def test_sparse_and_dense_sets_turn_into_each_other() -> None:
    players, rng = table_of(30_000), random.Random(3)
    ranked = RankedSet(players)
    order = rng.sample(range(30_000), 30_000)
    for at, number in enumerate(order):
        ranked.put(number, records(rng, 1))
        if at % 5000 == 0:
            ranked._check()
    for at, number in enumerate(order[:-50]):
        ranked.remove(number)
        if at % 500 == 0:
            ranked.put(number, bytes(16))
            ranked.remove(number)
            ranked._check()
    assert len(ranked) == 50


def test_interning_survives_exhaustion() -> None:
    players = PlayerTable()
    for start in (0, 5, 500, 5000):
        ids = [f"{start}:{n}" * 9 for n in range(start)]
        limit = players.limit

        def check(limit: int = limit, done: int = start) -> None:
            players._check()
            assert players.limit in {limit, limit + done}

        survive(partial(players.intern_many, ids), check)
    survive(lambda: players.intern("one more"), players._check)


def test_loading_survives_exhaustion() -> None:
    players = table_of(3000)
    ranked = RankedSet(players)
    ranked.put_many(packed(list(range(3000))), records(random.Random(4), 3000))
    dumps = players.dump(), ranked.dump()
    assert survive(lambda: PlayerTable.load(dumps[0]), players._check) > 3
    assert survive(lambda: RankedSet.load(players, dumps[1]), players._check) > 3
    survive(ranked.dump, ranked._check)
    survive(players.dump, players._check)


@pytest.mark.parametrize("count", [1, 50, 3000])
def test_putting_survives_exhaustion(count: int) -> None:
    players, rng = table_of(3000), random.Random(5)
    ranked, numbers = RankedSet(players), packed(list(range(count)))

    def check() -> None:
        ranked._check()
        assert len(ranked) in {0, count}

    survive(lambda: ranked.put_many(numbers, records(rng, count)), check)
    ranked.clear()
    survive(lambda: ranked.build(numbers, records(rng, count)), check)
    for _ in range(200):
        number, record = rng.randrange(3000), records(rng, 1)
        survive(partial(ranked.put, number, record), ranked._check)


def test_reading_survives_exhaustion() -> None:
    players = table_of(500)
    ranked = RankedSet(players)
    ranked.put_many(packed(list(range(500))), records(random.Random(6), 500))
    survive(lambda: ranked.slice(0, 500), ranked._check)
    survive(lambda: ranked.offsets(["player000001"] * 100), ranked._check)
    survive(lambda: ranked.places(["player000001"] * 100), ranked._check)
    survive(lambda: ranked.best_of(packed(list(range(500))), 400), ranked._check)
    survive(lambda: ranked.export(0, 500), ranked._check)
    numbers = struct.pack("=500q", *range(500))
    assert survive(lambda: players.ids(numbers), players._check) > 1


def test_columns_survive_exhaustion() -> None:
    """What is not bytes is copied, in memory of the core."""
    reader, ranks, rows = RecordReader(), RankColumns(1, 3), bytearray(2400)
    column = bytearray(800)
    assert survive(lambda: reader.columns(rows), lambda: None) > 0
    assert survive(lambda: reader.pack(column, column, column, column), lambda: None) > 3
    assert survive(lambda: reader.digest_rows(column, rows), lambda: None) > 1
    assert survive(lambda: ranks.add(rows), lambda: None) > 0
    assert ranks.add(rows[:24])[0] == struct.pack("=q", 1)


def test_merging_survives_exhaustion() -> None:
    players = table_of(2000)
    sets = [RankedSet(players, words=3, order=2) for _ in range(3)]
    rows = b"".join(struct.pack("=4q", n, 0, n, n * 7) for n in range(2000))

    def merge() -> None:
        Merge("add", [sets], rows, first_version=1).apply()

    def check() -> None:
        for ranked in sets:
            ranked._check()
        assert {len(ranked) for ranked in sets} in ({0}, {2000})

    assert survive(merge, check) > 10
    planned = Merge("add", [sets], rows, first_version=2001)
    survive(planned.apply, check)
