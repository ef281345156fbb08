"""Where it is kept when jobs were done."""

from __future__ import annotations

from typing import Protocol

from toprung.domain.jobs import JobRecord
from toprung.ports.leases import Lease


class JobStore(Protocol):
    """What is known of jobs, by name."""

    async def records(self) -> dict[str, JobRecord]:
        """Every job that ever ended."""
        ...

    async def note(self, lease: Lease, job: str, record: JobRecord) -> None:
        """Keep what became of a job; durable when this returns, LeaseLost if it is not ours."""
        ...
