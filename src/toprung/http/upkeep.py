"""What a service does in the background: it goes on whatever happens, and tells when it does not.

A chore that fails is logged, counted and done again at its next time. One that has not been done
for many times its interval shows in `/readyz` and in the metrics; so does one that should never end
and has failed, until it has gone on for some seconds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from toprung.domain.health import HealthCheck
from toprung.errors import ToprungError
from toprung.waiting.tasks import end_task

OVERDUE: Final = 6
"""Intervals after which a chore that was not done is a fault."""

CHORE_SECONDS_MAX: Final = 60.0
RESTART_SECONDS: Final = 1.0
STEADY_SECONDS: Final = 10.0
"""After which an endless chore that has failed and goes on again is well."""

_log = logging.getLogger("toprung.http")


class Chore:
    """Something that is done now and then, or (with an interval of 0) all the time."""

    def __init__(
        self,
        name: str,
        seconds: float,
        work: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.failures = 0
        self._seconds = seconds
        self._work = work
        self._clock = clock
        self._done_at = clock()
        self._failed_at: float | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_endless(self) -> bool:
        """Whether it goes on all the time, so that it is never done."""
        return not self._seconds

    def start(self) -> asyncio.Task[None]:
        """Begin; the task ends only when it is cancelled."""
        self._done_at = self._clock()
        self._task = asyncio.create_task(self._repeat(), name=f"toprung-{self.name}")
        return self._task

    @property
    def age_seconds(self) -> float:
        """How long ago it was done last."""
        return self._clock() - self._done_at

    @property
    def fault(self) -> str | None:
        """What is wrong, if it is not done as it should be."""
        if self._task is not None and self._task.done():
            return f"{self.name} has ended"
        if self.is_endless:
            return f"{self.name} has failed" if self._has_just_failed() else None
        if self.age_seconds > OVERDUE * self._seconds:
            return f"{self.name} is overdue: last done {self.age_seconds:.0f} s ago"
        return None

    def _has_just_failed(self) -> bool:
        return self._failed_at is not None and self._clock() - self._failed_at < STEADY_SECONDS

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self.step()
            if self.is_endless:
                await asyncio.sleep(RESTART_SECONDS)

    async def step(self) -> None:
        """Do it once, whatever comes of it."""
        try:
            async with asyncio.timeout(None if self.is_endless else CHORE_SECONDS_MAX):
                await self._work()
        except Exception as error:  # noqa: BLE001 -- nothing may end it
            self.failures += 1
            self._failed_at = self._clock()
            trace = None if isinstance(error, ToprungError) else error
            _log.warning("%s failed and will be retried: %r", self.name, error, exc_info=trace)
        else:
            self._done_at = self._clock()


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
        await asyncio.gather(*map(end_task, self._tasks))

    def health(self) -> HealthCheck:
        """Whether all are done as they should be."""
        faults = [chore.fault for chore in self.chores if chore.fault is not None]
        return HealthCheck("upkeep", "; ".join(faults) or None, ())
