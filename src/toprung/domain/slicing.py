"""The ways to cut time into slices that meet without gap or overlap, in one time zone.

All arithmetic here is in whole seconds; every boundary is one. There are four ways:

* dates (daily, weekly, monthly, yearly): a slice opens when the wall clock first reaches its
  first date. A date that returns because the clock is moved back stays closed, and a date that
  the zone skipped has no slice.
* hours: one showing of a wall-clock hour; moving the clock always opens a new slice. So an hour
  that repeats gives two slices, and a half-hour shift gives a short one.
* cron at fixed times (neither the minute nor the hour field starts with ``*``): fires once for
  each time it names, at the first showing of a repeated time and at the end of the gap that
  skips one.
* cron with a wildcard: fires at every instant whose wall-clock reading matches; a skipped
  reading does not fire, a repeated one fires twice.

The two cron rules are those of Debian's cron. cronsim matches readings, without a zone; the zone
is brought in by `WallClock` alone, because cronsim's own zone handling gives different answers
forwards and backwards around some shifts.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from calendar import isleap, monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from cronsim import CronSim, CronSimError

from toprung.domain.zone import DAY, WallClock, moment_of, reading_of
from toprung.errors import Invalid

_HOUR = 3_600
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_START_ID = re.compile(r"\d{4}-\d\d-\d\dT\d{4}(\d\d)?Z", re.ASCII)
_CRON_LENGTH = 120
_KINDS_OF_YEAR = {(date(year, 1, 1).weekday(), isleap(year)): year for year in range(2001, 2029)}
"""A year for each weekday that years begin with, with and without a leap day."""


class TimeSlice(NamedTuple):
    """One slice of time: opens <= second < closes."""

    id: str
    opens: int
    closes: int


class Slicing(ABC):
    """One way to cut time into slices."""

    @abstractmethod
    def around(self, second: int) -> TimeSlice:
        """The slice that contains the second."""

    @abstractmethod
    def locate(self, id: str) -> int | None:
        """A second inside the slice with this id, if there is such a slice; else anything."""


def slicing(kind: str, clock: WallClock) -> Slicing:
    """Slices of a built-in kind: hourly, daily, weekly, monthly or yearly."""
    return _HourSlicing(clock) if kind == "hourly" else _DateSlicing(_DATES[kind], clock)


def cron_slicing(cron: str, clock: WallClock) -> Slicing:
    """Slices from one firing of a parsed cron expression to the next."""
    minute, hour, *_ = cron.split()
    if minute.startswith("*") or hour.startswith("*"):
        return _WildcardCronSlicing(cron, clock)
    return _FixedCronSlicing(cron, clock)


# --- dates ----------------------------------------------------------------------------------


class _Dates(NamedTuple):
    """A run of dates: how to find its first, the first of the next, and how it is called."""

    first: Callable[[date], date]
    following: Callable[[date], date]  # of a first date
    id: Callable[[date], str]  # of a first date
    suffix: str  # completes an id to the ISO form of its first date


def _week_id(monday: date) -> str:
    year, week, _ = monday.isocalendar()
    return f"{year:04}-W{week:02}"


_DATES = {
    "daily": _Dates(
        first=lambda day: day,
        following=lambda day: day + timedelta(days=1),
        id=date.isoformat,
        suffix="",
    ),
    "weekly": _Dates(
        first=lambda day: day - timedelta(days=day.weekday()),
        following=lambda monday: monday + timedelta(days=7),
        id=_week_id,
        suffix="-1",
    ),
    "monthly": _Dates(
        first=lambda day: day.replace(day=1),
        following=lambda first: (first + timedelta(days=31)).replace(day=1),
        id=lambda first: first.isoformat()[:7],
        suffix="-01",
    ),
    "yearly": _Dates(
        first=lambda day: day.replace(month=1, day=1),
        following=lambda first: first.replace(year=first.year + 1),
        id=lambda first: first.isoformat()[:4],
        suffix="-01-01",
    ),
}


class _DateSlicing(Slicing):
    """Runs of dates."""

    def __init__(self, dates: _Dates, clock: WallClock) -> None:
        self._dates = dates
        self._clock = clock

    def around(self, second: int) -> TimeSlice:
        reading = self._clock.furthest(second)
        first = self._dates.first(date.fromordinal(_EPOCH_ORDINAL + reading // DAY))
        following = self._dates.following(first)
        return TimeSlice(self._dates.id(first), self._reached(first), self._reached(following))

    def locate(self, id: str) -> int | None:
        try:
            return self._reached(date.fromisoformat(id + self._dates.suffix))
        except (ValueError, OverflowError):
            return None

    def _reached(self, day: date) -> int:
        return self._clock.first((day.toordinal() - _EPOCH_ORDINAL) * DAY)


# --- hours ----------------------------------------------------------------------------------


class _HourSlicing(Slicing):
    """Showings of wall-clock hours."""

    def __init__(self, clock: WallClock) -> None:
        self._clock = clock

    def around(self, second: int) -> TimeSlice:
        opens = second - (second + self._clock.offset(second)) % _HOUR
        closes = opens + _HOUR
        moved = self._clock.last_shift(opens, second)
        opens = opens if moved is None else moved
        moves = self._clock.first_shift(second, closes)
        closes = closes if moves is None else moves
        return TimeSlice(_start_id(opens), opens, closes)

    def locate(self, id: str) -> int | None:
        return _parse_start_id(id)


def _start_id(second: int) -> str:
    # Boundaries fall on whole minutes, but for a zone whose offset has seconds
    # (Africa/Monrovia until 1972): there the id needs them to stay unique.
    return moment_of(second).strftime("%Y-%m-%dT%H%M%SZ" if second % 60 else "%Y-%m-%dT%H%MZ")


def _parse_start_id(id: str) -> int | None:
    if not _START_ID.fullmatch(id):
        return None
    try:
        return reading_of(datetime.fromisoformat(id[:-1]))
    except ValueError:
        return None


# --- cron -----------------------------------------------------------------------------------


def parse_cron(value: object) -> str:
    """A five-field cron expression, single-spaced, that fires in every calendar year.

    >>> parse_cron("0  12 * * MON-FRI")
    '0 12 * * MON-FRI'
    """
    if not isinstance(value, str) or not value.isascii() or len(value) > _CRON_LENGTH:
        raise Invalid("cron", f"must be a string of at most {_CRON_LENGTH} ASCII characters")
    cron = " ".join(value.split())
    if cron.count(" ") != 4:
        raise Invalid("cron", "must have five fields: minute, hour, day, month, weekday")
    try:
        rare = _skips_a_year(cron)
    except (CronSimError, ValueError, AssertionError) as error:
        raise Invalid("cron", f"is not a cron expression: {error}") from None
    if rare:
        raise Invalid("cron", "must fire at least once in every calendar year")
    return cron


class _FixedCronSlicing(Slicing):
    """Firings at fixed times: each once, when the clock first reaches it."""

    def __init__(self, cron: str, clock: WallClock) -> None:
        self._cron = cron
        self._clock = clock

    def around(self, second: int) -> TimeSlice:
        reading = self._clock.furthest(second)
        opens = self._clock.first(_fired(self._cron, reading))
        closes = self._clock.first(_fires(self._cron, reading))
        return TimeSlice(_start_id(opens), opens, closes)

    def locate(self, id: str) -> int | None:
        return _parse_start_id(id)


class _WildcardCronSlicing(Slicing):
    """Firings at every matching reading of the clock."""

    def __init__(self, cron: str, clock: WallClock) -> None:
        self._cron = cron
        self._clock = clock

    def around(self, second: int) -> TimeSlice:
        opens = self._fired(second)
        return TimeSlice(_start_id(opens), opens, self._fires(second))

    def locate(self, id: str) -> int | None:
        return _parse_start_id(id)

    def _fired(self, second: int) -> int:
        # From shift to shift the clock runs evenly; look for a match in one such run at a time.
        while True:
            offset = self._clock.offset(second)
            fired = _fired(self._cron, second + offset) - offset
            shift = self._clock.last_shift(fired, second)
            if shift is None:
                return fired
            second = shift - 1

    def _fires(self, second: int) -> int:
        after = second
        while True:
            offset = self._clock.offset(second)
            fires = _fires(self._cron, after + offset) - offset
            shift = self._clock.first_shift(second, fires)
            if shift is None:
                return fires
            second, after = shift, shift - 1


def _fired(cron: str, reading: int) -> int:
    """The last matching reading up to and including this one."""
    return reading_of(next(CronSim(cron, moment_of(reading + 1), reverse=True)))


def _fires(cron: str, reading: int) -> int:
    """The first matching reading after this one."""
    return reading_of(next(CronSim(cron, moment_of(reading))))


@lru_cache(maxsize=1024)
def _skips_a_year(cron: str) -> bool:
    parsed = CronSim(cron, moment_of(0))
    return any(not _fires_in(parsed, year) for year in _KINDS_OF_YEAR.values())


def _fires_in(cron: CronSim, year: int) -> bool:
    return any(
        cron.match_day(date(year, month, day))
        for month in sorted(cron.months)
        for day in range(1, monthrange(year, month)[1] + 1)
    )
