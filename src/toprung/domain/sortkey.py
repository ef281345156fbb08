"""Sort keys: an entry as bytes whose order is the ladder's order, best first.

A key is a few big-endian 64-bit words, so that comparing keys as bytes compares entries:

    score      order-preserving; complemented when more is better
    subscore   only if the board declares one, in its own direction
    at         microseconds; complemented with tie rule "last", absent with tie rule "player"

and after the key, where all words are equal, the player id's bytes decide. Direction and tie
rule exist here and nowhere else: everything that orders compares keys. A *record* is the
full entry in the same words: score, subscore, at, version; its key is its beginning.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Literal

from toprung.domain.entry import Entry

_SIGN = 1 << 63
_ALL = (1 << 64) - 1

VERSION_BYTES = 8
"""The last word of a record, which no order and no list looks at."""

Direction = Literal["asc", "desc"]


class RecordShape:
    """How the entries of one board become words: the same for all of its ladders."""

    __slots__ = ("_flips", "_record", "descending", "last_wins", "order", "tied", "words")

    def __init__(self, order: Direction, subscore: Direction | None, tie_break: str) -> None:
        self.tied = 1 if subscore is None else 2
        """Words that make entries tied when equal: score and subscore."""
        self.order = self.tied + (tie_break != "player")
        """Words that are compared: the key."""
        self.words = self.tied + 2
        """Words of a record."""
        self.descending = (order == "desc") | (subscore == "desc") << 1
        """One bit per tied word: more is better."""
        self.last_wins = tie_break == "last"
        self._record = struct.Struct(f">{self.words}Q")
        complemented = (order == "desc", subscore == "desc", self.last_wins)
        self._flips = tuple(_ALL if each else 0 for each in complemented)

    def record(self, entry: Entry) -> bytes:
        """The entry as bytes, in key order.

        >>> shape = RecordShape("desc", None, "first")
        >>> early, late = Entry(50, None, 7, 1), Entry(50, None, 8, 2)
        >>> shape.record(Entry(51, None, 9, 3)) < shape.record(early) < shape.record(late)
        True
        """
        return self.pack(entry.score, entry.subscore, entry.achieved_at, entry.version)

    def pack(self, score: int, subscore: int | None, at: int, version: int) -> bytes:
        """The record of the entry with these values; every write packs, so no calls."""
        score_flip, subscore_flip, at_flip = self._flips
        if self.tied == 1:
            return self._record.pack((score + _SIGN) ^ score_flip, (at + _SIGN) ^ at_flip, version)
        return self._record.pack(
            (score + _SIGN) ^ score_flip,
            ((subscore or 0) + _SIGN) ^ subscore_flip,
            (at + _SIGN) ^ at_flip,
            version,
        )

    def key(self, entry: Entry) -> bytes:
        """The compared part of the entry's record."""
        return self.record(entry)[: 8 * self.order]

    def prefix(self, score: int, subscore: int | None = None) -> bytes:
        """Where the results of this score (and subscore) begin; a prefix of their keys."""
        words = self._tied_words(score, subscore)
        words = words if subscore is not None else words[:1]
        return struct.pack(f">{len(words)}Q", *words)

    def tie(self, record: bytes) -> bytes:
        """The part of a record that is equal between tied entries."""
        return record[: 8 * self.tied]

    def entry(self, record: bytes) -> Entry:
        """The entry behind a record.

        >>> shape = RecordShape("asc", "desc", "last")
        >>> shape.entry(shape.record(Entry(-3, 4, 5, 6)))
        Entry(score=-3, subscore=4, achieved_at=5, version=6)
        """
        return Entry(*self.values(record))

    def values(self, record: bytes) -> tuple[int, int | None, int, int]:
        """Score, subscore, time and version behind a record."""
        score_flip, subscore_flip, at_flip = self._flips
        if self.tied == 1:
            score, at, version = self._record.unpack(record)
            return (score ^ score_flip) - _SIGN, None, (at ^ at_flip) - _SIGN, version
        score, subscore, at, version = self._record.unpack(record)
        return (
            (score ^ score_flip) - _SIGN,
            (subscore ^ subscore_flip) - _SIGN,
            (at ^ at_flip) - _SIGN,
            version,
        )

    def score(self, record: bytes) -> int:
        """The score behind a record, when that is all one needs.

        >>> shape = RecordShape("desc", None, "first")
        >>> shape.score(shape.record(Entry(-3, None, 5, 6)))
        -3
        """
        return (int.from_bytes(record[:8]) ^ self._flips[0]) - _SIGN

    def _tied_words(self, score: int, subscore: int | None) -> list[int]:
        words = [_word(score, bool(self.descending & 1))]
        if self.tied > 1:
            words.append(_word(subscore or 0, bool(self.descending & 2)))
        return words


@lru_cache(maxsize=32)
def record_shape(order: Direction, subscore: Direction | None, tie_break: str) -> RecordShape:
    """The shared shape for these rules; there are fewer than twenty."""
    return RecordShape(order, subscore, tie_break)


def _word(number: int, complemented: bool) -> int:
    word = (number + _SIGN) & _ALL
    return word ^ _ALL if complemented else word
