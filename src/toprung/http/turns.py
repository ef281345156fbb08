"""Turns: how work that is not urgent shares the event loop with everything else.

One change can concern every live connection, and many connections can send something at the same
moment, or many requests in a row. Done in one go that would keep all other callers waiting. So
whoever has live work to do, or has sent more than was looked at, asks for a turn. A few turns are
granted each time round the event loop, within a few milliseconds, and requests that arrive in
between are answered in between.

Callers (keys and addresses) are served in rotation, so one with a thousand connections delays
another with one connection by a single turn.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from time import perf_counter
from typing import Final

SLICE_SECONDS: Final = 0.002
"""For turns, each time round the event loop."""
GRANTED_MAX: Final = 16
"""Turns, each time round the event loop."""
TURN_SECONDS: Final = 0.001
"""After which a turn ends as soon as it can; the rest is another turn's work."""

Grant = Callable[[], object]
"""Does the work, which is short; or wakes a task that looks at `is_over` and does it."""


class Turns:
    """Who waits for a turn. Everyone waits once at a time, so there are as many as connections."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[Grant]] = OrderedDict()
        self._is_due = False
        self._ends: float | None = None

    def ask(self, caller: str, grant: Grant, *, again: bool = False) -> None:
        """Have `grant` called when it is the caller's turn.

        `again`: it was granted and there was no time left, so that it comes first.
        """
        waiting = self._waiting.get(caller)
        if waiting is None:
            waiting = self._waiting[caller] = deque()
        if again:
            waiting.appendleft(grant)
        else:
            waiting.append(grant)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._grant)

    def is_over(self) -> bool:
        """Whether the time for turns is used up, for now. The first to look always has some."""
        now = perf_counter()
        if self._ends is None:
            self._ends = now + SLICE_SECONDS
            return False
        return now > self._ends

    async def take(self, caller: str) -> None:
        """Wait for a turn."""
        loop, again = asyncio.get_running_loop(), False
        while True:
            granted = loop.create_future()
            self.ask(caller, lambda granted=granted: _grant(granted), again=again)  # type: ignore[misc]
            await granted
            if not self.is_over():
                return
            again = True

    def _grant(self) -> None:
        """Grant some turns; those that wake tasks take place when these run, next time round."""
        ends = perf_counter() + SLICE_SECONDS
        self._ends = None
        try:
            for _ in range(GRANTED_MAX):
                if not self._waiting or perf_counter() > ends:
                    break
                self._pop()()
        finally:
            self._is_due = bool(self._waiting)
            if self._is_due:
                asyncio.get_running_loop().call_soon(self._grant)

    def _pop(self) -> Grant:
        """Whose turn it is; its caller, if that has more of them, is the last in the rotation."""
        caller, waiting = self._waiting.popitem(last=False)
        grant = waiting.popleft()
        if waiting:
            self._waiting[caller] = waiting
        return grant


def _grant(granted: asyncio.Future[None]) -> None:
    if not granted.done():
        granted.set_result(None)
