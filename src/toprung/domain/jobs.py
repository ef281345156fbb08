"""Jobs: what has to be done at a time. When each is due, by a clock that may jump.

There are three kinds of schedules, because there are three kinds of promises:

* `Every` goes by the time that passes: at most once per interval, whatever a clock says.
* `Daily` goes by the time that events are recorded with (see `timekeeping`): once for every
  boundary, in order; one for which the job was done is not due again, should a clock come back.
* `Until` goes by the time that a job knows of, and looks for others now and then.

After downtime all are caught up with: `Every` and `Until` once, `Daily` once or for each boundary.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from toprung.domain.instant import DAY, SECOND

RETRY_SECONDS: Final = 60.0
"""After which a job that failed is tried again, or after its interval, if that is shorter."""


class JobRecord(msgspec.Struct, frozen=True):
    """How a job fared."""

    runs: int = 0
    """How often it was done."""
    mark: int = 0
    """The last scheduled time for which it was done (microseconds)."""
    ended_at: int = 0
    """When it ended last, done or not."""
    seconds: float = 0.0
    """How long that took."""
    result: str = ""
    """What it did, in a few words."""
    failures: int = 0
    """How often it has failed since it was last done."""
    fault: str | None = None
    """What went wrong, if it failed the last time."""


class Every(msgspec.Struct, frozen=True):
    """So many seconds after it was done last."""

    seconds: float

    def due_in(self, record: JobRecord | None, now: int, passed: int) -> int:  # noqa: ARG002
        """Microseconds until it is due, 0 or less if it is.

        `passed` is the time since it ended last, by a timer.

        >>> Every(60).due_in(JobRecord(runs=1), now=0, passed=59 * SECOND) == SECOND
        True
        """
        if record is None:
            return 0
        seconds = min(self.seconds, RETRY_SECONDS) if record.fault else self.seconds
        return int(seconds * SECOND) - passed

    def mark(self, record: JobRecord | None, now: int) -> int:  # noqa: ARG002
        """The scheduled time that it is done for: now."""
        return now


class Daily(msgspec.Struct, frozen=True):
    """When a day begins, in UTC."""

    is_each: bool = False
    """Whether it is done for every boundary that was missed, or only for the last one."""

    def due_in(self, record: JobRecord | None, now: int, passed: int) -> int:
        """Microseconds until it is due, 0 or less if it is.

        >>> done = JobRecord(runs=1, mark=3 * DAY)
        >>> [Daily().due_in(done, day * DAY, 0) // SECOND for day in (1, 2, 3, 4, 9)]
        [0, 172800, 86400, 0, 0]
        """
        if record is None:
            return 0
        waits = int(RETRY_SECONDS * SECOND) - passed if record.fault else 0
        if not record.runs or self._is_mistaken(record, now):
            return waits
        return max(record.mark + DAY - now, waits)

    def _is_mistaken(self, record: JobRecord, now: int) -> bool:
        """Whether it was done for a day far ahead, by a clock that was believed and came back."""
        return not self.is_each and record.mark > now + DAY

    def mark(self, record: JobRecord | None, now: int) -> int:
        """The boundary that it is done for, which is not after `now` unless it never was done.

        >>> done = JobRecord(runs=1, mark=3 * DAY)
        >>> Daily().mark(done, 9 * DAY + 5) // DAY, Daily(is_each=True).mark(done, 9 * DAY) // DAY
        (9, 4)
        """
        if record is None or not record.runs or not self.is_each:
            return now - now % DAY
        return record.mark + DAY


class Until(msgspec.Struct, frozen=True):
    """At a time that the job knows itself, and so many seconds after it was done last."""

    at: int | None
    seconds: float

    def due_in(self, record: JobRecord | None, now: int, passed: int) -> int:
        """Microseconds until it is due, 0 or less if it is.

        What was due before it was done last was done then, perhaps by another process.

        >>> done = JobRecord(runs=1, ended_at=50)
        >>> times = (None, 40, 100, 5 * SECOND)
        >>> [Until(at, 60).due_in(done, 100, SECOND) // SECOND for at in times]
        [59, 59, 0, 4]
        """
        waits = Every(self.seconds).due_in(record, now, passed)
        if self.at is None or (record is not None and (record.fault or record.ended_at >= self.at)):
            return waits
        return min(waits, self.at - now)

    def mark(self, record: JobRecord | None, now: int) -> int:  # noqa: ARG002
        """The scheduled time that it is done for: now."""
        return now


Schedule: TypeAlias = Every | Daily | Until
