"""Whether a service can do what it is for: one check a second, however many ask.

Anybody may ask, so the answer names neither addresses nor paths nor boards, and asking more often
costs the servers behind nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from toprung.contract import ReadyWord
from toprung.domain.health import BOTH, HealthCheck, Part
from toprung.waiting.tasks import end_task

if TYPE_CHECKING:
    from toprung.http.state import ServiceState

FRESH_SECONDS: Final = 1.0
CHECK_SECONDS_MAX: Final = 3.0
UNKNOWN: Final = "health"
"""The check that stands for those of the leaderboards when they cannot be asked."""

_log = logging.getLogger("toprung.http")


class Readiness:
    """What was found at the last check."""

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._checks: list[HealthCheck] = []
        self._checked_at = -FRESH_SECONDS
        self._checking: asyncio.Task[list[HealthCheck]] | None = None
        self._told: set[str] = set()
        """What was logged to be wrong, and not yet to be well again."""

    async def check(self) -> list[HealthCheck]:
        """Every check, at most a second old."""
        if self._state.is_closing:
            return [HealthCheck("service", "it is stopping")]
        if time.monotonic() - self._checked_at < FRESH_SECONDS:
            return self._checks
        if self._checking is None:
            self._checking = asyncio.create_task(self._check())
        return await asyncio.shield(self._checking)

    async def refresh(self) -> None:
        """`check` as a chore: faults are logged although nobody asks."""
        await self.check()

    async def close(self) -> None:
        """End a check that is under way."""
        await end_task(self._checking)

    async def _check(self) -> list[HealthCheck]:
        try:
            limit = asyncio.timeout(CHECK_SECONDS_MAX)
            try:
                async with limit:
                    checks = await self._state.boards.health()
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is a fault
                _log.warning("the health check failed: %r", error)
                fault = "did not finish in time" if limit.expired() else "failed"
                checks = [HealthCheck(UNKNOWN, f"the check {fault}")]
            checks = [*checks, *self._state.memory.health(), self._state.upkeep.health()]
            self._tell(checks)
            self._checks, self._checked_at = checks, time.monotonic()
            return checks
        finally:
            self._checking = None

    def _tell(self, checks: list[HealthCheck]) -> None:
        """Log what has changed; what a check does not tell of is as before, if much is unknown."""
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


def status_of(checks: list[HealthCheck]) -> ReadyWord:
    """One word for all checks.

    >>> status_of([]), status_of([HealthCheck("index", "away", ("reads",))])
    ('ready', 'degraded')
    """
    if stopped(checks) == set(BOTH):
        return "not-ready"
    return "degraded" if any(check.fault is not None for check in checks) else "ready"
