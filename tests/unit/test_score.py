"""Scores are exact integers, whatever they arrive as."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.score import INT64_MAX, INT64_MIN, parse_score, score_value
from toprung.errors import Invalid


@pytest.mark.parametrize(
    ("value", "decimals", "exact"),
    [
        (0, 0, 0),
        (INT64_MAX, 0, INT64_MAX),
        (INT64_MIN, 0, INT64_MIN),
        ("9223372036854775807", 0, INT64_MAX),
        ("-9223372036854775808", 0, INT64_MIN),
        ("9007199254740993", 0, 2**53 + 1),
        ("1.5e3", 0, 1500),
        ("12.50", 1, 125),
        ("0.000000001", 9, 1),
        ("-0", 0, 0),
        (12.5, 2, 1250),
        (0.1, 1, 1),
        (1500.0, 0, 1500),
        (Decimal("7.00"), 0, 7),
        (Decimal("1E+3"), 0, 1000),
        (92, 9, 92 * 10**9),
    ],
)
def test_numbers_are_kept_exactly(value: object, decimals: int, exact: int) -> None:
    assert parse_score(value, decimals) == exact


@pytest.mark.parametrize(
    ("value", "decimals", "words"),
    [
        (True, 0, "boolean"),
        (None, 0, "null"),
        ([], 0, "list"),
        ("", 0, "not a number"),
        ("12,5", 0, "not a number"),
        ("٣", 0, "not a number"),
        ("0x10", 0, "not a number"),
        ("1" * 40, 0, "must be between"),
        ("1" * 1000, 0, "not a number"),
        ("NaN", 0, "not a number"),
        (float("nan"), 0, "finite"),
        (float("inf"), 0, "finite"),
        (Decimal("Infinity"), 0, "finite"),
        (float(2**53), 0, "too large to be exact"),
        (2**63, 0, "between"),
        (-(2**63) - 1, 0, "between"),
        (10**10, 9, "between -9223372036.854775808 and 9223372036.854775807"),
        (1.5, 0, "more than 0 decimals"),
        ("0.125", 2, "more than 2 decimals"),
        (Decimal("1E-999999"), 0, "more than 0 decimals"),
        (Decimal("1E+999999"), 0, "between"),
        ("1e999", 0, "between"),
        ("9223372036854775808", 0, "between"),
    ],
)
def test_what_cannot_be_kept_exactly_is_refused_by_name(
    value: object, decimals: int, words: str
) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse_score(value, decimals, "subscore")
    assert caught.value.field == "subscore"


@given(score=st.integers(INT64_MIN, INT64_MAX), decimals=st.integers(0, 9))
def test_what_people_see_is_what_was_stored(score: int, decimals: int) -> None:
    assert parse_score(score_value(score, decimals), decimals) == score
    assert parse_score(str(score_value(score, decimals)), decimals) == score
