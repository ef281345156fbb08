"""Periods against instants computed by hand, where wall clocks do what one does not expect.

Every case writes the boundaries in UTC; the comment says how local time led to them.
"""

import pytest

from tests.unit.instants import utc
from tests.unit.periods import bounds, found, period_at
from toprung.domain.calendar import Calendar, Period
from toprung.domain.window import Window

HOUR = 3_600_000_000


def calendar(window: str, timezone: str) -> Calendar:
    return Window.parse({"name": "c", "cron": window} if " " in window else window).calendar(
        timezone
    )


def openings(window: str, timezone: str, start: str, stop: str) -> list[int]:
    """When periods open in [start, stop), in UTC."""
    periods = calendar(window, timezone)
    period = period_at(periods, utc(start))
    instants: list[int] = []
    while (opens_at := bounds(period)[0]) < utc(stop):
        instants.append(opens_at)
        period = found(periods.next(period))
    return instants


def check(window: str, timezone: str, id: str, opens: str, closes: str) -> None:
    opens_at, closes_at = utc(opens), utc(closes)
    period = Period(id, opens_at, closes_at)
    for at in (opens_at, closes_at - 1, (opens_at + closes_at) // 2):
        assert calendar(window, timezone).period_at(at) == period
    assert calendar(window, timezone).period(id) == period


@pytest.mark.parametrize(
    ("timezone", "id", "opens", "closes", "hours"),
    [
        ("UTC", "2026-11-15", "2026-11-15T00:00", "2026-11-16T00:00", 24),
        # +01:00 at its start, +02:00 at its end
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00", 23),
        # +02:00 at its start, +01:00 at its end
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00", 25),
        # -05:00, then -04:00
        ("America/New_York", "2026-03-08", "2026-03-08T05:00", "2026-03-09T04:00", 23),
        # -04:00, then -05:00
        ("America/New_York", "2026-11-01", "2026-11-01T04:00", "2026-11-02T05:00", 25),
        # +05:30, +05:45, and -03:30 in winter
        ("Asia/Kolkata", "2026-11-15", "2026-11-14T18:30", "2026-11-15T18:30", 24),
        ("Asia/Kathmandu", "2026-11-15", "2026-11-14T18:15", "2026-11-15T18:15", 24),
        ("America/St_Johns", "2026-11-15", "2026-11-15T03:30", "2026-11-16T03:30", 24),
        # -02:30 in summer, back to -03:30 at 02:00
        ("America/St_Johns", "2026-11-01", "2026-11-01T02:30", "2026-11-02T03:30", 25),
        # Half an hour: +11:00 until 02:00, then +10:30
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00", "2026-04-05T13:30", 24.5),
        # No midnight: 00:00 at -03:00 became 01:00 at -02:00
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00", "2018-11-05T02:00", 23),
        # Midnight at -02:00 became 23:00 at -03:00 of the same date
        ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00", "2018-02-18T03:00", 25),
        # 00:01 at -02:30 became 23:01 of the day before at -03:30: the new date had begun at
        # 00:00 at -02:30 and does not end again
        ("America/St_Johns", "2010-11-07", "2010-11-07T02:30", "2010-11-08T03:30", 25),
        ("America/St_Johns", "2010-11-06", "2010-11-06T02:30", "2010-11-07T02:30", 24),
        # From -10:00 (summer) to +14:00 at the end of the 29th; no 30th
        ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00", "2011-12-30T10:00", 24),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00", "2011-12-31T10:00", 24),
        # From -12:00 to +12:00 at the end of the 20th; no 21st
        ("Pacific/Kwajalein", "1993-08-20", "1993-08-20T12:00", "1993-08-21T12:00", 24),
        ("Pacific/Kwajalein", "1993-08-22", "1993-08-21T12:00", "1993-08-22T12:00", 24),
    ],
)
def test_days(timezone: str, id: str, opens: str, closes: str, hours: float) -> None:
    check("daily", timezone, id, opens, closes)
    assert utc(closes) - utc(opens) == hours * HOUR


@pytest.mark.parametrize(
    ("timezone", "id"), [("Pacific/Apia", "2011-12-30"), ("Pacific/Kwajalein", "1993-08-21")]
)
def test_a_skipped_date_has_no_period(timezone: str, id: str) -> None:
    assert calendar("daily", timezone).period(id) is None


def test_a_date_that_returns_stays_closed() -> None:
    # 02:45 UTC is 23:15 on the 6th at -03:30, 15 minutes after the 7th had begun.
    st_johns = calendar("daily", "America/St_Johns")
    assert period_at(st_johns, utc("2010-11-07T02:45")).id == "2010-11-07"


