"""Rate limits: the generic cell rate algorithm, in process, one number per caller.

A caller's number is the moment until which it has used up its share. Each request moves it on by
one interval; who is further ahead than the burst allows is told how long to wait. Moments are
whole nanoseconds, because sums of fractions are not exact and a burst is to pass whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

from toprung.http.problems import Refused
from toprung.http.settings import Rate

CALLERS_MAX: Final = 100_000

_SECOND: Final = 1_000_000_000


class RateLimit:
    """Callers by name, and how far ahead of their rate each is."""

    def __init__(self, rate: Rate, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._interval = round(_SECOND / rate.per_second)
        self._ahead_max = self._interval * rate.burst
        self._clock = clock
        self._until: dict[str, int] = {}

    def take(self, caller: str) -> float | None:
        """Count one request; None when it may pass, else the seconds to wait."""
        now = self._clock()
        until = max(self._until.get(caller, now), now) + self._interval
        if until - now > self._ahead_max:
            return (until - now - self._ahead_max) / _SECOND
        if caller not in self._until and len(self._until) >= CALLERS_MAX:
            self._forget(now)
        self._until[caller] = until
        return None

    def check(self, caller: str) -> None:
        """Count one request, and refuse it when there were too many."""
        wait = self.take(caller)
        if wait is not None:
            seconds = max(1, math.ceil(wait))
            raise Refused(
                429,
                "too-many-requests",
                f"too many requests; try again in {seconds} s",
                headers=((b"retry-after", b"%d" % seconds),),
            )

    def _forget(self, now: int) -> None:
        """Forget who has its whole share again; or everybody, should all be busy."""
        self._until = {name: until for name, until in self._until.items() if until > now}
        if len(self._until) >= CALLERS_MAX:
            self._until.clear()
