"""Keeping time with a clock that may be wrong: what is expected, certain, and a jump."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toprung.domain.instant import DAY, EARLIEST, SECOND
from toprung.domain.timekeeping import (
    CONFIRMING,
    LENIENT_MAX,
    OFF_MAX,
    ClockState,
    LowestReading,
    Moment,
    Timekeeper,
    jump_text,
)

START = 1_794_745_800 * SECOND
MINUTE = 60 * SECOND
FAR = st.integers(2 * OFF_MAX, 4000 * DAY)
JUMPS = FAR | FAR.map(lambda far: -far)
"""How far a clock is set: more than is tolerated, to either side."""

STEPS = st.integers(0, 30 * MINUTE)
"""How much time passes from one look to the next."""


# --- the expected time ---------------------------------------------------------------------------


@given(st.integers(-5_000, 5_000), st.lists(STEPS, max_size=60))
@example(5_000, [30 * MINUTE] * 60)
@example(-5_000, [MINUTE] * 900)
def test_clock_that_drifts_is_right(millionths: int, steps: list[int]) -> None:
    """By up to half a percent, for as long as it likes."""
    keeper, now, elapsed = Timekeeper(START, 0, START), START, 0
    for step in steps:
        elapsed += step
        now += step + step * millionths // 1_000_000
        assert keeper.read(now, elapsed) == now
        assert (keeper.off, keeper.jumps) == (0, 0)


@given(st.lists(st.tuples(STEPS, st.integers(-OFF_MAX // 2, OFF_MAX // 2)), max_size=60))
def test_clock_that_is_corrected_a_little_is_right(looks: list[tuple[int, int]]) -> None:
    keeper, elapsed = Timekeeper(START, 0, START), 0
    for step, off in looks:
        elapsed += step
        now = START + elapsed + off
        assert keeper.read(now, elapsed) == now
        assert keeper.jumps == 0


@given(STEPS, JUMPS, st.lists(st.integers(0, CONFIRMING // 20), min_size=1, max_size=19))
def test_clock_that_comes_back_within_the_hour_was_never_believed(
    before: int, jump: int, steps: list[int]
) -> None:
    keeper, elapsed = Timekeeper(START, 0, START), before
    assert keeper.read(START + elapsed, elapsed) == START + elapsed
    for step in steps:
        elapsed += step
        assert keeper.read(START + elapsed + jump, elapsed) == START + elapsed
        assert (keeper.off, keeper.jumps, keeper.last_jump) == (jump, 1, jump)
    assert keeper.read(START + elapsed, elapsed) == START + elapsed
    assert (keeper.off, keeper.jumps) == (0, 1)


@given(st.lists(st.tuples(st.integers(0, CONFIRMING - 1), JUMPS), max_size=30))
def test_clock_that_is_set_again_and_again_is_not_believed(looks: list[tuple[int, int]]) -> None:
    """It keeps none of its times for an hour."""
    keeper, elapsed, last = Timekeeper(START, 0, START), 0, 0
    for step, jump in looks:
        elapsed += step
        off = jump if abs(jump - last) > OFF_MAX else -jump
        last = off
        assert keeper.read(START + elapsed + off, elapsed) == START + elapsed
        assert keeper.off == off


@given(JUMPS, st.lists(STEPS, min_size=1, max_size=30))
def test_clock_that_keeps_its_new_time_for_an_hour_is_believed(jump: int, steps: list[int]) -> None:
    keeper, elapsed = Timekeeper(START, 0, START), 0
    keeper.read(START + jump, 0)
    for step in steps:
        elapsed += step
        right = START + elapsed + (jump if elapsed >= CONFIRMING else 0)
        assert keeper.read(START + elapsed + jump, elapsed) == right
        assert keeper.off == (0 if elapsed >= CONFIRMING else jump)
    assert keeper.jumps == 1


def test_what_is_tolerated() -> None:
    keeper = Timekeeper(START, 0, START)
    for off in (OFF_MAX, -OFF_MAX):
        assert keeper.read(START + off, 0) == START + off
        assert keeper.jumps == 0
    for jumps, off in enumerate((OFF_MAX + 1, -OFF_MAX - 1), 1):
        assert keeper.read(START + off, 0) == START
        assert (keeper.off, keeper.jumps) == (off, jumps)


# --- the start -----------------------------------------------------------------------------------


def test_first_start_ever() -> None:
    keeper = Timekeeper(START, 0, None)
    assert (keeper.read(START, 0), keeper.jumps, keeper.is_starting) == (START, 0, False)


@given(FAR)
def test_start_after_a_pause_is_no_jump_but_has_to_be_confirmed(pause: int) -> None:
    """Nobody knows how long ago the last look was."""
    keeper = Timekeeper(START + pause, 0, START)
    assert keeper.is_starting
    assert keeper.read(START + pause, 0) == START
    assert keeper.read(START + pause + CONFIRMING - 1, CONFIRMING - 1) == START + CONFIRMING - 1
    assert keeper.read(START + pause + CONFIRMING, CONFIRMING) == START + pause + CONFIRMING
    assert (keeper.jumps, keeper.is_starting) == (0, False)


@given(FAR, st.integers(0, CONFIRMING - 1))
def test_clock_that_was_ahead_at_the_start_and_is_set_back_has_jumped(far: int, after: int) -> None:
    keeper = Timekeeper(START + far, 0, START)
    keeper.read(START + far + after, after)
    assert keeper.read(START + after, after) == START + after
    assert (keeper.off, keeper.jumps) == (0, 1)


@given(FAR)
def test_start_behind_what_is_known_is_a_jump(far: int) -> None:
    keeper = Timekeeper(START - far, 0, START)
    assert (keeper.off, keeper.jumps, keeper.is_starting) == (-far, 1, False)
    assert keeper.read(START - far, 0) == START


@given(st.integers(0, CONFIRMING))
def test_start_after_a_known_pause(idle: int) -> None:
    right = START + idle
    keeper = Timekeeper(right, 0, START, idle)
    assert (keeper.read(right, 0), keeper.jumps) == (right, 0)


@given(FAR, st.integers(0, CONFIRMING))
def test_start_that_the_known_pause_contradicts(far: int, idle: int) -> None:
    keeper = Timekeeper(START + idle + far, 0, START, idle)
    assert (keeper.off, keeper.jumps) == (far, 1)
    assert keeper.read(START + idle + far, 0) == START + idle


@given(st.integers(CONFIRMING + OFF_MAX + 1, 400 * DAY))
def test_one_witness_is_believed_for_an_hour_only(idle: int) -> None:
    """A server and a process on one machine may have been started with the same wrong clock."""
    keeper = Timekeeper(START + idle, 0, START, idle)
    assert keeper.read(START + idle, 0) == START + CONFIRMING
    assert (keeper.jumps, keeper.is_starting) == (0, True)


# --- a moment ------------------------------------------------------------------------------------


@given(st.lists(st.tuples(STEPS, JUMPS | st.just(0), st.none() | JUMPS), max_size=30))
def test_moments(looks: list[tuple[int, int, int | None]]) -> None:
    keeper, elapsed = Timekeeper(START, 0, START), 0
    for step, off, other in looks:
        elapsed += step
        now = START + elapsed + off
        others = None if other is None else START + elapsed + other
        moment = keeper.moment(now, elapsed, START - DAY, others)
        assert (moment.now, moment.confirmed, moment.elapsed) == (now, START - DAY, elapsed)
        assert moment.cautious == min(now, moment.expected)
        own = keeper.read(now, elapsed)
        assert moment.lenient <= min(now, own) - OFF_MAX
        if others is not None and others < now - OFF_MAX:
            assert moment.expected <= others
            is_heeded = others >= now - LENIENT_MAX
            assert moment.lenient == min(now, own, *[others] * is_heeded) - OFF_MAX
        assert moment.recorded_at == (keeper.read(now, elapsed) if keeper.off else now)
        assert moment.horizon == START - 2 * DAY


def test_late_scores_after_a_pause_go_by_the_clock() -> None:
    """Else everything would count as late, or as not late, until an hour has passed."""
    moment = Timekeeper(START + 5 * DAY, 0, START).moment(START + 5 * DAY, 0, START)
    assert (moment.expected, moment.lenient) == (START, START + 5 * DAY - OFF_MAX)
    assert moment.recorded_at == START + 5 * DAY


def test_horizon_is_no_earlier_than_time_itself() -> None:
    assert Moment(START, START, DAY // 2, 0, START, START).horizon == EARLIEST
    assert Timekeeper(0, 0, None).moment(0, 0, 0).lenient == EARLIEST


# --- the confirmed time --------------------------------------------------------------------------

READINGS = st.lists(st.tuples(STEPS, st.integers(0, 100)), min_size=1, max_size=80)


@given(READINGS)
def test_what_is_confirmed_was_said_for_an_hour(looks: list[tuple[int, int]]) -> None:
    """Whatever was obsolete then was so at every look of an hour, and the first lies before it."""
    lowest, elapsed = LowestReading(50, 0, 50, 50), 0
    said = [(-CONFIRMING, 50), (0, 50)]
    for step, reading in looks:
        elapsed += step
        said.append((elapsed, reading))
        confirmed = lowest.note(reading, elapsed)
        lately = [told for then, told in said if then > elapsed - CONFIRMING]
        before = [told for then, told in said if then <= elapsed - CONFIRMING]
        assert confirmed <= min(lately)
        assert confirmed <= before[-1]


@given(st.integers(1, 1_000), st.lists(STEPS, min_size=10, max_size=80))
def test_what_is_kept_for_two_hours_and_a_look_is_confirmed(reading: int, steps: list[int]) -> None:
    lowest, elapsed, confirmed = LowestReading(0, 0, 0, 0), 0, 0
    for step in steps:
        elapsed += step
        confirmed = lowest.note(reading, elapsed)
    if elapsed >= 2 * CONFIRMING + 2 * 30 * MINUTE:
        assert confirmed == reading
    if elapsed < CONFIRMING:
        assert confirmed == 0


@given(st.integers(0, 10 * CONFIRMING), st.integers(0, 10 * CONFIRMING), STEPS)
def test_confirmed_time_after_a_start(known: int, now: int, confirmed: int) -> None:
    """What the file knows is believed again if the clock says that an hour has passed since."""
    lowest = LowestReading(now, 0, min(confirmed, known), known)
    first = lowest.note(now, 0)
    if now >= known + CONFIRMING:
        assert first == known
    else:
        assert first == min(confirmed, known, now)
    assert lowest.lowest <= now


# --- what people read ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("off", "fault"),
    [
        (0, None),
        (90.4, "the clock is 90 s ahead of the expected time"),
        (-432_000, "the clock is 432000 s behind the expected time"),
    ],
)
def test_fault_of_a_clock(off: float, fault: str | None) -> None:
    assert ClockState(off, 1).fault == fault


@pytest.mark.parametrize(("jump", "words"), [(DAY, "ahead by 86400 s"), (-DAY, "back by 86400 s")])
def test_text_of_a_jump(jump: int, words: str) -> None:
    assert f"the clock jumped {words}: " in jump_text(jump)