@pytest.mark.parametrize(
    ("timezone", "at", "id", "opens", "closes"),
    [
        # 2020 has 53 weeks: its last Monday is 12-28, and 2021-01-04 is the next.
        ("UTC", "2020-12-31T12:00", "2020-W53", "2020-12-28T00:00", "2021-01-04T00:00"),
        ("UTC", "2021-01-03T23:59", "2020-W53", "2020-12-28T00:00", "2021-01-04T00:00"),
        ("UTC", "2021-01-04T00:00", "2021-W01", "2021-01-04T00:00", "2021-01-11T00:00"),
        ("UTC", "2024-12-30T00:00", "2025-W01", "2024-12-30T00:00", "2025-01-06T00:00"),
        ("UTC", "2024-12-29T23:59", "2024-W52", "2024-12-23T00:00", "2024-12-30T00:00"),
        ("UTC", "1970-01-01T00:00", "1970-W01", "1969-12-29T00:00", "1970-01-05T00:00"),
        # Monday begins at 23:00 UTC of Sunday (+01:00); the week loses an hour (+02:00).
        ("Europe/Berlin", "2026-03-29T21:59", "2026-W13", "2026-03-22T23:00", "2026-03-29T22:00"),
        # Monday 12-26 begins at -10:00, Monday 01-02 at +14:00: six days long.
        ("Pacific/Apia", "2011-12-30T10:00", "2011-W52", "2011-12-26T10:00", "2012-01-01T10:00"),
    ],
)
def test_weeks(timezone: str, at: str, id: str, opens: str, closes: str) -> None:
    period = calendar("weekly", timezone).period_at(utc(at))
    assert period == Period(id, utc(opens), utc(closes))
    assert calendar("weekly", timezone).period(id) == period


@pytest.mark.parametrize(
    ("window", "timezone", "id", "opens", "closes"),
    [
        ("monthly", "UTC", "2024-02", "2024-02-01T00:00", "2024-03-01T00:00"),
        ("monthly", "UTC", "2026-12", "2026-12-01T00:00", "2027-01-01T00:00"),
        # March begins at +01:00 and April at +02:00
        ("monthly", "Europe/Berlin", "2026-03", "2026-02-28T23:00", "2026-03-31T22:00"),
        # -04:00 on 11-01, -05:00 on 12-01
        ("monthly", "America/New_York", "2026-11", "2026-11-01T04:00", "2026-12-01T05:00"),
        ("yearly", "Asia/Kathmandu", "2026", "2025-12-31T18:15", "2026-12-31T18:15"),
        # 2011 begins at -10:00 and 2012 at +14:00: a day is missing
        ("yearly", "Pacific/Apia", "2011", "2011-01-01T10:00", "2011-12-31T10:00"),
        # A month before the zone's dates are those of 1970 everywhere
        ("monthly", "America/New_York", "1969-12", "1969-12-01T05:00", "1970-01-01T05:00"),
    ],
)
def test_months_and_years(window: str, timezone: str, id: str, opens: str, closes: str) -> None:
    period = calendar(window, timezone).period(id)
    assert period == Period(id, utc(opens), utc(closes))
    assert calendar(window, timezone).period_at(utc(closes) - 1) == period


@pytest.mark.parametrize(
    ("timezone", "id", "opens", "closes"),
    [
        ("UTC", "2026-11-15T1200Z", "2026-11-15T12:00", "2026-11-15T13:00"),
        # 18:00 at +05:30, 18:00 at +05:45, 09:00 at -03:30
        ("Asia/Kolkata", "2026-11-15T1230Z", "2026-11-15T12:30", "2026-11-15T13:30"),
        ("Asia/Kathmandu", "2026-11-15T1215Z", "2026-11-15T12:15", "2026-11-15T13:15"),
        ("America/St_Johns", "2026-11-15T1230Z", "2026-11-15T12:30", "2026-11-15T13:30"),
        # 02:00 to 03:00 twice: at +02:00 and at +01:00
        ("Europe/Berlin", "2026-10-25T0000Z", "2026-10-25T00:00", "2026-10-25T01:00"),
        ("Europe/Berlin", "2026-10-25T0100Z", "2026-10-25T01:00", "2026-10-25T02:00"),
        # 01:00 at +01:00 is followed by 03:00 at +02:00
        ("Europe/Berlin", "2026-03-29T0000Z", "2026-03-29T00:00", "2026-03-29T01:00"),
        ("Europe/Berlin", "2026-03-29T0100Z", "2026-03-29T01:00", "2026-03-29T02:00"),
        # -00:44:30 until 1972: the hour strikes 44 minutes and 30 seconds past in UTC
        ("Africa/Monrovia", "1971-06-01T004430Z", "1971-06-01T00:44:30", "1971-06-01T01:44:30"),
    ],
)
def test_hours(timezone: str, id: str, opens: str, closes: str) -> None:
    check("hourly", timezone, id, opens, closes)


