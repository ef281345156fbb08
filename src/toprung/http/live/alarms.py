"""Alarms: many moments to wait for, with one timer, and a few milliseconds of ringing at a time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from time import perf_counter
from typing import Final

RINGING_SECONDS: Final = 0.002
EARLY_SECONDS: Final = 0.001
"""Timers of some event loops count in milliseconds, and may be that much early."""


class Alarms:
    """What is to be called when. Nothing can be taken back: who was called in vain ignores it."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()
        self._timer: asyncio.Handle | None = None
        self._timer_at = 0.0

    def set(self, at: float, ring: Callable[[], object]) -> None:
        """Have `ring` called at that moment of the event loop's time, or soon after."""
        heapq.heappush(self._heap, (at, next(self._numbers), ring))
        if self._timer is None or at < self._timer_at:
            self._plan()

    def _plan(self) -> None:
        """Set the timer for whatever comes first."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            self._timer_at = self._heap[0][0]
            self._timer = asyncio.get_running_loop().call_at(self._timer_at, self._ring)

    def _ring(self) -> None:
        now = asyncio.get_running_loop().time() + EARLY_SECONDS
        ends = perf_counter() + RINGING_SECONDS
        try:
            while self._heap and self._heap[0][0] <= now and perf_counter() < ends:
                heapq.heappop(self._heap)[2]()
        finally:
            self._plan()
