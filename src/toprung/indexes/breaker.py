"""A circuit breaker: after a few failures in a row, do not even try.

It keeps the latency of writes bounded while the index is away: instead of waiting for a timeout
each time, callers are told at once. Somebody else, whom nobody waits for, tries again now and then.
"""

from __future__ import annotations

from toprung.errors import IndexUnavailable

FAILURES_MAX = 3


class CircuitBreaker:
    """Counts failures in a row; `check` before a call, `succeeded` or `failed` after it.

    >>> breaker = CircuitBreaker(failures_max=2)
    >>> breaker.failed()
    >>> breaker.check()
    >>> breaker.failed()
    >>> breaker.is_open
    True
    >>> breaker.succeeded()
    >>> breaker.check()
    """

    def __init__(self, failures_max: int = FAILURES_MAX) -> None:
        self._failures_max = failures_max
        self._failures = 0

    @property
    def is_open(self) -> bool:
        """Whether calls are refused."""
        return self._failures >= self._failures_max

    def check(self) -> None:
        """Let the call pass, or raise IndexUnavailable."""
        if self.is_open:
            raise IndexUnavailable

    def succeeded(self) -> None:
        """The server answers."""
        self._failures = 0

    def failed(self) -> None:
        """A call was not answered."""
        self._failures += 1
