"""Ladders in columns: the native core says what the Python that defines records says."""

import random
import struct
from array import array
from collections.abc import Callable
from itertools import pairwise, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toprung._native import PlayerTable, RankColumns, RankedSet, RecordReader
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.sortkey import Direction, RecordShape

DIRECTIONS: tuple[Direction, ...] = ("asc", "desc")
SHAPES = [
    RecordShape(*rules)
    for rules in product(DIRECTIONS, (None, *DIRECTIONS), ("first", "last", "player"))
]
MANY = 10_000
"""Rows of which the GIL is given up, and that lie in several chunks."""

numbers = st.integers(INT64_MIN, INT64_MAX)
entries = st.tuples(numbers, numbers, numbers, st.integers(0, INT64_MAX))
few_entries = st.lists(entries, max_size=20)
EDGES = [(INT64_MIN, INT64_MAX, INT64_MIN, 0), (INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX)]

Entries = list[tuple[int, int, int, int]]


def reader(shape: RecordShape) -> RecordReader:
    return RecordReader(tied=shape.tied, descending=shape.descending, last_wins=shape.last_wins)


def records_of(shape: RecordShape, rows: Entries) -> bytes:
    return b"".join(shape.pack(*row) for row in rows)


def unpacked(column: bytes) -> list[int]:
    return array("q", column).tolist()


def random_entries(count: int) -> Entries:
    rng = random.Random(7)
    return [(rng.randrange(50), rng.randrange(3), rng.randrange(10**15), n) for n in range(count)]


@given(st.sampled_from(SHAPES), few_entries)
@example(SHAPES[0], EDGES)
@example(SHAPES[-1], EDGES)
def test_columns_are_the_values_of_records(shape: RecordShape, rows: Entries) -> None:
    records = records_of(shape, rows)
    width = 8 * shape.words
    values = [shape.values(records[at : at + width]) for at in range(0, len(records), width)]
    expected = [(score, subscore or 0, at, version) for score, subscore, at, version in values]
    columns = [unpacked(column) for column in reader(shape).columns(records)]
    assert list(zip(*columns, strict=True)) == expected


@given(st.sampled_from(SHAPES), few_entries)
@example(SHAPES[0], EDGES)
@example(SHAPES[-1], EDGES)
def test_packing_is_that_of_the_shape(shape: RecordShape, rows: Entries) -> None:
    columns = [array("q", (row[which] for row in rows)) for which in range(4)]
    assert reader(shape).pack(*columns) == records_of(shape, rows)


@given(st.sampled_from(SHAPES), st.lists(st.tuples(numbers, entries), max_size=20))
def test_digest_rows_are_five_numbers_each(
    shape: RecordShape, rows: list[tuple[int, tuple[int, int, int, int]]]
) -> None:
    pieces = []
    for number, entry in rows:
        score, subscore, at, version = shape.values(shape.pack(*entry))
        pieces.append(struct.pack(">5q", number, score, subscore or 0, at, version))
    packed = array("q", (number for number, _ in rows))
    records = records_of(shape, [entry for _, entry in rows])
    assert reader(shape).digest_rows(packed, records) == b"".join(pieces)


def ranks_of(ties: list[bytes]) -> tuple[list[int], list[int]]:
    """Competition and dense ranks of rows with these tied words, by their definition."""
    return [1 + ties.index(tie) for tie in ties], [
        1 + len({each for each in ties if each < tie}) for tie in ties
    ]


@given(st.data(), st.integers(1, 4))
def test_ranks_are_those_of_the_definition(data: st.DataObject, words: int) -> None:
    tied = data.draw(st.integers(1, words))
    word = st.sampled_from([bytes(8), bytes(7) + b"\1", b"\xff" * 8])
    rows = sorted(data.draw(st.lists(st.lists(word, min_size=words, max_size=words))))
    records = [b"".join(row) for row in rows]
    ranks = RankColumns(tied, words)
    found: tuple[list[int], list[int]] = [], []
    while records:
        some = data.draw(st.integers(0, len(records)))
        added = ranks.add(b"".join(records[: some + 1]))
        for column, new in zip(found, added, strict=True):
            column.extend(unpacked(new))
        del records[: some + 1]
    assert found == ranks_of([b"".join(row[:tied]) for row in rows])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_ladder_in_columns(shape: RecordShape) -> None:
    players, rows = PlayerTable(), random_entries(MANY)
    given_numbers = players.intern_many([f"p{n * 7919 % MANY}" for n in range(MANY)])
    ranked = RankedSet(players, words=shape.words, order=shape.order, tied=shape.tied)
    ranked.build(given_numbers, records_of(shape, rows))
    exported, records = ranked.export(0, MANY)
    expected = ranked.slice(0, MANY)[4]
    assert unpacked(exported) == [number for number, _, _ in expected]
    assert records == b"".join(record for _, _, record in expected)
    offsets, ids = players.ids(exported)
    stops = array("i", offsets)
    assert [ids[a:b] for a, b in pairwise(stops)] == [player for _, player, _ in expected]
    columns = reader(shape).columns(records)
    assert reader(shape).pack(*columns) == records
    assert len(reader(shape).digest_rows(exported, records)) == 40 * MANY
    places = [place for place in ranked.places(array("I", unpacked(exported))) if place]
    competition, dense = RankColumns(shape.tied, shape.words).add(records)
    assert unpacked(competition) == [place[1] + 1 for place in places]
    assert unpacked(dense) == [place[2] + 1 for place in places]


