"""Rates by GCRA: vectors computed by hand, and the script of Redis, which comes to the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.trust.rates import Admitted, Rate, admit, parse_rate
from toprung.errors import Invalid
from toprung.service import rates
from toprung.service.rates import MemoryRates

S = 1_000_000


@pytest.mark.parametrize(
    ("arrival", "now", "count", "expected"),
    [
        # 3 submissions in 6 seconds: one every 2 seconds, 3 at once.
        (0, 100 * S, 1, Admitted(1, 102 * S, 0)),
        (0, 100 * S, 3, Admitted(3, 106 * S, 0)),
        (0, 100 * S, 4, Admitted(3, 106 * S, 2 * S)),
        (106 * S, 100 * S, 1, Admitted(0, 106 * S, 2 * S)),
        (106 * S, 101 * S, 1, Admitted(0, 106 * S, 1 * S)),
        (106 * S, 102 * S, 1, Admitted(1, 108 * S, 0)),
        (106 * S, 105 * S, 5, Admitted(2, 110 * S, 1 * S)),
        (90 * S, 100 * S, 2, Admitted(2, 104 * S, 0)),
        (500 * S, 100 * S, 1, Admitted(0, 500 * S, 396 * S)),  # the clock was put back
    ],
)
def test_vectors(arrival: int, now: int, count: int, expected: Admitted) -> None:
    assert admit(Rate(3, 6), arrival, now, count) == expected


@given(
    st.integers(1, 7),
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(0, 5 * S), st.integers(1, 9)), max_size=30),
)
def test_memory_comes_to_the_same(
    submissions: int, seconds: int, steps: list[tuple[int, int]]
) -> None:
    rate, memory, arrival, now = Rate(submissions, seconds), MemoryRates(), 0, 10**15
    for passed, count in steps:
        now += passed
        wanted = admit(rate, arrival, now, count)
        arrival = wanted.arrival
        found = asyncio.run(memory.take("b", rate, ["ann"] * count, now))
        assert found == dict.fromkeys(range(wanted.passed, count), wanted.retry)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "CALLERS_MAX", 100)
    memory, rate = MemoryRates(), Rate(1, 10)
    for number in range(1000):
        asyncio.run(memory.take(str(number % 3), rate, [f"p{number}"], number * S))
        assert sum(map(len, memory._arrivals.values())) <= 100
    found = asyncio.run(memory.take("0", rate, ["p999"], 1000 * S))
    assert found == {0: 9 * S}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (3, "rate"),
        ([], "rate"),
        ({}, "rate/submissions"),
        ({"submissions": 1}, "rate/seconds"),
        ({"submissions": True, "seconds": 1}, "rate/submissions"),
        ({"submissions": 100_001, "seconds": 1}, "rate/submissions"),
        ({"submissions": 1, "seconds": 604_801}, "rate/seconds"),
        ({"submissions": 1, "seconds": 1, "burst": 2}, "rate/burst"),
    ],
)
def test_what_is_no_rate(value: Any, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_rate(value, "rate")
    assert refused.value.field == field
