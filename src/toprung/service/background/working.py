"""Jobs: what happens because it is time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from toprung.domain.background import OVERDUE_SECONDS, JobStatus, JobWord
from toprung.domain.instant import SECOND, instant_datetime
from toprung.domain.jobs import JobRecord, Schedule
from toprung.domain.timekeeping import Moment
from toprung.errors import LeaseLost, ToprungError
from toprung.ports import Clock, JobStore, Lease

RUNS_MAX: Final = 100
"""Boundaries that one step catches up with, for a job that is done for each."""

_log = logging.getLogger("toprung")


class Job(Protocol):
    """Something that is done at a time, by one process at a time."""

    @property
    def name(self) -> str:
        """What it is called in records and by people."""
        ...

    @property
    def schedule(self) -> Schedule:
        """When it is due."""
        ...

    async def run(self, lease: Lease, mark: int) -> str:
        """Do it; what was done, in a few words.

        It may be cut short, and done again for the same `mark` (the scheduled time), so doing it
        twice must be harmless. What it writes into the truth is fenced by the lease.
        """
        ...


class Working:
    """The duty that does jobs."""

    name = "jobs"

    def __init__(
        self,
        store: JobStore,
        jobs: Sequence[Job],
        clock: Clock,
        moment: Callable[[], Moment],
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._clock = clock
        self._moment = moment
        self._seen: dict[str, tuple[JobRecord, int]] = {}
        """By job: the record, and when (elapsed microseconds) the job ended."""
        self._since = clock.elapsed()
        """Since when this process would have done jobs that never were."""

    async def step(self, lease: Lease) -> float:
        """Do what is due; in how many seconds something else is."""
        records = await self._store.records()
        for job in self._jobs:
            for _ in range(RUNS_MAX):
                if self._due_in(job, records.get(job.name)) > 0:
                    break
                records[job.name] = await self._run(lease, job, records.get(job.name))
        waits = [self._due_in(job, records.get(job.name)) for job in self._jobs]
        return max(0, min(waits, default=0)) / SECOND

    async def status(self) -> list[JobStatus]:
        """How all of them fare."""
        records = await self._store.records()
        return [self._status(job, records.get(job.name)) for job in self._jobs]

    def _status(self, job: Job, record: JobRecord | None) -> JobStatus:
        due_in = self._due_in(job, record)
        if record is None:
            due_in = min(due_in, self._since - self._clock.elapsed())
        known = record or JobRecord()
        state: JobWord = "waiting" if due_in > 0 else "due"
        if known.fault is not None:
            state = "failing"
        elif due_in < -OVERDUE_SECONDS * SECOND:
            state = "overdue"
        return JobStatus(
            job.name,
            state,
            known.runs,
            known.failures,
            None if record is None else instant_datetime(record.ended_at),
            known.seconds,
            instant_datetime(self._moment().expected + due_in),
            known.result,
            known.fault,
        )

    def _due_in(self, job: Job, record: JobRecord | None) -> int:
        """Microseconds until a job is due.

        The time that passed since it was done is measured from where this process learned of it. Of
        what was done before, by others or before a start, a clock tells; one that is behind tells
        that it was just now.
        """
        now, elapsed = self._moment().recorded_at, self._clock.elapsed()
        if record is None:
            return job.schedule.due_in(None, now, 0)
        seen = self._seen.get(job.name)
        if seen is None or seen[0] != record:
            ago = max(0, now - record.ended_at)
            seen = self._seen[job.name] = (record, elapsed - ago)
        return job.schedule.due_in(record, now, elapsed - seen[1])

    async def _run(self, lease: Lease, job: Job, before: JobRecord | None) -> JobRecord:
        moment = self._moment()
        mark = job.schedule.mark(before, moment.recorded_at)
        known = before or JobRecord()
        result, fault = known.result, None
        try:
            result = await job.run(lease, mark)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 -- the other jobs must be done
            trace = None if isinstance(error, ToprungError) else error
            _log.warning("job %r failed and is tried again: %r", job.name, error, exc_info=trace)
            fault = str(error) if isinstance(error, ToprungError) else "internal error; see the log"
        ended = self._moment()
        record = JobRecord(
            runs=known.runs + (fault is None),
            mark=known.mark if fault is not None else mark,
            ended_at=ended.recorded_at,
            seconds=(ended.elapsed - moment.elapsed) / SECOND,
            result=result,
            failures=0 if fault is None else known.failures + 1,
            fault=fault,
        )
        await self._store.note(lease, job.name, record)
        self._seen[job.name] = (record, ended.elapsed)
        return record
