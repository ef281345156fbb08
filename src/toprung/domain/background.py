"""What people are shown of what runs in the background, and what of it needs their attention.

These structs are what the library returns and what the HTTP interface answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from toprung.domain.player import check_text

FollowerWord: TypeAlias = Literal["following", "behind", "held", "stopped"]
JobWord: TypeAlias = Literal["waiting", "due", "overdue", "failing"]

OVERDUE_SECONDS: Final = 300.0
"""After which a job that is due and was not done is overdue."""

FAILURES_MAX: Final = 3
"""Failures one after the other that need attention: before, a server may just have been away."""


FOLLOWER_BYTES_MAX: Final = 128


def parse_follower(name: object) -> str:
    """The name of a follower, if there can be one with it."""
    return check_text(name, FOLLOWER_BYTES_MAX, "follower")


class FollowerStatus(msgspec.Struct, frozen=True):
    """How a follower of the journal fares."""

    name: str
    state: FollowerWord
    """`following` at the end of the journal, `behind` it, `held` because it must wait, or
    `stopped` by an event that it cannot take."""
    position: int
    """All events up to it are accounted for."""
    lag_events: int
    """Positions between it and the last one that can be read."""
    lag_seconds: float
    """The age of the first event after its position; 0 if there is none."""
    fault: str | None = None
    """Why it is held or stopped."""


class EffectsStatus(msgspec.Struct, frozen=True):
    """The effects of one target that are not done with."""

    target: str
    waiting: int
    """To be sent, for the first time or once more."""
    dead: int
    """Given up after the last attempt; they stay until they are sent again, or pruned."""
    oldest_seconds: float
    """The age of the oldest that waits; 0 if none does."""


class JobStatus(msgspec.Struct, frozen=True):
    """How a job fares."""

    name: str
    state: JobWord
    """`waiting` for its time, `due`, `overdue`, or `failing`: tried again until it is done."""
    runs: int
    """How often it was done."""
    failures: int
    """How often it has failed since it was last done."""
    last_at: datetime | None
    """When it ended last, done or not; null if it never did."""
    last_seconds: float
    """How long that took."""
    next_at: datetime
    """When it is due."""
    result: str = ""
    """What it did the last time it was done."""
    fault: str | None = None
    """What went wrong, if it failed the last time."""


class LeaseStatus(msgspec.Struct, frozen=True):
    """Which process has a duty."""

    duty: str
    """`followers`, `effects` or `jobs`."""
    holder: str
    """The process, by its host and id."""
    token: int
    """Grows whenever the duty changes hands."""
    left_seconds: float | None
    """Until it ends, unless it is renewed; null if no other process can have it."""


class BackgroundStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How everything fares that runs in the background."""

    at: datetime
    """Now."""
    followers: list[FollowerStatus]
    effects: list[EffectsStatus]
    """Per target that has any waiting or dead."""
    jobs: list[JobStatus]
    leases: list[LeaseStatus]
    """Per duty that a process holds at the moment."""
    faults: list[str]
    """What needs attention, a sentence each; empty if all is well."""


def faults_of(
    followers: Iterable[FollowerStatus], jobs: Iterable[JobStatus], unattended: Sequence[str]
) -> list[str]:
    """What needs attention: what has stopped, fails or is overdue, and duties that nobody has.

    Not what others have to put right: a receiver that is away has effects wait, and its follower
    is held; dead effects are shown and counted.

    >>> stopped = FollowerStatus("activity", "stopped", 5, 2, 1.5, "event 6: KeyError: 7")
    >>> faults_of([stopped], [], ["jobs"])
    ['follower activity has stopped: event 6: KeyError: 7', 'no process is doing jobs']
    """
    found = [
        f"follower {each.name} has stopped: {each.fault}"
        for each in followers
        if each.state == "stopped"
    ]
    for job in jobs:
        if _keeps_failing(job):
            found.append(f"job {job.name} fails ({job.failures} times): {job.fault}")
        elif job.state == "overdue":
            found.append(f"job {job.name} is overdue")
    if unattended:
        found.append(_nobody(unattended))
    return found


def public_faults_of(
    stopped: Iterable[str], jobs: Sequence[JobStatus], unattended: Sequence[str]
) -> list[str]:
    """The same for strangers: without reasons, and without the ids of webhooks.

    >>> public_faults_of(["webhook:9f2c", "webhook:1a2b"], [], ["jobs"])
    ['follower webhook has stopped', 'no process is doing jobs']
    """
    found = [f"follower {name} has stopped" for name in sorted({family(name) for name in stopped})]
    found += [f"job {job.name} fails" for job in jobs if _keeps_failing(job)]
    found += [f"job {job.name} is overdue" for job in jobs if job.state == "overdue"]
    if unattended:
        found.append(_nobody(unattended))
    return found


def _nobody(unattended: Sequence[str]) -> str:
    return f"no process is doing {' and '.join(unattended)}"


def _keeps_failing(job: JobStatus) -> bool:
    return job.state == "failing" and job.failures >= FAILURES_MAX


def family(name: str) -> str:
    """What followers or targets that come and go have in common: those of webhooks are `webhook`.

    >>> family("webhook:9f2c"), family("activity")
    ('webhook', 'activity')
    """
    return name.partition(":")[0]
