"""Quick ways to find shifts, rare crons and what is retained, held to slow ones that are plain."""

from datetime import datetime

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.test_window_partition import IN_2100, ODD, SECOND, zones, zones_and_seconds
from toprung.domain import slicing
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.ladder import nowhere, periods_of, route_of
from toprung.domain.slicing import cron_slicing, parse_cron
from toprung.domain.window import Window
from toprung.domain.zone import DAY, WallClock
from toprung.errors import Invalid, TooLate

NOW = 1_795_000_000 * SECOND  # in November 2026
ODDER = [*ODD, "Asia/Tehran", "Africa/El_Aaiun", "America/Godthab", "Europe/Lisbon"]
WILDCARDS = ["* 5 1 1 *", "*/15 * * * *", "30 * 29 3 *", "* 2 * 3,10 0", "*/20 1-3 L * *"]
CRONS = [*WILDCARDS, "30 2 * * *", "15 1 29 3 *", "0 0 1 1 *"]


class DayByDay(WallClock):
    """A wall clock that looks for shifts at every single day."""

    __slots__ = ()

    def last_shift(self, after: int, upto: int) -> int | None:
        while after < upto:
            earlier = max(after, upto - DAY)
            if self.offset(earlier) != self.offset(upto):
                return self._bisected(earlier, upto)
            upto = earlier
        return None

    def first_shift(self, after: int, upto: int) -> int | None:
        while after < upto:
            later = min(upto, after + DAY)
            if self.offset(after) != self.offset(later):
                return self._bisected(after, later)
            after = later
        return None

    def _bisected(self, before: int, after: int) -> int:
        final = self.offset(after)
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (before, middle) if self.offset(middle) == final else (middle, after)
        return after


# --- shifts -------------------------------------------------------------------------------------


@given(zones | st.sampled_from(ODDER), st.integers(-DAY, IN_2100), st.integers(-DAY, 500 * DAY))
@settings(deadline=None)
def test_shifts_are_those_that_are_found_day_by_day(zone: str, after: int, span: int) -> None:
    clock, slow = WallClock(zone), DayByDay(zone)
    assert clock.first_shift(after, after + span) == slow.first_shift(after, after + span)
    assert clock.last_shift(after, after + span) == slow.last_shift(after, after + span)


@given(zones_and_seconds(), st.integers(-3, 3), st.integers(-3, 3))
@settings(deadline=None)
def test_a_shift_belongs_to_the_span_that_ends_with_it(
    place: tuple[str, int], left: int, right: int
) -> None:
    zone, second = place
    clock, slow = WallClock(zone), DayByDay(zone)
    shift = clock.last_shift(second - 400 * DAY, second)
    if shift is not None:
        span = shift + left, shift + right
        assert clock.first_shift(*span) == slow.first_shift(*span)
        assert clock.last_shift(*span) == slow.last_shift(*span)


@pytest.mark.parametrize("zone", ODDER)
def test_no_shift_since_1970_is_missed(zone: str) -> None:
    assert shifts_until_2035(WallClock(zone)) == shifts_until_2035(DayByDay(zone))


def shifts_until_2035(clock: WallClock) -> list[int]:
    found, at = [], 0
    while at < IN_2100 // 2:
        shift = clock.first_shift(at, at + 300 * DAY)
        found += [] if shift is None else [shift]
        at = shift or at + 300 * DAY
    return found


@given(st.sampled_from(CRONS), st.sampled_from(ODDER), st.data())
@settings(deadline=None)
def test_cron_slices_are_those_of_the_slow_clock(cron: str, zone: str, data: st.DataObject) -> None:
    second = data.draw(st.integers(2 * 365 * DAY, IN_2100))
    near = WallClock(zone).last_shift(second - 400 * DAY, second)
    if near is not None and data.draw(st.booleans()):
        second = near + data.draw(st.integers(-7_200, 7_200))
    fast = cron_slicing(cron, WallClock(zone)).around(second)
    assert fast == cron_slicing(cron, DayByDay(zone)).around(second)


# --- crons --------------------------------------------------------------------------------------


def skips_a_year(cron: str) -> bool:
    """Whether no firing follows the end of some year within the next."""
    for year in range(2001, 2029):
        firing = next(CronSim(cron, datetime(year - 1, 12, 31, 23, 59, 59)), None)  # noqa: DTZ001
        if firing is None or firing.year != year:
            return True
    return False


