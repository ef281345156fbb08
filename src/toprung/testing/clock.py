"""A clock that stands still, so that tests about time never wait for it."""

from __future__ import annotations

from datetime import datetime, timedelta

from toprung.domain.instant import instant_datetime, parse_instant

_MICROSECOND = timedelta(microseconds=1)


class FrozenClock:
    """A Clock whose time changes only when a test says so.

    Time passes with `advance` and `move_to`. A clock that is set, while no time passes, is `jump`.

    >>> clock = FrozenClock("2026-11-15T12:30:00Z")
    >>> clock.now(), clock.elapsed()
    (1794745800000000, 0)
    >>> clock.advance(seconds=1.5), clock.elapsed()
    (1794745801500000, 1500000)
    >>> clock.jump(seconds=-1.5), clock.elapsed()
    (1794745800000000, 1500000)
    >>> clock.move_to("2026-12-01T00:00:00+01:00")
    1796079600000000
    """

    def __init__(self, start: int | str | datetime = "2026-01-01T00:00:00Z") -> None:
        self._now = _microseconds(start)
        self._elapsed = 0

    def __repr__(self) -> str:
        return f"FrozenClock({instant_datetime(self._now).isoformat()!r})"

    def now(self) -> int:
        """The frozen instant, in microseconds since 1970 in UTC."""
        return self._now

    def elapsed(self) -> int:
        """The microseconds that have passed since the clock was made."""
        return self._elapsed

    def advance(
        self,
        by: timedelta = timedelta(0),
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        microseconds: float = 0,
    ) -> int:
        """Let time pass; returns the new instant. A negative duration is a `jump` back."""
        by += timedelta(
            days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds
        )
        return self.move_to(self._now + by // _MICROSECOND)

    def jump(
        self,
        by: timedelta = timedelta(0),
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
    ) -> int:
        """Set the clock ahead or back, while no time passes; returns the new instant."""
        by += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self._now += by // _MICROSECOND
        return self._now

    def move_to(self, instant: int | str | datetime) -> int:
        """Stand at `instant`: microseconds, an aware datetime or RFC 3339 text; returns it.

        Time passes until a later one; to an earlier one the clock is set back.
        """
        target = _microseconds(instant)
        self._elapsed += max(0, target - self._now)
        self._now = target
        return self._now


def _microseconds(instant: int | str | datetime) -> int:
    return instant if isinstance(instant, int) else parse_instant(instant, "instant")