def test_hours_of_another_zone_are_no_periods() -> None:
    assert calendar("hourly", "Asia/Kolkata").period("2026-11-15T1200Z") is None


@pytest.mark.parametrize(
    ("timezone", "start", "stop", "expected"),
    [
        # 02:00 at +11:00 became 01:30 at +10:30: half an hour until 02:00 comes again.
        (
            "Australia/Lord_Howe",
            "2026-04-04T14:00",
            "2026-04-04T17:00",
            ["2026-04-04T14:00", "2026-04-04T15:00", "2026-04-04T15:30", "2026-04-04T16:30"],
        ),
        # 02:00 at +10:30 became 02:30 at +11:00: half an hour until 03:00.
        (
            "Australia/Lord_Howe",
            "2026-10-03T14:30",
            "2026-10-03T17:00",
            ["2026-10-03T14:30", "2026-10-03T15:30", "2026-10-03T16:00"],
        ),
        # 00:01 at -02:30 became 23:01 at -03:30: a minute of 00:00, 59 of 23:00, 00:00 again.
        (
            "America/St_Johns",
            "2010-11-07T01:30",
            "2010-11-07T04:00",
            ["2010-11-07T01:30", "2010-11-07T02:30", "2010-11-07T02:31", "2010-11-07T03:30"],
        ),
    ],
)
def test_hours_are_cut_where_the_clock_is_moved(
    timezone: str, start: str, stop: str, expected: list[str]
) -> None:
    assert openings("hourly", timezone, start, stop) == [utc(text) for text in expected]


@pytest.mark.parametrize(
    ("cron", "timezone", "start", "stop", "expected"),
    [
        # Noon is 11:00 UTC at +01:00 and 10:00 at +02:00.
        (
            "0 12 * * *",
            "Europe/Berlin",
            "2026-03-28T11:00",
            "2026-03-30T00:00",
            ["2026-03-28T11:00", "2026-03-29T10:00"],
        ),
        # 02:30 is skipped on 03-29: it fires when the gap ends, at 03:00 at +02:00.
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T01:30",
            "2026-03-31T00:00",
            ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
        ),
        # 02:30 comes twice on 10-25: it fires at the first, at +02:00.
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-10-24T00:30",
            "2026-10-27T00:00",
            ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
        ),
        # Both times lie in the gap: one firing at its end.
        (
            "0,30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T01:30",
            "2026-03-30T00:30",
            ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:00"],
        ),
        # A wildcard fires at both showings of 02:00 and 02:30 ...
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-10-25T00:00",
            "2026-10-25T02:00",
            ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"],
        ),
        # ... and not for the skipped 02:00: 00:00 at +01:00, then 04:00 at +02:00.
        (
            "0 */2 * * *",
            "Europe/Berlin",
            "2026-03-28T23:00",
            "2026-03-29T04:00",
            ["2026-03-28T23:00", "2026-03-29T02:00"],
        ),
        # Midnight does not exist on 11-04: 01:00 at -02:00 instead.
        (
            "0 0 * * *",
            "America/Sao_Paulo",
            "2018-11-03T03:00",
            "2018-11-06T00:00",
            ["2018-11-03T03:00", "2018-11-04T03:00", "2018-11-05T02:00"],
        ),
        # 00:00 at +11:00, then 06:00 and 12:00 at +10:30.
        (
            "0 */6 * * *",
            "Australia/Lord_Howe",
            "2026-04-04T13:00",
            "2026-04-05T07:00",
            ["2026-04-04T13:00", "2026-04-04T19:30", "2026-04-05T01:30"],
        ),
        # Fridays at 00:00; 2011-12-30 was to be one: it fires as the 31st begins.
        (
            "0 0 * * FRI",
            "Pacific/Apia",
            "2011-12-23T10:00",
            "2012-01-06T00:00",
            ["2011-12-23T10:00", "2011-12-30T10:00", "2012-01-05T10:00"],
        ),
        # Saturdays only in some hours: 01:00 at +05:45 is 19:15 UTC of Friday.
        (
            "0 1,2 * * SAT",
            "Asia/Kathmandu",
            "2026-11-13T19:15",
            "2026-11-21T00:00",
            ["2026-11-13T19:15", "2026-11-13T20:15", "2026-11-20T19:15", "2026-11-20T20:15"],
        ),
    ],
)
def test_cron(cron: str, timezone: str, start: str, stop: str, expected: list[str]) -> None:
    assert openings(cron, timezone, start, stop) == [utc(text) for text in expected]


def test_a_cron_period_is_called_by_its_start() -> None:
    id, opens, closes = "2026-11-15T1230Z", "2026-11-15T12:30", "2026-11-16T12:30"
    check("30 12 * * *", "UTC", id, opens, closes)
    assert calendar("30 12 * * *", "UTC").period("2026-11-15T1200Z") is None
