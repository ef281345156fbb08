"""When jobs were done, in PostgreSQL."""

from __future__ import annotations

from toprung.domain.jobs import JobRecord
from toprung.journals.postgres_leases import PostgresLeases
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.ports import JobStore, Lease


class PostgresJobs:
    """What is known of jobs, by name."""

    def __init__(self, store: PostgresStore, leases: PostgresLeases) -> None:
        self._store = store
        self._leases = leases

    async def records(self) -> dict[str, JobRecord]:
        """Every job that ever ended."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT name, runs, mark, ended_at, seconds, result, failures, fault FROM jobs"
            )
        return {name: JobRecord(*rest) for name, *rest in rows}

    async def note(self, lease: Lease, job: str, record: JobRecord) -> None:
        """Keep what became of a job."""
        async with self._leases.fenced(lease) as connection:
            await connection.execute(
                statement("note_job"),
                job,
                record.runs,
                record.mark,
                record.ended_at,
                record.seconds,
                record.result,
                record.failures,
                record.fault,
            )


_: type[JobStore] = PostgresJobs
