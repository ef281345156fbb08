"""The periods of a window partition time, in every zone and around every shift of its clock."""

from zoneinfo import available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.periods import bounds, found, period_at
from toprung.domain.calendar import _EndlessPeriods
from toprung.domain.window import Window
from toprung.domain.zone import DAY, WallClock, parse_timezone
from toprung.errors import Invalid

SECOND = 1_000_000
IN_2100 = 4_102_444_800


def is_zone(name: str) -> bool:
    try:
        return bool(parse_timezone(name))
    except Invalid:
        return False


# Zones whose clocks were moved by odd amounts or at odd times come up as often as all others.
ODD = [
    "Africa/Casablanca",
    "Africa/Monrovia",
    "America/Caracas",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
]
zones = st.sampled_from(ODD) | st.sampled_from(sorted(filter(is_zone, available_timezones())))

CRONS = [
    "0 12 * * *",
    "0 0 * * *",
    "30 2 * * *",
    "0-59 0-23 * * *",
    "0 0 L * *",
    "15 2 29 3 *",
    "*/15 * * * *",
    "0 * * * *",
    "0 */6 * * *",
    "*/7 1-3 * * 0",
    "45 * 1 1 *",
    "*/5 2 29 3 *",
]
windows = st.sampled_from(
    ["hourly", "daily", "weekly", "monthly", "yearly"]
    + [{"name": "c", "cron": cron} for cron in CRONS]
).map(Window.parse)


@st.composite
def zones_and_seconds(draw: st.DrawFn) -> tuple[str, int]:
    """A zone and a second of it, mostly close to where its clock is moved."""
    zone = draw(zones)
    second = draw(st.integers(0, IN_2100))
    distance = draw(st.none() | st.integers(-5_000, 5_000) | st.integers(-DAY, DAY))
    shift = WallClock(zone).last_shift(max(0, second - 200 * DAY), second)
    if shift is not None and distance is not None:
        second = max(0, shift + distance)
    return zone, second


@given(zones_and_seconds(), st.integers(-2 * DAY, 2 * DAY))
def test_the_two_maps_of_a_wall_clock_are_inverse(place: tuple[str, int], ahead: int) -> None:
    zone, second = place
    clock = WallClock(zone)
    reading = second + clock.offset(second) + ahead
    first = clock.first(reading)
    assert clock.furthest(first - 1) < reading <= clock.furthest(first)


@given(zones_and_seconds())
def test_furthest_is_the_greatest_reading_so_far(place: tuple[str, int]) -> None:
    zone, second = place
    clock = WallClock(zone)
    # Half a day back is enough: no clock was moved back further since 1970.
    shown = [s + clock.offset(s) for s in range(second, second - DAY // 2, -60)]
    # What was shown between two samples is less than a minute further.
    assert max(shown) <= clock.furthest(second) < max(shown) + 60
    assert clock.furthest(second) >= second + clock.offset(second)


@given(windows, zones_and_seconds(), st.integers(0, SECOND - 1))
def test_periods_meet_without_gap_or_overlap(
    window: Window, place: tuple[str, int], fraction: int
) -> None:
    zone, second = place
    at = second * SECOND + fraction
    calendar = window.calendar(zone)
    period = period_at(calendar, at)
    opens_at, closes_at = bounds(period)
    assert opens_at <= at < closes_at
    assert window.calendar(zone).period(period.id) == period
    # A calendar that remembers nothing finds the same from either end.
    assert window.calendar(zone).period_at(closes_at - 1) == period
    assert window.calendar(zone).period_at(max(0, opens_at)) == period

    following, previous = found(calendar.next(period)), calendar.previous(period)
    assert following.opens_at == closes_at
    assert following.id > period.id
    assert calendar.previous(following) == period
    if previous is not None:
        assert previous.closes_at == opens_at
        assert previous.id < period.id
        assert calendar.next(previous) == period


@given(windows, zones_and_seconds(), st.data())
def test_what_is_remembered_is_what_would_be_sliced(
    window: Window, place: tuple[str, int], data: st.DataObject
) -> None:
    zone, second = place
    calendar = window.calendar(zone)
    for distance in data.draw(st.lists(st.integers(-3 * DAY, 3 * DAY), max_size=10)):
        at = max(0, second + distance) * SECOND
        assert calendar.period_at(at) == window.calendar(zone).period_at(at)


def test_memory_is_bounded() -> None:
    calendar = Window.parse("hourly").calendar("UTC")
    assert isinstance(calendar, _EndlessPeriods)
    for hour in range(1_000):
        calendar.period_at(hour * 3_600 * SECOND)
    assert len(calendar._met.spans) <= 128


@pytest.mark.parametrize(
    ("zone", "skipped"), [("Europe/Berlin", 0), ("Pacific/Apia", 1), ("Pacific/Kwajalein", 1)]
)
def test_a_run_of_days_has_every_date_but_a_skipped_one(zone: str, skipped: int) -> None:
    calendar = Window.parse("daily").calendar(zone)
    period = found(calendar.period("1993-01-01"))
    for _ in range(19 * 365 + 4 - skipped):  # 19 years, of which 4 are leap years
        following = found(calendar.next(period))
        opens_at, closes_at = bounds(following)
        assert period.closes_at == opens_at < closes_at
        assert following.id > period.id
        period = following
    assert period.id == "2012-01-01"