days = st.sampled_from(["*", "*/9", "1", "29", "30", "31", "L", "LW", "28-31", "1,15"])
months = st.sampled_from(["*", "2", "1-3", "2,4", "*/5", "12"])
weekdays = st.sampled_from(["*", "0", "7", "MON", "1#5", "5#1", "2L", "1#5,3#5", "6#4", "*/3"])


@given(days, months, weekdays, st.sampled_from(["0 0", "59 23", "* 5", "*/7 */5"]))
@settings(deadline=None)
def test_a_cron_is_rare_if_it_skips_a_year(day: str, month: str, weekday: str, time: str) -> None:
    cron = f"{time} {day} {month} {weekday}"
    try:
        rare = skips_a_year(cron)
    except (CronSimError, ValueError):
        rare = True
    if rare:
        with pytest.raises(Invalid):
            parse_cron(cron)
    else:
        assert parse_cron(cron) == cron


def test_a_cron_is_judged_by_reading_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board has up to 64 of them, and the event loop waits."""
    read: list[str] = []

    class Counted(CronSim):
        def __init__(self, expr: str, dt: datetime, reverse: bool = False) -> None:
            read.append(expr)
            super().__init__(expr, dt, reverse)

    monkeypatch.setattr(slicing, "CronSim", Counted)
    crons = [f"{n} 3-7,{n % 3} 1 1 *" for n in range(60)]
    for cron in crons:
        parse_cron(cron)
    assert read == crons


# --- what is retained ---------------------------------------------------------------------------

SEASON = {"name": "s1", "starts": "2026-03-29T00:30:00Z", "ends": "2026-11-01T00:00:00Z"}
KINDS = ["hourly", "daily", "weekly", "monthly", "yearly"]


@st.composite
def boards(draw: st.DrawFn) -> Board:
    names = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    windows: list[object] = [{"name": name, "retain": draw(st.integers(1, 8))} for name in names]
    windows.append({"name": "c", "cron": draw(st.sampled_from(CRONS)), "retain": 3})
    extra: list[list[object]] = [[], [SEASON], ["all-time"]]
    rules = {
        "windows": windows + draw(st.sampled_from(extra)),
        "timezone": draw(st.sampled_from(ODDER)),
    }
    return Board.parse("b", rules)


@given(boards(), st.integers(0, 10 * 365 * DAY), st.none() | st.integers(0, 2 * DAY))
@settings(deadline=None)
def test_a_late_score_counts_where_its_period_is_retained(
    board: Board, age: int, leniency: int | None
) -> None:
    at = NOW - age * SECOND
    since = None if leniency is None else NOW - leniency * SECOND
    slow: dict[str, Period] = {}
    for window in board.windows:
        calendar = window.calendar(board.timezone)
        period = calendar.period_at(at)
        if period is not None and calendar.is_retained(period, NOW, since):
            slow[window.name] = period
    found, skipped = periods_of(board, at, NOW, since)
    assert {window.name: period for window, period in found} == slow
    assert {name for name, _ in skipped} == {window.name for window in board.windows} - slow.keys()


@pytest.mark.parametrize(
    "window", ["daily", "all-time", SEASON, {"name": "c", "cron": "0 12 * * *"}]
)
@pytest.mark.parametrize("at", [-1, 221_845_392_000_000_001])
def test_instants_that_are_not_supported_are_refused(window: object, at: int) -> None:
    with pytest.raises(Invalid):
        Window.parse(window).calendar("UTC").retained_at(at, NOW)


def test_a_score_older_than_anything_retained_is_refused_without_slicing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking up the period of any instant at all would cost a board's writers seconds."""
    windows = [
        {"name": f"w{n}", "cron": f"* {n % 24} 1 {1 + n // 24} *", "retain": 1} for n in range(64)
    ]
    board = Board.parse("b", {"windows": windows, "timezone": "Africa/Casablanca"})
    route_of(board, NOW, NOW, ("global",))
    sliced: list[int] = []
    monkeypatch.setattr(slicing._WildcardCronSlicing, "around", lambda _, at: sliced.append(at))
    for age in range(500):
        with pytest.raises(TooLate):
            route_of(board, (1_000_000_000 + age * DAY) * SECOND, NOW, ("global",))
    assert sliced == []


def test_a_refusal_names_some_windows_and_counts_the_others() -> None:
    crons = [{"name": f"w{n}", "cron": f"{n} 0 * * *", "retain": 1} for n in range(20)]
    board = Board.parse("b", {"windows": crons})
    text = str(nowhere(board, periods_of(board, 0, NOW)[1]))
    assert text.endswith("w7 no longer retains it, and 12 more")
