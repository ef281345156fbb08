"""What a service does in the background: it goes on whatever happens, and tells when it does not.

A chore that fails is logged, counted and done again at its next time. One that has not been done
for many times its interval shows in `/readyz` and in the metrics.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from toprung.domain.health import HealthCheck
from toprung.errors import ToprungError

OVERDUE: Final = 6
"""Intervals after which a chore that was not done is a fault."""

CHORE_SECONDS_MAX: Final = 60.0
RESTART_SECONDS: Final = 1.0

_log = logging.getLogger("toprung.http")


class Chore:
    """Something that is done now and then, or (with an interval of 0) all the time."""

    def __init__(self, name: str, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        self.name = name
        self.failures = 0
        self._seconds = seconds
        self._work = work
        self._done_at = time.monotonic()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin; the task ends only when it is cancelled."""
        self._done_at = time.monotonic()
        self._task = asyncio.create_task(self._repeat(), name=f"toprung-{self.name}")
        return self._task

    @property
    def age_seconds(self) -> float:
        """How long ago it was done last; of what goes on all the time, how long it has done so."""
        return time.monotonic() - self._done_at

    @property
    def fault(self) -> str | None:
        """What is wrong, if it is not done as it should be."""
        if self._task is not None and self._task.done():
            return f"{self.name} has ended"
        if self._seconds and self.age_seconds > OVERDUE * self._seconds:
            return f"{self.name} has not been done for {self.age_seconds:.0f} seconds"
        return None

    async def _repeat(self) -> None:
        while True:
            try:
                if self._seconds:
                    await asyncio.sleep(self._seconds)
                    async with asyncio.timeout(CHORE_SECONDS_MAX):
                        await self._work()
                else:
                    await self._work()
            except Exception as error:  # noqa: BLE001 -- nothing may end it
                self.failures += 1
                trace = None if isinstance(error, ToprungError) else error
                _log.warning("%s failed and is tried again: %r", self.name, error, exc_info=trace)
                await asyncio.sleep(0 if self._seconds else RESTART_SECONDS)
            else:
                self._done_at = time.monotonic()


class Upkeep:
    """All chores of a service."""

    def __init__(self) -> None:
        self.chores: list[Chore] = []
        self._tasks: list[asyncio.Task[None]] = []

    def add(self, name: str, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Have something done every so many seconds; 0 for what goes on by itself."""
        self.chores.append(Chore(name, seconds, work))

    def start(self) -> None:
        """Begin with all of them."""
        self._tasks = [chore.start() for chore in self.chores]

    async def stop(self) -> None:
        """End all of them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def health(self) -> HealthCheck:
        """Whether all are done as they should be."""
        faults = [chore.fault for chore in self.chores if chore.fault is not None]
        return HealthCheck("upkeep", "; ".join(faults) or None, ())
