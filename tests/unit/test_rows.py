"""Cutting lists into pieces: as many rows as the decoder finds, and refused what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.errors import Invalid
from toprung.http import rows
from toprung.http.problems import Refused
from toprung.http.rows import RowCutter

ROWS_MAX = 40

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\{}[],: \u00fc', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text(alphabet='ab"}{,', max_size=3), values, max_size=4)
lists = st.lists(objects | values, max_size=30)


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Iterator[None]:
    """Every second row is at the end of a piece."""
    names = ("PIECE_BYTES", "ROW_BYTES_MAX", "COUNTED_BYTES", "COUNTED_ROWS")
    before = [getattr(rows, name) for name in names]
    with pytest.MonkeyPatch.context() as patched:
        for name, value in zip(names, (30, 2_000, 20, 3), strict=True):
            patched.setattr(rows, name, value)
        yield
    assert [getattr(rows, name) for name in names] == before


def cut(text: bytes) -> list[bytes]:
    """The rows of a list, as they are written."""
    cutter = RowCutter(text, ROWS_MAX)
    for _ in cutter.cut():
        pass
    found = [bytes(row) for piece in cutter.pieces for row in cutter.rows(piece)]
    assert len(found) == cutter.count
    return found


@given(lists, st.sampled_from([None, 1]), st.sampled_from([(",", ":"), (" , ", "\t:\n")]))
def test_rows_are_those_of_the_list(
    written: list[Any], indent: int | None, separators: tuple[str, str]
) -> None:
    text = json.dumps(written, indent=indent, separators=separators, ensure_ascii=False)
    assert [json.loads(row) for row in cut(f" {text}\n".encode())] == written


@given(st.lists(objects | st.text(alphabet='ab"\\\\}{][,', max_size=40), max_size=30))
def test_rows_too_long_are_passed_over_to_their_ends(written: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows, "ROW_BYTES_MAX", 8)  # texts and escapes are cut anywhere
        patched.setattr(rows, "PIECE_BYTES", 8)
        patched.setattr(rows, "COUNTED_BYTES", 8)
        text = json.dumps(written, separators=(",", ":")).encode()
        cutter = RowCutter(text, ROWS_MAX)
        for _ in cutter.cut():
            pass
    found = [bytes(row) for piece in cutter.pieces for row in cutter.rows(piece)]
    assert [json.loads(row) for row in found] == written
    assert all(len(cutter.rows(piece)) == 1 for piece in cutter.too_long)


@given(lists, st.data())
def test_what_is_no_list_is_refused_as_the_decoder_does(written: list[Any], data: Any) -> None:
    text = bytearray(json.dumps(written).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 1))] = data.draw(
            st.sampled_from([b"", b",", b"]", b"[", b"{", b"}", b'"', b":", b"1", b" ", b"\\"])
        )
        text = text or bytearray(b" ")
    try:
        expected = [bytes(row) for row in msgspec.json.decode(text, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError):
        with pytest.raises((Refused, Invalid)):
            cut(bytes(text))
    else:
        assert cut(bytes(text)) == expected


@pytest.mark.parametrize("row", [b"0", b"[]", b"{}", b'""', b'{"a":[{},{}]}'])
def test_cutting_ends_with_the_first_row_too_many(row: bytes) -> None:
    assert len(cut(b"[" + b",".join([row] * ROWS_MAX) + b"]")) == ROWS_MAX
    cutter = RowCutter(b"[" + b",".join([row] * 10_000) + b"]", ROWS_MAX)
    with pytest.raises(Invalid, match="at most 40 rows"):
        for _ in cutter.cut():
            pass
    assert cutter.count < ROWS_MAX + 40


def test_malformed_rows_are_named_by_their_place() -> None:
    text = b"[" + b'{"a": 1},' * 20 + b'{"a": 1, "b" 2}' + b',{"a": 1}' * 20 + b"]"
    with pytest.raises(Refused, match=rf"\(byte {text.index(b'2}')}\)$"):
        cut(text)
