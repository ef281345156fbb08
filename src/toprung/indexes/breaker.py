"""A circuit breaker: after a few failures in a row, do not even try for a moment.

It keeps the latency of writes bounded while the index is away: instead of waiting for a timeout
each time, callers are told at once, and one of them tries again now and then.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from toprung.errors import IndexUnavailable

FAILURES_MAX = 3
REST_SECONDS = 0.5


class CircuitBreaker:
    """Counts failures in a row; `check` before a call, `succeeded` or `failed` after it.

    >>> now = 0.0
    >>> breaker = CircuitBreaker(failures_max=1, rest_seconds=1, clock=lambda: now)
    >>> breaker.check()
    >>> breaker.failed()
    >>> breaker.is_open
    True
    >>> now = 2.0
    >>> breaker.check()
    >>> breaker.succeeded()
    >>> breaker.is_open
    False
    """

    def __init__(
        self,
        failures_max: int = FAILURES_MAX,
        rest_seconds: float = REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures_max = failures_max
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._failures = 0
        self._retry_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, but for one now and then."""
        return self._failures >= self._failures_max

    def check(self) -> None:
        """Let the call pass, or raise IndexUnavailable."""
        if self.is_open:
            now = self._clock()
            if now < self._retry_at:
                raise IndexUnavailable
            self._retry_at = now + self._rest_seconds  # this call is the one that tries

    def succeeded(self) -> None:
        """The call was answered."""
        self._failures = 0

    def failed(self) -> None:
        """The call was not answered."""
        self._failures += 1
        self._retry_at = self._clock() + self._rest_seconds
