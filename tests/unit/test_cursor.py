"""Cursors: what we write is read back, and nothing else is."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.board import Board
from toprung.errors import Invalid
from toprung.service.cursor import (
    FriendsCursor,
    PageCursor,
    SubmissionsCursor,
    cursor_text,
    parse_cursor,
)

BOARD = Board(id="blitz", generation=7)
WORDS = st.binary(min_size=8, max_size=8)
PAGES = st.builds(
    PageCursor,
    generation=st.just(7),
    window=st.sampled_from(["daily", "all-time"]),
    period=st.text(max_size=20),
    scope=st.text(max_size=70),
    best=WORDS,
    worst=WORDS,
    backward=st.booleans(),
    key=st.binary(min_size=16, max_size=16),
    player=st.text("abc-é𝄞", min_size=1, max_size=30),
)
PAGE = PageCursor(7, "daily", "2026-11-15", "global", b"a" * 8, b"b" * 8, False, b"k" * 16, "p")


@given(PAGES)
def test_a_cursor_is_read_back(cursor: PageCursor) -> None:
    text = cursor_text(cursor)
    assert text.isascii()
    assert not set(text) & set("+/=&?# ")
    assert parse_cursor(text, PageCursor, BOARD) == cursor


@given(st.one_of(st.text(), st.binary().map(lambda packed: urlsafe_b64encode(packed).decode())))
def test_garbage_is_refused(text: str) -> None:
    kinds: list[Any] = [PageCursor, FriendsCursor, SubmissionsCursor]
    for kind in kinds:
        with pytest.raises(Invalid, match="cursor"):
            parse_cursor(text, kind, BOARD)


@given(st.data())
def test_a_damaged_cursor_never_passes_as_another_text(data: st.DataObject) -> None:
    text = cursor_text(PAGE)
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.characters()) + text[at + 1 :]
    try:
        cursor = parse_cursor(damaged, PageCursor, BOARD)
    except Invalid:
        return
    assert cursor_text(cursor) == damaged


@pytest.mark.parametrize(
    "changes",
    [
        {"generation": 8},
        {"key": b"short"},
        {"key": b"k" * 24},
        {"best": b"a"},
        {"worst": b""},
        {"player": ""},
        {"player": "a/b"},
        {"player": "x" * 129},
    ],
)
def test_parts_that_do_not_fit_the_board_are_refused(changes: dict[str, object]) -> None:
    text = cursor_text(msgspec.structs.replace(PAGE, **changes))
    with pytest.raises(Invalid, match="cursor"):
        parse_cursor(text, PageCursor, BOARD)


def test_a_cursor_of_another_list_is_refused() -> None:
    friends = FriendsCursor(7, "daily", "2026-11-15", "global", "owner", b"k" * 16, "p")
    mistaken: list[Any] = [(PAGE, FriendsCursor), (friends, PageCursor), (PAGE, SubmissionsCursor)]
    for cursor, kind in mistaken:
        with pytest.raises(Invalid, match="not a cursor of this list"):
            parse_cursor(cursor_text(cursor), kind, BOARD)
