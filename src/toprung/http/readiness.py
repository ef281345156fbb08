"""Whether a service can do what it is for: one look a second, however many ask.

Anybody may ask, so the answer names neither addresses nor paths nor boards, and asking more often
costs the servers behind nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final, Literal

from toprung.domain.health import BOTH, HealthCheck, Part
from toprung.waiting.tasks import end_task

if TYPE_CHECKING:
    from toprung.http.state import State

Status = Literal["ready", "degraded", "not-ready"]

FRESH_SECONDS: Final = 1.0
LOOK_SECONDS_MAX: Final = 3.0
UNKNOWN: Final = "health"
"""The check that stands for those of the leaderboards when they cannot be asked."""

_log = logging.getLogger("toprung.http")


class Readiness:
    """What was found at the last look."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._checks: list[HealthCheck] = []
        self._looked_at = -FRESH_SECONDS
        self._looking: asyncio.Task[list[HealthCheck]] | None = None
        self._told: set[str] = set()
        """What was logged to be wrong, and not yet to be well again."""

    async def look(self) -> list[HealthCheck]:
        """Every check, at most a second old."""
        if self._state.is_closing:
            return [HealthCheck("service", "it is stopping")]
        if time.monotonic() - self._looked_at < FRESH_SECONDS:
            return self._checks
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def refresh(self) -> None:
        """`look` as a chore: faults are logged although nobody asks."""
        await self.look()

    async def close(self) -> None:
        """End a look that is under way."""
        await end_task(self._looking)

    async def _look(self) -> list[HealthCheck]:
        try:
            limit = asyncio.timeout(LOOK_SECONDS_MAX)
            try:
                async with limit:
                    checks = await self._state.boards.health()
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is a fault
                _log.warning("the health check failed: %r", error)
                fault = "did not finish in time" if limit.expired() else "failed"
                checks = [HealthCheck(UNKNOWN, f"the check {fault}")]
            checks = [*checks, *self._state.memory.health(), self._state.upkeep.health()]
            self._tell(checks)
            self._checks, self._looked_at = checks, time.monotonic()
            return checks
        finally:
            self._looking = None

    def _tell(self, checks: list[HealthCheck]) -> None:
        """Log what has changed; what a look does not tell of is as before, if much is unknown."""
        faults = {check.name: check.fault for check in checks if check.fault is not None}
        for name in faults.keys() - self._told:
            _log.error("not ready: %s: %s", name, faults[name])
        is_whole, seen = UNKNOWN not in faults, {check.name for check in checks}
        for name in self._told - faults.keys():
            if is_whole or name in seen:
                _log.warning("ready again: %s", name)
                self._told.discard(name)
        self._told |= faults.keys()


def stopped(checks: list[HealthCheck]) -> set[Part]:
    """What does not work, or not everywhere.

    >>> sorted(stopped([HealthCheck("index", "away", ("reads",)), HealthCheck("journal")]))
    ['reads']
    """
    return {part for check in checks if check.fault is not None for part in check.stops}


def status_of(checks: list[HealthCheck]) -> Status:
    """One word for all checks.

    >>> status_of([]), status_of([HealthCheck("index", "away", ("reads",))])
    ('ready', 'degraded')
    """
    if stopped(checks) == set(BOTH):
        return "not-ready"
    return "degraded" if any(check.fault is not None for check in checks) else "ready"
