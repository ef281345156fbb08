"""Records of jobs in one SQLite file."""

from __future__ import annotations

import msgspec

from toprung.domain.jobs import JobRecord
from toprung.journals.besides import Execute
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import JobStore, Lease


class SqliteJobs:
    """What one file knows of jobs."""

    def __init__(self, journal: SqliteJournal, store: SqliteStore) -> None:
        self._journal = journal
        self._store = store

    async def records(self) -> dict[str, JobRecord]:
        """Every job that ever ended."""
        rows = self._store.select("SELECT * FROM jobs")
        return {name: JobRecord(*record) for name, *record in rows}

    async def note(self, lease: Lease, job: str, record: JobRecord) -> None:  # noqa: ARG002
        """Keep what became of a job."""

        def write(execute: Execute) -> None:
            execute(
                "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (job, *msgspec.structs.astuple(record)),
            )

        await self._journal.write_beside(write)


_: type[JobStore] = SqliteJobs
