"""Snapshots: the order of a ladder in a compact form, from which any rank is told exactly.

A ladder is kept as *parts* of three kinds. All numbers are little-endian.

* Players, ordered by their numbers, at most 4,096 per part. The part's `first` is the number of its
  first player. Its body: the widths of gaps and of offsets (1 byte each), the count of players (2
  bytes); the gap between each player's number and the one before, less one; the offset
  (the 0-based place in the order) of each player.
* Ties, at most 32,768 places per part; `first` is the offset of the first. Its body: where the tie
  group begins that the places before it belong to, and how many tie groups begin before it (4 bytes
  each); a bit for each place that says whether a tie group begins there, the lowest bit of a byte
  first.
* Scores, at most 4,096 tie groups per part; `first` is the number of its first group, counted from
  0. Its body: the first word of the group's sort key (8 bytes), whether its bits are inverted (1
  byte: 1 where more is better), the width of steps (1 byte), the count of groups (2 bytes); the
  difference between each group's word and the one before.

Gaps, offsets and steps are written as *planes*: the lowest bytes of all of them, then the next
bytes, and last the lowest halves of bytes if no more is left of any, two in a byte. The width is
the number of half bytes that the greatest of the part needs. So the players of a crowded ladder,
whose numbers follow each other, take 2.5 bytes each at a million, and a bit; scores take what is
left of `PLAYER_BYTES_MAX` per player. Where that is not enough, the best have scores and the others
have none.

Players are numbers here, never ids: a number is never given again, and tells nothing of a player
who was erased.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import mul
from typing import Final, NamedTuple

from toprung.domain.ranking import Counts, Ranking

PLAYERS, TIES, SCORES = range(3)
"""The kinds of parts."""

PLAYERS_PER_PART: Final = 4_096
PLACES_PER_PART: Final = 32_768
GROUPS_PER_PART: Final = 4_096

PLAYER_BYTES_MAX: Final = 5
"""That a player may take in a snapshot of a ladder, if more than one part's players are on it."""

_ALL, _SIGN = 2**64 - 1, 2**63  # of words in sort keys
_BUCKET_BITS: Final = 12
_PLAYERS_HEAD: Final = struct.Struct("<BBH")
_TIES_HEAD: Final = struct.Struct("<II")
_SCORES_HEAD: Final = struct.Struct("<QBBH")
_FLAT_SPAN: Final = 4
"""Numbers per player up to which ranks are found by number, and not by search."""
_FLAGS: Final = bytes.maketrans(b"01", b"\0\1")


class Part(NamedTuple):
    """A part of a ladder, as it is stored."""

    kind: int
    first: int
    body: bytes


# --- from an order to parts -----------------------------------------------------------------------


def parts_of(
    numbers: Sequence[int], starts: bytes, words: Sequence[int], *, descending: bool = True
) -> Iterator[Part | None]:
    """The parts of a ladder; None now and then, after some work that led to no part yet.

    `numbers` are the players, best first; `starts` the bits of its tie groups; `words` the first
    words of their sort keys, whose bits are inverted if the ladder is `descending`.

    >>> parts = [part for part in parts_of([7, 5, 6], b"\\x05", [10, 20]) if part]
    >>> [(part.kind, part.first, len(part.body)) for part in parts]
    [(0, 5, 6), (1, 0, 9), (2, 0, 13)]
    """
    room = PLAYER_BYTES_MAX * len(numbers)
    if len(numbers) <= PLAYERS_PER_PART:
        room += 8 * len(numbers) + 1024  # whatever it takes: it is little
    for part in _player_parts(numbers):
        room -= 0 if part is None else len(part.body)
        yield part
    for part in _tie_parts(starts, len(numbers)):
        room -= len(part.body)
        yield part
    for part in _score_parts(words, descending):
        room -= len(part.body)
        if room < 0:
            return
        yield part


def _player_parts(numbers: Sequence[int]) -> Iterator[Part | None]:
    """Players by their numbers: put into buckets first, so that nothing long is sorted at once."""
    buckets: dict[int, array[int]] = {}
    for start in range(0, len(numbers), PLAYERS_PER_PART):
        for offset, number in enumerate(numbers[start : start + PLAYERS_PER_PART], start):
            key = number >> _BUCKET_BITS
            bucket = buckets.get(key)
            if bucket is None:
                bucket = buckets[key] = array("Q")
            bucket.append((number & (1 << _BUCKET_BITS) - 1) << 32 | offset)
        yield None
    players: list[int] = []
    offsets: list[int] = []
    for key in sorted(buckets):
        base = key << _BUCKET_BITS
        found = sorted(buckets.pop(key))
        players += [base + (each >> 32) for each in found]
        offsets += [each & 0xFFFFFFFF for each in found]
        if len(players) >= PLAYERS_PER_PART:
            yield _player_part(players[:PLAYERS_PER_PART], offsets[:PLAYERS_PER_PART])
            del players[:PLAYERS_PER_PART], offsets[:PLAYERS_PER_PART]
    if players:
        yield _player_part(players, offsets)


