"""Rate limits: how they are written, and that they let through what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.errors import Invalid
from toprung.http.limits import RateLimit
from toprung.http.settings import RATE_MAX, Rate, parse_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1000/2000", Rate(1000, 2000)),
        ("50", Rate(50, 50)),
        ("0.1/3", Rate(0.1, 3)),
        ("2.5", Rate(2.5, 2)),
        ("0.1", Rate(0.1, 1)),
        (f"{RATE_MAX}/{RATE_MAX}", Rate(RATE_MAX, RATE_MAX)),
        ("off", None),
    ],
)
def test_a_rate_is_written_as_a_second_and_at_once(text: str, rate: Rate | None) -> None:
    assert parse_rate("key-rate", text) == rate


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0/5",
        "5/0",
        "-1",
        "1/-1",
        "nan",
        "inf",
        "1e3",
        "5/",
        "/5",
        "5/2.5",
        "1/2/3",
        " 5",
        "OFF",
        "none",
        "1_000",
        "٣",
        f"{RATE_MAX + 1}",
        f"1/{RATE_MAX + 1}",
        "9" * 400,
    ],
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"^key-rate: .* is not a rate; write .* 50/200"):
        parse_rate("key-rate", text)


@given(st.integers(0, 2**62), st.floats(0.001, RATE_MAX), st.integers(1, 50))
def test_a_whole_burst_passes_and_no_more(now: int, per_second: float, burst: int) -> None:
    limit = RateLimit(Rate(per_second, burst), lambda: now)
    for caller in ("alice", "bob"):
        waits = [limit.take(caller) for _ in range(burst + 1)]
        assert waits[:-1] == [None] * burst
        assert waits[-1] is not None


@given(st.integers(0, 2**62), st.floats(0.01, 1000), st.integers(1, 20))
def test_who_waits_as_long_as_told_may_ask_once_more(
    begin: int, per_second: float, burst: int
) -> None:
    now = begin
    limit = RateLimit(Rate(per_second, burst), lambda: now)
    for _ in range(burst):
        limit.take("alice")
    wait = limit.take("alice")
    assert wait is not None
    now += round(wait * 1e9)
    assert limit.take("alice") is None
    assert limit.take("alice") is not None


@given(st.integers(0, 2**62), st.floats(0.01, 1000), st.integers(2, 20), st.integers(2, 200))
def test_a_batch_that_waits_as_long_as_told_passes(
    begin: int, per_second: float, burst: int, cost: int
) -> None:
    """Each time it asks it is counted once before it is known what it costs."""
    now = begin
    limit = RateLimit(Rate(per_second, burst), lambda: now)
    for _ in range(burst - 1):
        limit.take("alice")

    def ask() -> float | None:
        wait = limit.take("alice")
        return limit.take("alice", cost, counted=1) if wait is None else wait

    wait = ask()
    assert wait is not None
    now += round(wait * 1e9) + 1
    assert ask() is None


def test_a_batch_counts_in_full_although_it_exceeds_the_burst() -> None:
    now = 0
    limit = RateLimit(Rate(2, 1), lambda: now)
    assert limit.take("alice") is None
    assert limit.take("alice", 100, counted=1) is None
    assert limit.take("alice") == 50, "a hundred requests at two a second"
    now += 49_999_999_999
    assert limit.take("alice") is not None
    now += 1
    assert limit.take("alice") is None
