"""Windows as boards write them, and which of their periods are kept."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.instants import utc
from tests.unit.periods import bounds, found, period_at
from toprung.domain.calendar import AHEAD_MAX, Period
from toprung.domain.instant import LATEST
from toprung.domain.window import (
    DEFAULT_WINDOWS,
    GRACE,
    Kind,
    Window,
    no_end_said,
    parse_windows,
)
from toprung.domain.zone import parse_timezone
from toprung.errors import Invalid

SEASON = {"name": "s1", "starts": "2026-03-01T00:00:00+01:00", "ends": "2026-06-01T00:00:00Z"}
HOUR = 3_600_000_000
DAY = 24 * HOUR


def field_refused(value: object) -> str:
    with pytest.raises(Invalid) as caught:
        Window.parse(value)
    return caught.value.field


# --- the written form -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "retain"),
    [("all-time", 1), ("hourly", 48), ("daily", 8), ("weekly", 5), ("monthly", 13), ("yearly", 5)],
)
def test_built_in_windows_have_a_default_retention(name: Kind, retain: int) -> None:
    grace = None if name == "all-time" else GRACE
    assert Window.parse(name) == Window(name, name, retain, grace=grace)
    assert Window.parse({"name": name}) == Window(name, name, retain, grace=grace)


def test_custom_windows() -> None:
    lunch = Window.parse({"name": "lunch", "cron": "0  12 * * * "})
    assert lunch == Window("lunch", "cron", 8, cron="0 12 * * *", grace=GRACE)
    season = Window.parse(SEASON)
    # 2026-03-01 00:00 at +01:00 is 2026-02-28 23:00 UTC.
    starts, ends = utc("2026-02-28T23:00"), utc("2026-06-01T00:00")
    assert season == Window("s1", "season", 1, starts=starts, ends=ends, grace=GRACE)


@pytest.mark.parametrize(
    "shortest",
    [
        "daily",
        "all-time",
        {"name": "daily", "retain": 30},
        {"name": "lunch", "cron": "0 12 * * *"},
        {"name": "lunch", "cron": "0 12 * * *", "retain": 3},
        {"name": "s1", "starts": "2026-03-01T00:00:00Z", "ends": "2026-06-01T00:00:00.000001Z"},
    ],
)
def test_the_shortest_form_comes_back(shortest: str | dict[str, Any]) -> None:
    assert Window.parse(shortest).to_json() == shortest


@pytest.mark.parametrize("name", ["daily", "weekly", "all-time"])
def test_a_default_is_not_written(name: str) -> None:
    assert Window.parse({"name": name, "retain": Window.parse(name).retain}).to_json() == name


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("lunch", ""),
        ("cron", ""),
        ("season", ""),
        ("Daily", ""),
        ("", ""),
        (None, ""),
        (7, ""),
        (True, ""),
        (["daily"], ""),
        ({}, "name"),
        ({"name": "lunch"}, "name"),
        ({"name": None}, "name"),
        ({"name": ["daily"]}, "name"),
        ({"name": "daily", "hold": 3}, "hold"),
        ({"name": "daily", "retain": 0}, "retain"),
        ({"name": "daily", "retain": -1}, "retain"),
        ({"name": "daily", "retain": 65}, "retain"),
        ({"name": "daily", "retain": True}, "retain"),
        ({"name": "daily", "retain": 3.0}, "retain"),
        ({"name": "daily", "retain": "3"}, "retain"),
        ({"name": "daily", "retain": None}, "retain"),
        ({"name": "all-time", "retain": 2}, "retain"),
        (SEASON | {"retain": 2}, "retain"),
        ({"name": "daily", "cron": "0 12 * * *"}, "name"),
        (SEASON | {"name": "all-time"}, "name"),
        (SEASON | {"name": "S1"}, "name"),
        (SEASON | {"name": "-s1"}, "name"),
        (SEASON | {"name": "s" * 33}, "name"),
        (SEASON | {"name": "s1\n"}, "name"),
        (SEASON | {"name": "s/1"}, "name"),
        (SEASON | {"cron": "0 12 * * *"}, "cron"),
        ({"name": "s1", "starts": "2026-03-01T00:00:00Z"}, "ends"),
        ({"name": "s1", "ends": "2026-03-01T00:00:00Z"}, "starts"),
        (SEASON | {"starts": "2026-03-01T00:00:00"}, "starts"),
        (SEASON | {"starts": "2026-03-01"}, "starts"),
        (SEASON | {"starts": "2026-02-30T00:00:00Z"}, "starts"),
        (SEASON | {"starts": "2026-03-01T00:00:60Z"}, "starts"),
        (SEASON | {"starts": "2026-W09-7T00:00:00Z"}, "starts"),
        (SEASON | {"starts": "2026-03-01T00:00:00.1234567Z"}, "starts"),
        (SEASON | {"starts": 1772319600}, "starts"),
        (SEASON | {"starts": "0001-01-01T00:00:00+23:59"}, "starts"),
        (SEASON | {"starts": "1969-12-31T23:59:59Z"}, "starts"),
        (SEASON | {"ends": "9999-12-31T23:59:59-23:59"}, "ends"),
        (SEASON | {"ends": "2026-03-01T00:00:00+01:00"}, "ends"),
        (SEASON | {"ends": "2026-02-01T00:00:00Z"}, "ends"),
    ],
)
def test_what_is_wrong_is_named(value: object, field: str) -> None:
    assert field_refused(value) == field


@pytest.mark.parametrize(
    "cron",
    [
        None,
        12,
        "",
        "* * * *",
        "0 0 12 * * *",  # a seconds field
        "@daily",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5-1 * * * *",
        "a b c d e",
        "0 0 31 2 *",  # never
        "0 0 31 4,6,9,11 *",  # never
        "0 0 29 2 *",  # not every year
        "0 0 * 2 MON#5",  # not every year
        "0 0 * 1 1#5",  # not every year: a January with five Mondays
        "٠ ٠ * * *",  # other digits
        "0," * 100 + "0 0 * * *",
    ],
)
def test_a_cron_that_cannot_make_a_window(cron: object) -> None:
    assert field_refused({"name": "c", "cron": cron}) == "cron"


@pytest.mark.parametrize(
    "cron",
    ["* * * * *", "*/5 8-18 * * mon-fri", "0 0 1 1 *", "0 0 L * *", "0 0 * 1 1#1", "0 0 31 2 1"],
)
def test_a_cron_that_fires_every_year(cron: str) -> None:
    assert Window.parse({"name": "c", "cron": cron}).cron == cron


@given(st.lists(st.text("0123456789*/,-#LW MONFEB", max_size=8), min_size=5, max_size=5))
def test_any_text_is_a_cron_or_is_refused(fields: list[str]) -> None:
    try:
        window = Window.parse({"name": "c", "cron": " ".join(fields)})
    except Invalid:
        return
    assert window.calendar("Europe/Berlin").period_at(utc("2026-11-15T12:00"))


@pytest.mark.parametrize(
    ("value", "grace", "review_time"),
    [
        ("daily", GRACE, 0),
        ({"name": "daily", "grace": 0}, 0, 0),
        ({"name": "daily", "grace": "retained"}, None, 0),
        ({"name": "weekly", "grace": 60, "review_time": 86_400}, 60, 86_400),
        ("all-time", None, 0),
    ],
)
def test_when_periods_end(value: object, grace: int | None, review_time: int) -> None:
    window = Window.parse(value)
    assert (window.grace, window.review_time) == (grace, review_time)
    assert Window.parse(window.to_json()) == window
    assert Window.parse(window.to_json(unsaid=None), no_end_said) == window


def test_windows_that_were_recorded_before_they_closed_stay_open() -> None:
    assert Window.parse({"name": "daily", "retain": 30}, no_end_said).grace is None


# --- the list of a board --------------------------------------------------------------------


def test_windows_keep_their_order() -> None:
    windows = parse_windows(["weekly", SEASON, "all-time"])
    assert [window.name for window in windows] == ["weekly", "s1", "all-time"]


def test_default_windows() -> None:
    assert [window.to_json() for window in parse_windows(DEFAULT_WINDOWS)] == [
        "all-time",
        "daily",
        "weekly",
        "monthly",
    ]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], ""),
        ("daily", ""),
        (None, ""),
        ({"name": "daily"}, ""),
        (["daily", "lunch"], "1"),
        (["daily", "weekly", {"name": "c", "cron": "x"}], "2/cron"),
        (["daily", {"name": "daily", "retain": 3}], "1/name"),
        ([{"name": "daily", "retain": 60}, "weekly"], ""),
        (["daily"] * 1000, ""),
    ],
)
def test_a_list_that_is_wrong(value: object, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_windows(value)
    assert caught.value.field == field
    assert caught.value.under("windows").field == "/".join(filter(None, ["windows", field]))


def test_64_periods_in_all_are_possible() -> None:
    assert parse_windows([{"name": "daily", "retain": 62}, "all-time", SEASON])


# --- time zones -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+5"])
def test_a_time_zone(name: str) -> None:
    assert parse_timezone(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "Europe",
        "Mars/Olympus",
        "../etc/passwd",
        "/etc/localtime",
        "/usr/share/zoneinfo/UTC",
        "Europe/../UTC",
        "Europe/Berlin\0",
        "Europe/Berlin\n",
        "right/UTC",
        "posix/UTC",
        "localtime",
        "Factory",
        "x" * 5000,
        None,
        1,
        ["UTC"],
    ],
)
def test_no_time_zone(name: object) -> None:
    with pytest.raises(Invalid, match="IANA time zone") as caught:
        parse_timezone(name)
    assert caught.value.field == "timezone"
    assert len(caught.value.detail) < 200


# --- periods that are kept ------------------------------------------------------------------


def test_all_time_is_one_unbounded_period() -> None:
    calendar = Window.parse("all-time").calendar("UTC")
    period = Period("all", None, None)
    assert calendar.period_at(0) == calendar.period_at(LATEST - 1) == period
    assert calendar.period("all") == period
    assert calendar.period("2026") is None
    assert calendar.previous(period) is calendar.next(period) is None
    assert calendar.retained(0) == [period]
    assert calendar.is_retained(period, 0)


def test_a_season_is_one_period_and_is_always_kept() -> None:
    calendar = Window.parse(SEASON).calendar("Asia/Tokyo")
    starts, ends = utc("2026-02-28T23:00"), utc("2026-06-01T00:00")
    period = Period("s1", starts, ends)
    assert [calendar.period_at(at) for at in (starts - 1, starts, ends - 1, ends)] == [
        None,
        period,
        period,
        None,
    ]
    assert calendar.period("s1") == period
    assert calendar.period("s2") is None
    assert calendar.previous(period) is calendar.next(period) is None
    for now in (0, starts, ends + 400 * DAY):
        assert calendar.retained(now) == [period]
        assert calendar.is_retained(period, now)


def test_the_current_period_and_those_before_it_are_kept() -> None:
    calendar = Window.parse({"name": "daily", "retain": 3}).calendar("UTC")
    now = utc("2026-03-01T12:00")
    ids = [period.id for period in calendar.retained(now)]
    assert ids == ["2026-03-01", "2026-02-28", "2026-02-27"]
    assert all(calendar.is_retained(found(calendar.period(id)), now) for id in ids)
    assert not calendar.is_retained(found(calendar.period("2026-02-26")), now)
    assert not calendar.is_retained(found(calendar.period("2026-03-02")), now)


def test_a_period_leaves_at_the_instant_the_next_opens() -> None:
    calendar = Window.parse({"name": "daily", "retain": 1}).calendar("UTC")
    period, midnight = found(calendar.period("2026-03-01")), utc("2026-03-02T00:00")
    assert calendar.is_retained(period, midnight - 1)
    assert not calendar.is_retained(period, midnight)


def test_the_next_period_is_open_a_minute_early() -> None:
    calendar = Window.parse("daily").calendar("UTC")
    period, midnight = found(calendar.period("2026-03-02")), utc("2026-03-02T00:00")
    assert calendar.is_retained(period, midnight - AHEAD_MAX)
    assert not calendar.is_retained(period, midnight - AHEAD_MAX - 1)


def test_retention_near_1970_ends_there() -> None:
    calendar = Window.parse("daily").calendar("UTC")
    assert [period.id for period in calendar.retained(DAY)] == ["1970-01-02", "1970-01-01"]


@given(
    st.sampled_from(["hourly", "daily", "weekly", {"name": "c", "cron": "30 */5 * * *"}]),
    st.integers(400 * DAY, 100 * 365 * DAY),
    st.integers(-70 * DAY, 70 * DAY),
)
def test_is_retained_agrees_with_retained(window: object, now: int, distance: int) -> None:
    calendar = Window.parse(window).calendar("America/New_York")
    period = period_at(calendar, now + distance)
    soon = now < bounds(period)[0] <= now + AHEAD_MAX
    assert calendar.is_retained(period, now) == (soon or period in calendar.retained(now))


# --- the edges ------------------------------------------------------------------------------


@pytest.mark.parametrize("window", ["all-time", "hourly", "daily", "yearly", SEASON])
@pytest.mark.parametrize("at", [-1, LATEST, -(10**30), 10**30])
def test_an_instant_that_is_not_supported(window: object, at: int) -> None:
    with pytest.raises(Invalid) as caught:
        Window.parse(window).calendar("UTC").period_at(at)
    assert caught.value.field == "at"


@pytest.mark.parametrize("timezone", ["UTC", "Pacific/Kiritimati", "Pacific/Niue"])
@pytest.mark.parametrize(
    "window", ["hourly", "daily", "weekly", "monthly", "yearly", {"name": "c", "cron": "0 9 1 7 *"}]
)
def test_the_first_and_the_last_period(window: object, timezone: str) -> None:
    calendar = Window.parse(window).calendar(timezone)
    first, last = period_at(calendar, 0), period_at(calendar, LATEST - 1)
    assert calendar.previous(first) is None
    assert calendar.next(last) is None
    assert calendar.previous(found(calendar.next(first))) == first
    assert calendar.period(first.id) == first
    assert calendar.period(last.id) == last


@pytest.mark.parametrize(
    ("window", "id"),
    [
        ("daily", "2026-02-30"),
        ("daily", "2026-2-3"),
        ("daily", "20260203"),
        ("daily", "2026-W06-2"),
        ("daily", "2026-02"),
        ("daily", "2026-02-03 "),
        ("daily", "٢٠٢٦-02-03"),
        ("daily", "1969-12-31"),
        ("daily", "0001-01-01"),
        ("daily", "9999-12-31"),
        ("daily", ""),
        ("daily", "\0"),
        ("weekly", "2025-W53"),
        ("weekly", "2026-W00"),
        ("weekly", "2026W06"),
        ("weekly", "2026-W06-1"),
        ("weekly", "9999-W52"),
        ("monthly", "2026-13"),
        ("monthly", "2026-00"),
        ("monthly", "2026-1"),
        ("monthly", "2026"),
        ("yearly", "26"),
        ("yearly", "0000"),
        ("yearly", "9999"),
        ("yearly", "2026-01"),
        ("hourly", "2026-11-15T1230Z"),
        ("hourly", "2026-11-15T12:00Z"),
        ("hourly", "2026-11-15T120000Z"),
        ("hourly", "2026-11-15T1200"),
        ("hourly", "2026-11-15T2400Z"),
        ("hourly", "2026-02-30T1200Z"),
        ("hourly", "9999-12-31T2300Z"),
        ("hourly", "2026-11-15"),
    ],
)
def test_an_id_that_no_period_has(window: str, id: str) -> None:
    assert Window.parse(window).calendar("UTC").period(id) is None


@given(st.sampled_from(["hourly", "daily", "weekly", "monthly", "yearly"]), st.text(max_size=20))
def test_any_text_is_an_id_or_is_none(window: str, id: str) -> None:
    period = Window.parse(window).calendar("Asia/Kathmandu").period(id)
    assert period is None or period.id == id


@pytest.mark.parametrize("window", ["daily", "hourly", {"name": "c", "cron": "0 */3 * * *"}])
def test_threads_may_share_a_calendar(window: object) -> None:
    shared = Window.parse(window).calendar("America/New_York")
    random = Random(20)
    instants = [random.randrange(50 * 365 * DAY) for _ in range(400)]
    expected = [Window.parse(window).calendar("America/New_York").period_at(at) for at in instants]

    def look_up(_: int) -> list[Period | None]:
        return [shared.period_at(at) for at in instants]

    with ThreadPoolExecutor(4) as threads:
        assert all(found == expected for found in threads.map(look_up, range(8)))