def _player_part(players: Sequence[int], offsets: Sequence[int]) -> Part:
    gaps = [after - before - 1 for before, after in pairwise(players)]
    gap_width, gap_planes = _planes(gaps)
    offset_width, offset_planes = _planes(offsets)
    head = _PLAYERS_HEAD.pack(gap_width, offset_width, len(players))
    return Part(PLAYERS, players[0], head + gap_planes + offset_planes)


def _tie_parts(starts: bytes, places: int) -> Iterator[Part]:
    tied_from = groups = 0
    for first in range(0, places, PLACES_PER_PART):
        bits = starts[first // 8 : (first + PLACES_PER_PART) // 8]
        yield Part(TIES, first, _TIES_HEAD.pack(tied_from, groups) + bits)
        number = int.from_bytes(bits, "little")
        groups += number.bit_count()
        if number:
            tied_from = first + number.bit_length() - 1


def _score_parts(words: Sequence[int], descending: bool) -> Iterator[Part]:
    for first in range(0, len(words), GROUPS_PER_PART):
        some = words[first : first + GROUPS_PER_PART]
        width, planes = _planes([after - before for before, after in pairwise(some)])
        head = _SCORES_HEAD.pack(some[0], descending, width, len(some))
        yield Part(SCORES, first, head + planes)


def _planes(values: Sequence[int]) -> tuple[int, bytes]:
    """How many half bytes the greatest value needs, and the values plane by plane.

    >>> _planes([1, 515, 2])
    (3, b'\\x01\\x03\\x02 \\x00')
    """
    width = (max(values, default=0).bit_length() + 3) // 4
    packed = array("Q", values).tobytes()
    planes = [packed[plane::8] for plane in range(width // 2)]
    if width % 2:
        halves = packed[width // 2 :: 8]
        low, high = (int.from_bytes(halves[at::2], "little") for at in (0, 1))
        planes.append((low | high << 4).to_bytes((len(halves) + 1) // 2, "little"))
    return width, b"".join(planes)


def _values(body: bytes, start: int, width: int, count: int) -> memoryview:
    """The values that were written as planes."""
    packed = bytearray(8 * count)
    for plane in range(width // 2):
        packed[plane::8] = body[start + plane * count : start + (plane + 1) * count]
    if width % 2:
        start += width // 2 * count
        pairs = (count + 1) // 2
        both = int.from_bytes(body[start : start + pairs], "little")
        mask = int.from_bytes(b"\x0f" * pairs, "little")
        halves = bytearray(2 * pairs)
        halves[0::2] = (both & mask).to_bytes(pairs, "little")
        halves[1::2] = (both >> 4 & mask).to_bytes(pairs, "little")
        packed[width // 2 :: 8] = halves[:count]
    return memoryview(packed).cast("Q")


def _length(width: int, count: int) -> int:
    """How many bytes so many values take."""
    return width // 2 * count + width % 2 * ((count + 1) // 2)


# --- one player -----------------------------------------------------------------------------------


def offset_in(part: Part, number: int) -> int | None:
    """The place of a player in the order, from the part of players that it would be in."""
    players, offsets = _players(part)
    at = bisect_left(players, number)
    return offsets[at] if at < len(players) and players[at] == number else None


def counts_in(part: Part, offset: int) -> Counts:
    """What lay before the entry at a place, from the part of ties that it is in.

    >>> ties = [
    ...     part for part in parts_of([7, 5, 6], b"\\x05", [1, 2]) if part and part.kind == TIES
    ... ]
    >>> counts_in(ties[0], 1)
    Counts(offset=1, tied_before=0, distinct_before=0)
    """
    tied_from, groups = _TIES_HEAD.unpack_from(part.body)
    place = offset - part.first
    head = _TIES_HEAD.size
    bits = int.from_bytes(part.body[head : head + place // 8 + 1], "little") & (2 << place) - 1
    tied_before = part.first + bits.bit_length() - 1 if bits else tied_from
    return Counts(offset, tied_before, groups + bits.bit_count() - 1)


def score_in(part: Part, group: int) -> int | None:
    """The score of a tie group, from the part of scores that it would be in."""
    first, descending, width, count = _SCORES_HEAD.unpack_from(part.body)
    at = group - part.first
    if at >= count:
        return None
    word = first + sum(_values(part.body, _SCORES_HEAD.size, width, count - 1)[:at])
    return int(word ^ (_ALL if descending else 0)) - _SIGN


def last_player(part: Part) -> int:
    """The greatest number of a part of players."""
    return _players(part)[0][-1]


def _players(part: Part) -> tuple[list[int], memoryview]:
    """The players of a part and their offsets."""
    gap_width, offset_width, count = _PLAYERS_HEAD.unpack_from(part.body)
    start = _PLAYERS_HEAD.size
    gaps = _values(part.body, start, gap_width, count - 1)
    players = list(accumulate(gaps, lambda number, gap: number + gap + 1, initial=part.first))
    start += _length(gap_width, count - 1)
    return players, _values(part.body, start, offset_width, count)


# --- all players ----------------------------------------------------------------------------------


class PastRanks:
    """The ranks that all players of a ladder had, in one ranking.

    Parts are added in their order, those of ties first; then `of` tells ranks. Players whose
    numbers lie close together are found by number, others by search.

    >>> past = PastRanks("competition", total=3, least=5, greatest=7)
    >>> for part in sorted(
    ...     filter(None, parts_of([7, 5, 6], b"\\x05", [1, 2])), key=lambda p: -p[0]
    ... ):
    ...     past.add(part)
    >>> past.of([5, 6, 7, 8]), past.is_complete
    ([1, 3, 1, 0], True)
    """

    __slots__ = ("_by_number", "_count", "_least", "_numbers", "_ranking", "_ranks", "_total")

    def __init__(self, ranking: Ranking, total: int, least: int, greatest: int) -> None:
        """`least` and `greatest` are the numbers of players that are on it, or beyond them."""
        self._ranking = ranking
        self._total = total
        if greatest < _FLAT_SPAN * total:  # then nothing has to be subtracted
            least = 0
        self._least = least
        self._count = 0
        self._ranks = array("I")
        """By offset, while it is filled; of rankings other than ordinal."""
        span = greatest - least + 1
        self._numbers: array[int] | None = None if span <= _FLAT_SPAN * total else array("Q")
        """In order; None: ranks are found by number."""
        self._by_number = array("I", bytes(4 * span if self._numbers is None else 0))

    @staticmethod
    def bytes_of(total: int) -> int:
        """What it takes at most, for a ladder of so many players."""
        return 4 * _FLAT_SPAN * total

    @property
    def nbytes(self) -> int:
        """What it takes."""
        return 4 * len(self._by_number) + 8 * len(self._numbers or ())

    @property
    def is_complete(self) -> bool:
        """Whether all of its players were added."""
        return self._count == self._total

    def add(self, part: Part) -> None:
        """Take in a part; what is not needed is passed over."""
        if part.kind == TIES and self._ranking != "ordinal":
            self._ranks.extend(_ranks(part, self._ranking, self._total))
        elif part.kind == PLAYERS:
            players, offsets = _players(part)
            self._count += len(players)
            ranked = self._ranks
            if self._ranking == "ordinal":
                ranks = array("I", [offset + 1 for offset in offsets])
            else:
                ranks = array("I", [ranked[offset] for offset in offsets])
            if self._numbers is not None:
                self._numbers.extend(players)
                self._by_number.extend(ranks)
            elif players[-1] - players[0] + 1 == len(players):
                at = players[0] - self._least
                self._by_number[at : at + len(players)] = ranks
            else:
                by_number, least = self._by_number, self._least
                for number, rank in zip(players, ranks, strict=True):
                    by_number[number - least] = rank

    def of(self, numbers: Collection[int]) -> list[int]:
        """The rank of each player; 0 if it was not on the ladder. O(1) or O(log n) for each."""
        ranks, least, order = self._by_number, self._least, self._numbers
        if order is None:
            if not least:
                try:
                    return list(map(ranks.__getitem__, numbers))
                except IndexError:  # somebody came later
                    pass
            size = len(ranks)
            return [ranks[n - least] if 0 <= n - least < size else 0 for n in numbers]
        found = []
        for number in numbers:
            at = bisect_left(order, number)
            found.append(ranks[at] if at < len(order) and order[at] == number else 0)
        return found


def _ranks(part: Part, ranking: Ranking, total: int) -> Iterator[int]:
    """The ranks of the places of a part of ties."""
    tied_from, groups = _TIES_HEAD.unpack_from(part.body)
    count = min(PLACES_PER_PART, total - part.first)
    number = int.from_bytes(part.body[_TIES_HEAD.size :], "little")
    flags = f"{number:0{count}b}"[::-1].encode().translate(_FLAGS)
    if ranking == "dense":
        ranks: Iterator[int] = accumulate(flags, initial=groups)
    else:
        starts = map(mul, flags, range(part.first + 1, part.first + count + 1))
        ranks = accumulate(starts, max, initial=tied_from + 1)
    next(ranks)
    return ranks
