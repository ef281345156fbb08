"""Outages in the log: every request meets the same one, and few of them need to tell of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from toprung.errors import ToprungError
from toprung.http.limits import RateLimit
from toprung.http.settings import Rate

LOGGED: Final = Rate(1.0, 3)
"""How often the same outage is logged."""
KINDS_MAX: Final = 1000
"""Of outages that are told apart; beyond that all begin anew."""

_log = logging.getLogger("toprung.http")


class Outages:
    """The outages of one service, told apart by their class and by what they say."""

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._rate = RateLimit(LOGGED, clock)
        self._unlogged: dict[tuple[str, str], int] = {}

    def log(self, error: ToprungError, request: bytes) -> None:
        """Tell of an outage that a request met, unless it was told of just now."""
        name = (type(error).__name__, str(error))
        if self._rate.take("\0".join(name)) is not None:
            if name not in self._unlogged and len(self._unlogged) >= KINDS_MAX:
                self._unlogged.clear()
            self._unlogged[name] = self._unlogged.get(name, 0) + 1
            return
        count = self._unlogged.pop(name, 0)
        more = f" ({count:,} more requests met it and were not logged)" if count else ""
        _log.warning("unavailable: %s%s", error, more, extra={"request": request.decode()})
