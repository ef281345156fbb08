"""Cards: all entries of one player on one board, as bytes.

A card is what the cluster profile locks, stores and ships. Its entries have a fixed width and
stand in the order of their periods, so that two cards are compared entry by entry:

    period   4 bytes, the number of (window, period)
    scopes   4 bytes, the number of the tuple of scopes that the entry counts in
    record   the entry itself (`sortkey`)

Numbers are given once and never change their meaning (`period_name`, `scopes_name`). A card is
absolute: the one with the greater version replaces the other, in whatever order they arrive.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.sortkey import RecordShape

STOP_BYTES = 8
"""Bytes of an entry before its record: the numbers of the stop's period and scopes."""


class Card(NamedTuple):
    """A player's card as it was at one moment."""

    player: str
    version: int
    """The position of the event that changed it last."""
    entries: bytes
    """Empty when the player was taken off the board."""


def number_bytes(number: int) -> bytes:
    """A number as it stands in a card.

    >>> number_bytes(258)
    b'\\x00\\x00\\x01\\x02'
    """
    return number.to_bytes(4)


def entry_width(shape: RecordShape) -> int:
    """Bytes of one entry."""
    return STOP_BYTES + 8 * shape.words


def card_entry(period: bytes, scopes: bytes, record: bytes) -> bytes:
    """One entry of a card."""
    return period + scopes + record


def entry_scopes(entry: bytes) -> bytes:
    """The number of the scopes that an entry counts in."""
    return entry[4:STOP_BYTES]


def entry_record(entry: bytes) -> bytes:
    """The record of an entry."""
    return entry[STOP_BYTES:]


def split_card(entries: bytes, shape: RecordShape) -> dict[bytes, bytes]:
    """The entries by the number of their period.

    >>> shape = RecordShape("desc", None, "first")
    >>> entry = card_entry(number_bytes(7), number_bytes(1), bytes(24))
    >>> split_card(join_card([entry]), shape) == {number_bytes(7): entry}
    True
    """
    width = STOP_BYTES + 8 * shape.words
    return {entries[at : at + 4]: entries[at : at + width] for at in range(0, len(entries), width)}


def join_card(entries: Iterable[bytes]) -> bytes:
    """The entries as one card, in the order of their periods."""
    return b"".join(sorted(entries))


def period_name(window: str, period: str) -> str:
    """What the number of a period stands for.

    >>> parse_period_name(period_name("daily", "2026-11-15"))
    ('daily', '2026-11-15')
    """
    return f"{window}/{period}"


def parse_period_name(name: str) -> tuple[str, str]:
    """The window and period behind a name."""
    window, _, period = name.partition("/")
    return window, period


def period_ladder(board_id: str, name: str) -> Ladder:
    """The ladder of everybody in the period behind a name."""
    return Ladder(board_id, *parse_period_name(name), GLOBAL)


def scopes_name(scopes: Iterable[str]) -> str:
    """What the number of a tuple of scopes stands for; no scope contains a line break.

    >>> parse_scopes_name(scopes_name(("global", "country:US")))
    ('global', 'country:US')
    """
    return "\n".join(scopes)


def parse_scopes_name(name: str) -> tuple[str, ...]:
    """The scopes behind a name."""
    return tuple(name.split("\n"))