@given(st.integers(0, 400), st.integers(0, 500), st.integers(0, 500), st.integers(1, 4))
def test_export_is_slice_in_columns(size: int, start: int, stop: int, words: int) -> None:
    players, rng = PlayerTable(), random.Random(size)
    ranked = RankedSet(players, words=words)
    for number in range(size):  # one by one, so that leaves are not in the order of their slots
        record = struct.pack(f">{words}Q", *(rng.randrange(9) for _ in range(words)))
        ranked.put(players.intern(f"p{number}"), record)
    rows = ranked.slice(start, stop)[4]
    exported, records = ranked.export(start, stop)
    assert unpacked(exported) == [number for number, _, _ in rows]
    assert records == b"".join(record for _, _, record in rows)


def test_export_refuses_what_is_no_offset() -> None:
    ranked = RankedSet(PlayerTable())
    assert ranked.export(0, 2**63 - 1) == (b"", b"")
    for start, stop in ((-1, 1), (0, -1)):
        with pytest.raises(ValueError, match="must not be negative"):
            ranked.export(start, stop)
    with pytest.raises(OverflowError):
        ranked.export(0, 2**63)
    with pytest.raises(TypeError, match="must be an int"):
        ranked.export("0", 1)  # type: ignore[arg-type]


def test_ids_in_columns() -> None:
    players = PlayerTable()
    long = "é" * 128
    players.intern_many(["ann", "bob", long, "cy"])
    players.forget(1)
    offsets, ids = players.ids(array("q", [3, 1, 2, 2, 0]))
    assert array("i", offsets).tolist() == [0, 2, 2, 258, 514, 517]
    assert ids.decode() == "cy" + long + long + "ann"
    assert players.ids(b"") == (bytes(4), b"")


@pytest.mark.parametrize("number", [-1, 2, 2**32 - 1, 2**32, INT64_MIN, INT64_MAX])
@pytest.mark.parametrize("before", [0, 500])
def test_ids_of_nobody_are_refused(number: int, before: int) -> None:
    players = PlayerTable()
    players.intern_many(["ann", "bob"])
    with pytest.raises(IndexError, match="no such player number"):
        players.ids(array("q", [1] * before + [number]))


def test_ids_of_more_bytes_than_offsets_count_are_refused() -> None:
    players = PlayerTable()
    number = players.intern("x" * 256)
    with pytest.raises(OverflowError, match="2 GiB"):
        players.ids(array("q", [number]) * (2**31 // 256))


BUFFERS: list[Callable[[bytes], bytes | bytearray | memoryview]] = [bytes, bytearray, memoryview]


@pytest.mark.parametrize("buffer", BUFFERS)
def test_any_buffer_will_do(buffer: Callable[[bytes], bytes | bytearray | memoryview]) -> None:
    shape, rows = SHAPES[-1], random_entries(20)
    records = records_of(shape, rows)
    assert reader(shape).columns(buffer(records)) == reader(shape).columns(records)
    columns = reader(shape).columns(records)
    assert reader(shape).pack(*(buffer(column) for column in columns)) == records
    packed = array("q", range(20)).tobytes()
    digested = reader(shape).digest_rows(buffer(packed), buffer(records))
    assert digested == reader(shape).digest_rows(packed, records)
    ranks = RankColumns(2, 4).add(buffer(records))
    assert ranks == RankColumns(2, 4).add(records)


def test_what_are_no_whole_records_is_refused() -> None:
    ranks = RankColumns(1, 3)
    ranks.add(bytes(24))
    for wrong in (bytes(23), bytes(25), bytes(32)):
        with pytest.raises(ValueError, match="multiple of 24 bytes"):
            RecordReader().columns(wrong)
        with pytest.raises(ValueError, match="multiple of 24 bytes"):
            RecordReader().digest_rows(bytes(8), wrong)
        with pytest.raises(ValueError, match="multiple of 24 bytes"):
            ranks.add(wrong)
    assert [unpacked(column) for column in ranks.add(b"\1" * 24)] == [[2], [2]]
    with pytest.raises(ValueError, match="one record for each number"):
        RecordReader().digest_rows(bytes(16), bytes(24))


def test_what_are_no_columns_is_refused() -> None:
    column, read = array("q", [1]), RecordReader()
    with pytest.raises(ValueError, match="equally long"):
        read.pack(column, column, column, array("q", [1, 2]))
    with pytest.raises(ValueError, match="times must be a multiple of 8"):
        read.pack(column, column, bytes(9), column)
    with pytest.raises(TypeError, match="signed 64-bit numbers"):
        read.pack(column, array("d", [1]), column, column)
    with pytest.raises(TypeError, match="signed 64-bit numbers"):
        PlayerTable().ids(array("I", [1]))
    with pytest.raises(TypeError, match="must be a buffer"):
        read.digest_rows([1], bytes(24))  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, MANY])
def test_versions_that_do_not_fit_are_refused(count: int) -> None:
    record = bytes(16) + b"\xff" * 8
    zeros = bytes(8 * count)
    with pytest.raises(ValueError, match="does not fit 63 bits"):
        RecordReader().columns(record * count)
    with pytest.raises(ValueError, match="does not fit 63 bits"):
        RecordReader().digest_rows(zeros, record * count)
    with pytest.raises(ValueError, match="must not be negative"):
        RecordReader().pack(zeros, zeros, zeros, array("q", [-1] * count))


@pytest.mark.parametrize(("tied", "words"), [(0, 1), (2, 1), (1, 5), (-1, 3), (5, 5)])
def test_what_is_no_shape_of_ranks_is_refused(tied: int, words: int) -> None:
    with pytest.raises(ValueError, match="1 <= tied <= words <= 4"):
        RankColumns(tied, words)
