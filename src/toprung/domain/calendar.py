"""Periods: which one an instant belongs to, what they are called, how long they are kept.

A calendar is one window in one time zone. It turns the seconds of `slicing` into the
microseconds of the domain and remembers the periods it has met: slicing costs 5 to 100 us,
remembering far less than one. Instants are supported from 1970 up to the year 9000.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from toprung.domain.instant import EARLIEST, LATEST, SECOND, check_instant
from toprung.domain.slicing import Slicing

AHEAD_MAX = 60 * SECOND
"""How far (microseconds) `at` may run ahead of the clock, and periods be written to already."""

PeriodState: TypeAlias = Literal["upcoming", "open", "ended", "closed", "settled"]
"""An ended period may be closed, and then settled: see `ending`."""

_REMEMBERED = 128  # periods per calendar: twice what a board can retain


class Period(msgspec.Struct, frozen=True, gc=False):
    """One slice of a window: opens_at <= at < closes_at; None is unbounded."""

    id: str
    opens_at: int | None
    closes_at: int | None

    def state(self, now: int) -> PeriodState:
        """Whether it is yet to open, open, or over, going by a clock.

        >>> [Period("cup", 10, 20).state(now) for now in (9, 10, 19, 20)]
        ['upcoming', 'open', 'open', 'ended']
        """
        if self.opens_at is not None and now < self.opens_at:
            return "upcoming"
        return "ended" if self.closes_at is not None and self.closes_at <= now else "open"


class Calendar(ABC):
    """The periods of one window in one time zone.

    Threads may share it: what it hands out is immutable, and a race costs one more lookup.
    """

    __slots__ = ()

    @abstractmethod
    def period_at(self, at: int) -> Period | None:
        """The period that contains the instant; None outside a season.

        Raises `Invalid` if the instant is not supported.
        """

    @abstractmethod
    def period(self, id: str) -> Period | None:
        """The period with this id; None if the window has no such period."""

    @abstractmethod
    def previous(self, period: Period) -> Period | None:
        """The period that closes when this one opens; None if there is no earlier one."""

    @abstractmethod
    def next(self, period: Period) -> Period | None:
        """The period that opens when this one closes; None if there is no later one."""

    @abstractmethod
    def retained(self, now: int) -> list[Period]:
        """The current period and the older ones that are still kept, newest first."""

    @abstractmethod
    def is_retained(self, period: Period, now: int, since: int | None = None) -> bool:
        """Whether the period is kept: current, recent enough, or opening within AHEAD_MAX.

        `since` is an earlier moment, when it was recent enough if it is not now.
        """

    @abstractmethod
    def retained_at(self, at: int, now: int, since: int | None = None) -> Period | None:
        """The period that contains the instant, if there is one and `is_retained` says yes.

        Raises `Invalid` if the instant is not supported.
        """


def one_period(period: Period) -> Calendar:
    """All time, or a season: a single period that is always retained, also before it opens."""
    return _OnePeriod(period)


def endless_periods(slicing: Slicing, retain: int) -> Calendar:
    """One period after the other, the current one and those before it kept, `retain` in all."""
    return _EndlessPeriods(slicing, retain)


class _OnePeriod(Calendar):
    __slots__ = ("_closes_at", "_opens_at", "_period")

    def __init__(self, period: Period) -> None:
        self._period = period
        self._opens_at = EARLIEST if period.opens_at is None else period.opens_at
        self._closes_at = LATEST if period.closes_at is None else period.closes_at

    def period_at(self, at: int) -> Period | None:
        if self._opens_at <= at < self._closes_at:
            return self._period
        check_instant(at)
        return None

    def period(self, id: str) -> Period | None:
        return self._period if id == self._period.id else None

    def previous(self, period: Period) -> Period | None:  # noqa: ARG002
        return None

    def next(self, period: Period) -> Period | None:  # noqa: ARG002
        return None

    def retained(self, now: int) -> list[Period]:  # noqa: ARG002
        return [self._period]

    def is_retained(self, period: Period, now: int, since: int | None = None) -> bool:  # noqa: ARG002
        return True

    def retained_at(self, at: int, now: int, since: int | None = None) -> Period | None:  # noqa: ARG002
        return self.period_at(at)


_Span = tuple[int, int, Period]  # opens_at, closes_at, and the period itself


class _Met(NamedTuple):
    """Periods met so far, in order of time; never changed, only replaced."""

    opens: tuple[int, ...] = ()
    spans: tuple[_Span, ...] = ()

    def find(self, at: int) -> _Span | None:
        index = bisect_right(self.opens, at) - 1
        return self.spans[index] if index >= 0 and at < self.spans[index][1] else None

    def with_span(self, span: _Span) -> _Met:
        opens, spans = (self.opens, self.spans) if len(self.opens) < _REMEMBERED else ((), ())
        index = bisect_right(opens, span[0])
        return _Met(
            (*opens[:index], span[0], *opens[index:]),
            (*spans[:index], span, *spans[index:]),
        )


class _EndlessPeriods(Calendar):
    __slots__ = ("_kept", "_last", "_met", "_retain", "_slicing")

    def __init__(self, slicing: Slicing, retain: int) -> None:
        self._slicing = slicing
        self._retain = retain
        # Each is replaced as a whole, never changed: a thread sees it old or new.
        self._last: _Span = (0, 0, Period("", 0, 0))
        self._met = _Met()
        self._kept: tuple[int, int, tuple[Period, ...]] = (0, 0, ())

    def period_at(self, at: int) -> Period:
        opens_at, closes_at, period = self._last
        if opens_at <= at < closes_at:
            return period
        self._last = span = self._met.find(at) or self._meet(at)
        return span[2]

    def period(self, id: str) -> Period | None:
        second = self._slicing.locate(id)
        if second is None or second * SECOND >= LATEST:
            return None
        # The first supported period may open before 1970.
        period = self.period_at(max(second * SECOND, EARLIEST))
        return period if period.id == id else None

    def previous(self, period: Period) -> Period | None:
        if period.opens_at is None or period.opens_at <= EARLIEST:
            return None
        return self.period_at(period.opens_at - 1)

    def next(self, period: Period) -> Period | None:
        if period.closes_at is None or period.closes_at >= LATEST:
            return None
        return self.period_at(period.closes_at)

    def retained(self, now: int) -> list[Period]:
        return list(self._retained(now))

    def is_retained(self, period: Period, now: int, since: int | None = None) -> bool:
        opens_at = period.opens_at
        if opens_at is None or opens_at > now + AHEAD_MAX:
            return opens_at is None
        return opens_at >= self._oldest(now if since is None else since)

    def retained_at(self, at: int, now: int, since: int | None = None) -> Period | None:
        # What came before the oldest is refused without slicing: anybody can send any instant.
        if at < self._oldest(now if since is None else since):
            check_instant(at)
            return None
        period = self.period_at(at)
        return period if self.is_retained(period, now, since) else None

    def _oldest(self, now: int) -> int:
        """When the oldest period opened that was retained at this moment."""
        opens_at = self._retained(now)[-1].opens_at
        return EARLIEST if opens_at is None else opens_at

    def _meet(self, at: int) -> _Span:
        """Slice time at the instant and remember what comes out."""
        check_instant(at)
        found = self._slicing.around(at // SECOND)
        opens_at, closes_at = found.opens * SECOND, found.closes * SECOND
        span = (opens_at, closes_at, Period(found.id, opens_at, closes_at))
        self._met = self._met.with_span(span)
        return span

    def _retained(self, now: int) -> tuple[Period, ...]:
        opens_at, closes_at, periods = self._kept
        if opens_at <= now < closes_at:
            return periods
        opens_at, closes_at, current = self._met.find(now) or self._meet(now)
        periods = tuple(self._backwards(current))
        self._kept = (opens_at, closes_at, periods)
        return periods

    def _backwards(self, period: Period | None) -> list[Period]:
        periods: list[Period] = []
        while period is not None and len(periods) < self._retain:
            periods.append(period)
            period = self.previous(period)
        return periods
