"""Ranking semantics: how a place in the order becomes the number people see.

Each read knows three counts about an entry (its offset, the entries before its tie group, the
distinct results before its tie group) and every rank anywhere comes from them through `rank`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

Ranking = Literal["ordinal", "competition", "dense"]
RANKINGS: tuple[Ranking, ...] = ("ordinal", "competition", "dense")


class Counts(msgspec.Struct, frozen=True, gc=False):
    """What lies before an entry on its ladder."""

    offset: int
    tied_before: int
    distinct_before: int


def rank(ranking: Ranking, counts: Counts) -> int:
    """The 1-based rank: ordinal 1,2,3,4; competition 1,1,3,4; dense 1,1,2,3.

    >>> [rank(r, Counts(offset=3, tied_before=2, distinct_before=1)) for r in RANKINGS]
    [4, 3, 2]
    """
    if ranking == "ordinal":
        return counts.offset + 1
    if ranking == "competition":
        return counts.tied_before + 1
    return counts.distinct_before + 1


def ranking_count(ranking: Ranking) -> int:
    """Which of the three counts the ranking goes by, for who has them as a tuple.

    >>> [(3, 2, 1)[ranking_count(r)] + 1 for r in RANKINGS]
    [4, 3, 2]
    """
    return RANKINGS.index(ranking)


def counts_along(first: Counts, ties: Iterable[object]) -> Iterator[Counts]:
    """The counts of consecutive entries, given those of the first and what each is tied by.

    >>> [c.tied_before for c in counts_along(Counts(0, 0, 0), [50, 50, 30])]
    [0, 0, 2]
    """
    offset, tied_before = first.offset, first.tied_before
    distinct_before = first.distinct_before
    previous: object = None
    for step, tie in enumerate(ties):
        if step and tie != previous:
            tied_before = offset + step
            distinct_before += 1
        previous = tie
        yield Counts(offset + step, tied_before, distinct_before)


def percentile(total: int, competition_rank: int) -> float:
    """How many players of a hundred this result beats; tied players share it.

    >>> percentile(1000, 1), percentile(1000, 1000)
    (99.9, 0.0)
    """
    return 100 * (total - competition_rank) / total


def top_percent(total: int, competition_rank: int) -> float:
    """The best share of players that this result belongs to.

    >>> top_percent(1000, 10)
    1.0
    """
    return 100 * competition_rank / total
