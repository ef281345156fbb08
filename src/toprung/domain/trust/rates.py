"""Rates: how many submissions somebody may send, by the generic cell rate algorithm (GCRA).

One number is remembered of everybody: the moment at which all that was sent would have arrived if
it had come evenly (the *theoretical arrival time*). So many submissions may come at once as the
rule allows in its time; after that, one for each interval that passes. All of it is whole
microseconds, so that a process and a script of Redis come to the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from toprung.domain.instant import SECOND
from toprung.domain.values import bounded
from toprung.errors import Invalid

SUBMISSIONS_MAX: Final = 100_000
SECONDS_MAX: Final = 7 * 86_400


class Rate(msgspec.Struct, frozen=True):
    """So many submissions within so many seconds."""

    submissions: int
    seconds: int

    @property
    def interval(self) -> int:
        """Microseconds after which there is room for another one; rounded up.

        >>> Rate(3, 1).interval, Rate(10, 60).interval
        (333334, 6000000)
        """
        return -(-self.seconds * SECOND // self.submissions)

    @property
    def burst(self) -> int:
        """Microseconds by which somebody may be ahead of time."""
        return self.interval * self.submissions

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {"submissions": self.submissions, "seconds": self.seconds}


class Admitted(NamedTuple):
    """How many of some submissions may pass."""

    passed: int
    arrival: int
    """The theoretical arrival time from now on, in microseconds."""
    retry: int
    """Microseconds after which another one may pass; 0 if all of these did."""


def admit(rate: Rate, arrival: int, now: int, count: int) -> Admitted:
    """How many of `count` submissions may pass now, if the arrival time was `arrival`; 0: never.

    >>> rate = Rate(submissions=2, seconds=10)
    >>> first = admit(rate, 0, now=100_000_000, count=3)
    >>> first
    Admitted(passed=2, arrival=110000000, retry=5000000)
    >>> admit(rate, first.arrival, now=105_000_000, count=1)
    Admitted(passed=1, arrival=115000000, retry=0)
    """
    begin = max(arrival, now)
    room = (rate.burst - (begin - now)) // rate.interval
    passed = max(0, min(count, room))
    after = begin + passed * rate.interval
    if passed == count:
        return Admitted(passed, after, 0)
    return Admitted(passed, after, after + rate.interval - now - rate.burst)


def parse_rate(value: object, field: str) -> Rate | None:
    """A rate from its JSON form; None: there is no limit.

    >>> parse_rate({"submissions": 10, "seconds": 60}, "rate")
    Rate(submissions=10, seconds=60)
    >>> parse_rate({"submissions": 10}, "rate")
    Traceback (most recent call last):
    toprung.errors.Invalid: rate/seconds: must be a whole number from 1 to 604800
    """
    if value is None:
        return None
    members = require_members(value, ("submissions", "seconds"), field)
    return Rate(
        bounded(members.get("submissions"), SUBMISSIONS_MAX, f"{field}/submissions"),
        bounded(members.get("seconds"), SECONDS_MAX, f"{field}/seconds"),
    )


def require_members(value: object, names: tuple[str, ...], field: str) -> Mapping[str, object]:
    """An object that has no members but these."""
    known = ", ".join(names)
    if not isinstance(value, Mapping):
        raise Invalid(field, f"must be an object with {known}; or null")
    for member in value:
        if member not in names:
            name = str(member)[:64]
            raise Invalid(f"{field}/{name}", f"is not a member of {field}; they are {known}")
    return value
