"""The job that lifts restrictions whose time has passed."""

from __future__ import annotations

from typing import Final

from toprung.domain.jobs import Until
from toprung.ports import Clock, Journal, Lease
from toprung.service.background.working import Job
from toprung.service.restrictions import lift_expired, next_due

LOOK_SECONDS: Final = 30.0
"""After which it is looked for restrictions that were set elsewhere."""


class LiftRestrictions:
    """Lifts what has ended, also what ended while nothing was running."""

    name = "restrictions"

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._due_at: int | None = None

    @property
    def schedule(self) -> Until:
        """When the next one ends, and now and then."""
        return Until(self._due_at, LOOK_SECONDS)

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Lift what has ended."""
        lifted = await lift_expired(self._journal, self._clock)
        self._due_at = await next_due(self._journal)
        return f"lifted {lifted} restrictions"


_: type[Job] = LiftRestrictions
