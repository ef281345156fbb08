"""Ranking semantics: how a place in the order becomes the number people see.

Each read knows three counts about an entry (its offset, the entries before its tie group, the
distinct results before its tie group) and every rank anywhere comes from them through `rank`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Literal

import msgspec

Ranking = Literal["ordinal", "competition", "dense"]
RANKINGS: tuple[Ranking, ...] = ("ordinal", "competition", "dense")


class Counts(msgspec.Struct, frozen=True, gc=False):
    """What lies before an entry on its ladder."""

    offset: int
    tied_before: int
    distinct_before: int


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


def counts_along(first: Counts, ties: Iterable[object]) -> list[Counts]:
    """The counts of consecutive entries, given those of the first and what each is tied by.

    >>> [c.tied_before for c in counts_along(Counts(0, 0, 0), [50, 50, 30])]
    [0, 0, 2]
    """
    tied_before, distinct_before = first.tied_before, first.distinct_before
    previous: object = None
    counts: list[Counts] = []
    for offset, tie in enumerate(ties, first.offset):
        if tie != previous and counts:
            tied_before = offset
            distinct_before += 1
        previous = tie
        counts.append(Counts(offset, tied_before, distinct_before))
    return counts


def shares(total: int, competition_rank: int) -> tuple[float, float]:
    """`percentile` and `top_percent` of a result; tied players share them.

    The first is how many players of a hundred it beats, the second the best share of players,
    in percent, that it belongs to.

    >>> shares(1000, 1), shares(1000, 10), shares(1000, 1000)
    ((99.9, 0.1), (99.0, 1.0), (0.0, 100.0))
    """
    return 100 * (total - competition_rank) / total, 100 * competition_rank / total
