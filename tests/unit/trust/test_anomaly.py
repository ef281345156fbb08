"""The modified z-score of Iglewicz and Hoaglin, held to numbers computed by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.trust.anomaly import Guard, guard_of, impact_of, lead_from, outlier_from

# 2.1 to 2.7 and an outlier, in tenths: the median is 2.45, the distances from it are .35, .25, .15,
# .05, .05, .15, .15, .25, .35, 7.25, and their median is .2.
HAND = [21, 22, 23, 24, 25, 26, 23, 27, 28, 97]


def test_statistics_by_hand() -> None:
    # Sorted: 21 22 23 23 24 25 26 27 28 97; the middle two are 24 and 25.
    # Doubled distances from 49: 7 5 3 3 1 1 3 5 7 145; sorted 1 1 3 3 3 5 5 7 7 145.
    found = guard_of(HAND, "desc", top=3)
    assert found == Guard(10, median2=49, mad4=8, q10=22, q90=97, best=97, top=27)


@pytest.mark.parametrize(
    ("limit", "least"),
    [
        # z = 0.6745 * (x - 24.5) / 2 > 3.5: x > 24.5 + 7 / 0.6745 = 34.878...
        (350, 35),
        # z > 1: x > 24.5 + 2 / 0.6745 = 27.465...
        (100, 28),
        # z > 2.5: x > 24.5 + 5 / 0.6745 = 31.912...
        (250, 32),
    ],
)
def test_outliers_by_hand(limit: int, least: int) -> None:
    assert outlier_from(guard_of(HAND, "desc"), "desc", limit) == least


def test_less_is_better_by_hand() -> None:
    # Mirrored: the median is -24.5, and what is better is less.
    found = guard_of([-each for each in HAND], "asc")
    assert (found.median2, found.mad4, found.best) == (-49, 8, -97)
    assert outlier_from(found, "asc", 350) == -35


def test_deciles_where_the_mad_is_zero() -> None:
    # Seven of ten are 10: the MAD is 0. The outer deciles are 10 and 30.
    found = guard_of([10] * 7 + [20, 30, 30], "desc")
    assert (found.mad4, found.q10, found.q90) == (0, 10, 30)
    # (x - 10) * 2.563 / 20 > 3.5: x > 10 + 27.31...
    assert outlier_from(found, "desc", 350) == 38


def test_no_verdict() -> None:
    assert outlier_from(guard_of([7] * 50, "desc"), "desc", 350) is None
    assert outlier_from(guard_of(list(range(9)), "desc"), "desc", 350) is None
    assert outlier_from(guard_of([], "desc"), "desc", 350) is None


def test_leads_by_hand() -> None:
    assert lead_from(guard_of([100, 7], "desc"), "desc", 2000) == 120
    assert lead_from(guard_of([101], "desc"), "desc", 2000) == 122  # 20.2 more, at least
    assert lead_from(guard_of([0], "desc"), "desc", 2000) == 1
    assert lead_from(guard_of([-100], "desc"), "desc", 2000) == -80
    assert lead_from(guard_of([100], "asc"), "asc", 1250) == 87
    assert lead_from(guard_of([], "desc"), "desc", 2000) is None


SCORES = st.integers(-50, 50) | st.integers(INT64_MIN, INT64_MAX)


@given(st.lists(SCORES, min_size=10, max_size=30), st.integers(1, 1000), SCORES)
def test_a_limit_is_a_verdict(scores: list[int], limit: int, score: int) -> None:
    guard = guard_of(scores, "desc")
    least = outlier_from(guard, "desc", limit)
    if least is None:
        return
    median = Fraction(guard.median2, 2)
    if guard.mad4:
        z = Fraction(6745, 10_000) * (score - median) / Fraction(guard.mad4, 4)
    else:
        z = (score - median) * Fraction(2563, 1000) / (guard.q90 - guard.q10)
    assert (z > Fraction(limit, 100)) is (score >= least)


def test_impact_is_z_in_thousandths() -> None:
    # 0.6745 * (35 - 24.5) / 2 = 3.541...
    assert impact_of(guard_of(HAND, "desc"), "desc", 35) == 3541
    assert impact_of(Guard(0), "desc", 5) == 10**12
