"""Anomaly: whether a score is too good to be taken for granted.

What is typical of a ladder is its median, and how far its entries typically are from it: the median
of their distances (MAD). The modified z-score of Iglewicz and Hoaglin is

    z = 0.6745 * (x - median) / MAD

(0.6745 is the MAD of a normal distribution whose standard deviation is 1.) Where more than half of
the entries are equal, the MAD is 0; then the standard deviation is taken from the outer deciles,
(q90 - q10) / 2.563. Where those are equal, too, nothing can be said.

Nothing here is a float. Medians are doubled, and medians of distances between them and entries are
quadrupled, so both are whole; and instead of computing z for each score, the least score that is
beyond the limit is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from toprung.domain.sortkey import Direction

COUNT_MIN: Final = 10
"""Of fewer entries nobody can tell what is typical."""
OWN_MAX: Final = 20
"""A player's own submissions that a score is compared with: the newest."""

_MAD_OF_NORMAL: Final = 6745
"""In ten-thousandths."""
_DECILES_OF_NORMAL: Final = 2563
"""The distance of the outer deciles, in thousandths of the standard deviation."""
_IMPACT_MAX: Final = 10**12


class Guard(msgspec.Struct, frozen=True, gc=False):
    """What is typical of a ladder at one moment. Scores are those of the board."""

    count: int
    median2: int = 0
    """The median, doubled: the sum of the two scores in the middle."""
    mad4: int = 0
    """The median of the distances from the median, quadrupled."""
    q10: int = 0
    """Nine tenths of the entries are at least as good."""
    q90: int = 0
    """One tenth of the entries is at least as good."""
    best: int = 0
    top: int | None = None
    """The score at the place that the rule `top` names; None if the ladder is shorter."""


def guard_of(scores: Sequence[int], order: Direction, top: int | None = None) -> Guard:
    """The statistics of a few scores, by sorting them.

    >>> guard_of([1, 2, 3, 4, 100], "desc", top=2)
    Guard(count=5, median2=6, mad4=4, q10=1, q90=100, best=100, top=4)
    >>> guard_of([7, 9], "asc").median2
    16
    """
    count = len(scores)
    if not count:
        return Guard(0)
    ordered = sorted(scores, reverse=order == "desc")  # best first
    low, high = middle(count)
    median2 = ordered[low] + ordered[high]
    distances = sorted(abs(2 * score - median2) for score in scores)
    return Guard(
        count,
        median2,
        distances[low] + distances[high],
        ordered[decile(count, 9)],
        ordered[decile(count, 1)],
        ordered[0],
        ordered[top - 1] if top is not None and top <= count else None,
    )


def middle(count: int) -> tuple[int, int]:
    """The offsets of the two in the middle of so many, which may be the same.

    >>> middle(4), middle(5)
    ((1, 2), (2, 2))
    """
    return (count - 1) // 2, count // 2


def decile(count: int, tenths: int) -> int:
    """The offset of the last of the first tenths of so many, best first.

    >>> decile(10, 1), decile(10, 9), decile(11, 1)
    (0, 8, 1)
    """
    return -(-count * tenths // 10) - 1


def outlier_from(guard: Guard, order: Direction, limit: int) -> int | None:
    """The least good score whose modified z-score exceeds a limit, in hundredths; None: no verdict.

    Out of reach is one beyond the range of scores.

    >>> typical = guard_of(list(range(1, 12)), "desc")  # median 6, MAD 3
    >>> outlier_from(typical, "desc", 350)  # 0.6745 * (x - 6) / 3 > 3.5 from 21.57
    22
    """
    if guard.count < COUNT_MIN:
        return None
    sign = 1 if order == "desc" else -1
    if guard.mad4:
        beyond, unit = limit * guard.mad4 * 100, 2 * _MAD_OF_NORMAL
    else:
        spread = sign * (guard.q90 - guard.q10)
        if spread <= 0:
            return None
        beyond, unit = limit * spread * 20, _DECILES_OF_NORMAL
    # Twice the distance from the median exceeds beyond / unit; all in the better direction.
    return sign * ((sign * guard.median2 * unit + beyond) // (2 * unit) + 1)


def lead_from(guard: Guard, order: Direction, share: int) -> int | None:
    """The least good score that leads by a share of the best, in hundredths of a percent.

    >>> lead_from(guard_of([50, 100], "desc"), "desc", 2000)
    120
    >>> lead_from(guard_of([50, 100], "asc"), "asc", 2000)
    40
    """
    if not guard.count:
        return None
    sign = 1 if order == "desc" else -1
    return guard.best + sign * max(1, -(-share * abs(guard.best) // 10_000))


def impact_of(guard: Guard, order: Direction, score: int) -> int:
    """How much a score stands out: its modified z-score in thousandths, whole; for sorting.

    >>> impact_of(guard_of(list(range(1, 12)), "desc"), "desc", 22)
    3597
    """
    sign = 1 if order == "desc" else -1
    twice = sign * (2 * score - guard.median2)
    spread = sign * (guard.q90 - guard.q10)
    if guard.mad4:
        found = twice * 2 * _MAD_OF_NORMAL // (10 * guard.mad4)
    elif spread > 0:
        found = twice * _DECILES_OF_NORMAL // (2 * spread)
    else:
        found = _IMPACT_MAX if twice > 0 else 0
    return max(-_IMPACT_MAX, min(found, _IMPACT_MAX))
