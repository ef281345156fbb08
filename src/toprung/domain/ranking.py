"""Ranking semantics: how a place in the order becomes the number people see.

Each read knows three counts about an entry (its offset, the entries before its tie group, the
distinct results before its tie group) and every rank anywhere comes from them through `rank`. A
fourth, the entries before the end of its tie group, tells how many are worse (`shares`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec

Ranking = Literal["ordinal", "competition", "dense"]
RANKINGS: tuple[Ranking, ...] = ("ordinal", "competition", "dense")

DISTINCT_MAX = 10_000
"""How many distinct results a dense rank may count on a board that does not declare it.

An index need not count further than to one more than these.
"""


class Counts(msgspec.Struct, frozen=True, gc=False):
    """What lies before an entry on its ladder."""

    offset: int
    tied_before: int
    distinct_before: int


class TieCounts(Counts, frozen=True, gc=False):
    """What lies before an entry, and how far its tie group goes."""

    tied_until: int
    """Entries before the end of the tie group: all that are not worse."""


BEFORE: dict[Ranking, Callable[[Counts], int]] = {
    "ordinal": attrgetter("offset"),
    "competition": attrgetter("tied_before"),
    "dense": attrgetter("distinct_before"),
}
"""Which of the counts each ranking goes by."""


def rank(ranking: Ranking, counts: Counts) -> int:
    """The 1-based rank: ordinal 1,2,3,4; competition 1,1,3,4; dense 1,1,2,3.

    >>> [rank(r, Counts(offset=3, tied_before=2, distinct_before=1)) for r in RANKINGS]
    [4, 3, 2]
    """
    return BEFORE[ranking](counts) + 1


def ranking_count(ranking: Ranking) -> int:
    """Which of the three counts the ranking goes by, for who has them as a tuple.

    >>> [(3, 2, 1)[ranking_count(r)] + 1 for r in RANKINGS]
    [4, 3, 2]
    """
    return RANKINGS.index(ranking)


def counts_along(first: Counts, ties: Iterable[object], tied_until: int) -> list[TieCounts]:
    """The counts of consecutive entries, given those of the first and what each is tied by.

    `tied_until` is that of the last: its tie group may go on.

    >>> along = counts_along(Counts(0, 0, 0), [50, 50, 30], tied_until=4)
    >>> [(each.tied_before, each.tied_until) for each in along]
    [(0, 2), (0, 2), (2, 4)]
    """
    offset, tied_before, distinct_before = first.offset, first.tied_before, first.distinct_before
    lengths = _lengths(ties)
    last = len(lengths) - 1
    counts: list[TieCounts] = []
    for number, length in enumerate(lengths):
        end = offset + length
        until = tied_until if number == last else end
        if length == 1:  # nearly always
            counts.append(TieCounts(offset, tied_before, distinct_before, until))
        else:
            counts += [
                TieCounts(each, tied_before, distinct_before, until) for each in range(offset, end)
            ]
        offset = tied_before = end
        distinct_before += 1
    return counts


def _lengths(ties: Iterable[object]) -> list[int]:
    """How many consecutive ones are tied with each other.

    >>> _lengths([50, 50, 30])
    [2, 1]
    """
    every = list(ties)
    if len(set(every)) == len(every):  # nobody is tied: no need to look at neighbours
        return [1] * len(every)
    return [len(list(group)) for _, group in groupby(every)]


class Places(NamedTuple):
    """What is shown of the places of some entries, column by column."""

    ranks: Sequence[int]
    percentiles: Sequence[float]
    top_percents: Sequence[float]

    def stretch(self, start: int, stop: int) -> Places:
        """Those of the entries [start, stop)."""
        ranks, percentiles, top_percents = self
        return Places(ranks[start:stop], percentiles[start:stop], top_percents[start:stop])

    def at(self, numbers: Sequence[int]) -> Places:
        """Those of some of the entries."""
        ranks, percentiles, top_percents = self
        return Places(
            [ranks[each] for each in numbers],
            [percentiles[each] for each in numbers],
            [top_percents[each] for each in numbers],
        )


def places_of(ranking: Ranking, counts: Sequence[TieCounts], total: int) -> Places:
    """The places of entries with these counts, on a ladder of so many."""
    both = [shares(total, each.tied_before, each.tied_until) for each in counts]
    return Places(
        [rank(ranking, each) for each in counts],
        [percentile for percentile, _ in both],
        [top_percent for _, top_percent in both],
    )


def places_along(
    ranking: Ranking, first: Counts, ties: Sequence[object], tied_until: int, total: int
) -> Places:
    """`places_of` for `counts_along`: without an object per entry, where nobody is tied.

    >>> places_along("competition", Counts(4, 3, 3), [50, 30], 6, 10)
    Places(ranks=[4, 6], percentiles=[50.0, 40.0], top_percents=[40.0, 60.0])
    """
    length = len(ties)
    if not length or len(set(ties)) < length:
        return places_of(ranking, counts_along(first, ties, tied_until), total)
    ends = range(first.offset + 1, first.offset + length)
    before = [first.tied_before, *ends]
    places = before
    if ranking != "competition":
        start = first.offset if ranking == "ordinal" else first.distinct_before
        places = list(range(start, start + length))
    return Places(
        [each + 1 for each in places],
        [100 * (total - until) / total for until in (*ends, tied_until)],
        [100 * (each + 1) / total for each in before],
    )


def shares(total: int, tied_before: int, tied_until: int) -> tuple[float, float]:
    """`percentile` and `top_percent` of a result; tied players share them.

    The first is how many players of a hundred are strictly worse, the second the competition
    rank as a percentage of all players. So who is tied with everybody beats nobody:

    >>> shares(1000, 0, 1), shares(1000, 9, 10), shares(10, 0, 10)
    ((99.9, 0.1), (99.0, 1.0), (0.0, 10.0))
    """
    return 100 * (total - tied_until) / total, 100 * (tied_before + 1) / total
