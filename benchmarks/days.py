"""Days that end while a benchmark runs: a clock that can be set ahead."""

from __future__ import annotations

from toprung.profiles.embedded import SystemClock

DAY = 24 * 3600 * 1_000_000  # microseconds
WEEK = 7 * DAY
WEDNESDAY_NOON = 6 * DAY + DAY // 2  # the first of them since 1970


class DaysClock:
    """The machine's clock, but it is noon of a Wednesday at first, and whole days pass in no time.

    So a day of UTC does not end unless a benchmark says so, and a week does not with the first.
    """

    def __init__(self) -> None:
        self._system = SystemClock()
        self._ahead = -((self._system.now() - WEDNESDAY_NOON) % WEEK)
        self._passed = 0

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self._system.now() + self._ahead + self._passed

    def elapsed(self) -> int:
        """Microseconds since the machine was started, with the days that were passed."""
        return self._system.elapsed() + self._passed

    def pass_day(self) -> None:
        """It is the same time of the next day."""
        self._passed += DAY
