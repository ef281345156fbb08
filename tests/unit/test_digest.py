"""The digest of a period: SHA-256 of the bytes that the module describes, however they come in."""

import hashlib
import struct
from array import array

from hypothesis import given
from hypothesis import strategies as st

from toprung._native import RecordReader
from toprung.domain.digest import Digester
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.sortkey import RecordShape

directions = st.sampled_from(("asc", "desc"))
shapes = st.builds(
    RecordShape,
    directions,
    st.none() | directions,
    st.sampled_from(["first", "last", "player"]),
)
numbers = st.integers(INT64_MIN, INT64_MAX)
rows = st.tuples(st.integers(0, 2**32), numbers, numbers, numbers, st.integers(0, INT64_MAX))
ladders = st.dictionaries(st.text(max_size=8), st.lists(rows, max_size=12), max_size=3)
Row = tuple[int, int, int, int, int]


def described(shape: RecordShape, period: dict[str, list[Row]]) -> str:
    """The digest as the documents say it is made."""
    content = b"toprung-period-1\n"
    for scope, entries in period.items():
        name = scope.encode()
        content += struct.pack(">I", len(name)) + name + struct.pack(">Q", len(entries))
        for number, score, subscore, at, version in entries:
            told = subscore if shape.tied == 2 else 0
            content += struct.pack(">5q", number, score, told, at, version)
    return hashlib.sha256(content).hexdigest()


@given(shapes, ladders, st.integers(1, 5))
def test_it_is_what_the_module_describes(
    shape: RecordShape, period: dict[str, list[Row]], at_once: int
) -> None:
    reader = RecordReader(tied=shape.tied, descending=shape.descending, last_wins=shape.last_wins)
    digester = Digester(reader.digest_rows)
    for scope, entries in period.items():
        digester.begin(scope, len(entries))
        for start in range(0, len(entries), at_once):
            some = entries[start : start + at_once]
            records = b"".join(shape.pack(*values) for _, *values in some)
            digester.add(array("q", [number for number, *_ in some]), records)
    assert digester.digest == described(shape, period)
    assert digester.entries == sum(map(len, period.values()))


def test_one_digest_is_as_it_always_was() -> None:
    shape = RecordShape("desc", None, "first")
    digester = Digester(RecordReader().digest_rows)
    digester.begin("global", 2)
    digester.add(array("q", [4, 2]), shape.pack(75, None, 5, 8) + shape.pack(-70, None, 6, 9))
    assert digester.digest == described(shape, {"global": [(4, 75, 0, 5, 8), (2, -70, 0, 6, 9)]})
    assert digester.digest.startswith("4d1c35455af5a3d1")
