"""How old keys are, in hours that somebody has seen pass."""

from __future__ import annotations

import re
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.key_hours import HOURS, START_HOURS_MAX, KeyHours
from toprung.domain.timekeeping import CONFIRMING


@given(st.lists(st.integers(0, 10_000 * CONFIRMING), max_size=100))
def test_one_look_is_an_hour_at_most(spans: list[int]) -> None:
    """Whatever it says has passed."""
    hours, elapsed, began = KeyHours([], 0), 0, [0]
    for position, span in enumerate(spans, 1):
        elapsed += span
        hours.note(position, elapsed)
        if span >= CONFIRMING or elapsed - began[-1] >= CONFIRMING:
            began.append(elapsed)
    assert len([each for each in hours.positions if each]) <= len(began) - 1
    assert hours.forgotten <= max(0, len(spans) - HOURS)


def test_starts_count_for_a_few_hours() -> None:
    hours = KeyHours([], 0)
    for start in range(1, HOURS // START_HOURS_MAX + 1):
        assert hours.forgotten == 0
        hours.start(start, 0, 400 * start * CONFIRMING)
    hours.start(9, 0, 0)
    hours.start(9, CONFIRMING, 0)
    assert hours.forgotten == 0
    hours.start(9, 0, CONFIRMING)
    assert hours.forgotten == 1


def test_what_is_kept_is_taken_up_again() -> None:
    hours = KeyHours([], 0, seed=7)
    assert hours.forgotten == 7
    hours.note(9, CONFIRMING)
    again = KeyHours(hours.positions, 0)
    assert again.positions == hours.positions
    assert KeyHours([5], 0).positions == [*[0] * HOURS, 5]


def test_cluster_counts_as_many_hours() -> None:
    sql = files("toprung.journals").joinpath("sql/postgres/0007_clocks.sql").read_text()
    assert re.findall(r"max\(number\) FROM hours\) - (\d+)", sql)[-1] == str(HOURS)
