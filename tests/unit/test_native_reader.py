"""Records as the native core reads them: the same as the Python that defines them says."""

import struct
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toprung._native import RecordReader
from toprung.domain.entry import Entry
from toprung.domain.instant import EARLIEST, LATEST, instant_datetime
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.sortkey import Direction, RecordShape
from toprung.service.view import reader_of

DIRECTIONS: tuple[Direction, ...] = ("asc", "desc")
SHAPES = [
    RecordShape(*rules)
    for rules in product(DIRECTIONS, (None, *DIRECTIONS), ("first", "last", "player"))
]
DAY = 86_400_000_000
scores = st.integers(INT64_MIN, INT64_MAX)
instants = st.integers(EARLIEST, LATEST - 1)


@given(st.sampled_from(SHAPES), scores, scores, instants, st.integers(1, INT64_MAX))
@example(SHAPES[0], INT64_MIN, INT64_MAX, EARLIEST, 1)
@example(SHAPES[-1], INT64_MAX, INT64_MIN, LATEST - 1, INT64_MAX)
def test_reads_what_was_packed(
    shape: RecordShape, score: int, subscore: int, at: int, version: int
) -> None:
    entry = Entry(score, subscore if shape.tied == 2 else None, at, version)
    read = reader_of(shape)(shape.record(entry))
    assert read == (entry.score, entry.subscore, instant_datetime(at), version)
    assert read[2].tzinfo is instant_datetime(at).tzinfo


def test_every_day_has_its_date() -> None:
    shape = RecordShape("desc", None, "first")
    for at in range(EARLIEST, LATEST, 29 * DAY + 12_345_678_901):  # each year, each kind of day
        assert reader_of(shape)(shape.pack(1, None, at, 1))[2] == instant_datetime(at)
    for year in (1970, 1972, 1999, 2000, 2100, 2400, 8999):  # the days around 1 March, one by one
        first = (year - 1970) * 36525 // 100 * DAY
        for at in range(first, min(first + 400 * DAY, LATEST), DAY):
            assert reader_of(shape)(shape.pack(1, None, at, 1))[2] == instant_datetime(at)


def test_what_is_no_record_is_refused() -> None:
    reader = RecordReader()
    for wrong in (b"", bytes(16), bytes(32)):
        with pytest.raises(ValueError, match="24 bytes"):
            reader.read(wrong)
    with pytest.raises(TypeError, match="must be bytes"):
        reader.read("x" * 24)  # type: ignore[arg-type]
    for at in (-1, 253_402_300_800_000_000):  # 1969, and the year 10000
        with pytest.raises(ValueError, match="time is out of range"):
            reader.read(struct.pack(">3Q", 0, at + 2**63, 1))


def test_what_is_no_shape_is_refused() -> None:
    for tied in (0, 3):
        with pytest.raises(ValueError, match="one word or two"):
            RecordReader(tied=tied)
    with pytest.raises(ValueError, match="a bit for each tied word"):
        RecordReader(tied=1, descending=2)
