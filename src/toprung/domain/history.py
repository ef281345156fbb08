"""History: when the order of a board's ladders is kept, and for how long.

At each *boundary* (the beginning of an hour, day, week or month in the board's zone) a *snapshot*
keeps the order of every ladder of the periods that are open then. Nobody can tell a past order
later on: after downtime one snapshot is taken, of the order as it is then, under the name of the
newest boundary that has passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from toprung.domain.calendar import Calendar, Period, endless_periods
from toprung.domain.slicing import slicing
from toprung.domain.values import bounded, parse_choice
from toprung.domain.zone import WallClock
from toprung.errors import Invalid

Every = Literal["hour", "day", "week", "month"]

KEPT: Final = 90
"""Snapshots that are kept if the rule does not say how many."""
KEPT_MAX: Final = 1000

_KINDS: Final[dict[Every, str]] = {
    "day": "daily",
    "hour": "hourly",
    "week": "weekly",
    "month": "monthly",
}
"""The windows that begin at the same moments; the first is the default."""


class HistoryRule(msgspec.Struct, frozen=True):
    """How often a snapshot is taken, and how many are kept."""

    every: Every = "day"
    keep: int = KEPT

    @classmethod
    def parse(cls, value: object) -> HistoryRule | None:
        """The rule from its JSON form; None: there is no history.

        >>> HistoryRule.parse({"every": "hour"})
        HistoryRule(every='hour', keep=90)
        >>> HistoryRule.parse({"evry": "hour"})
        Traceback (most recent call last):
        toprung.errors.Invalid: history/evry: is not a member of history; they are every and keep
        """
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise Invalid("history", "must be an object with every and keep, or null")
        for member in value:
            if member not in ("every", "keep"):
                name = str(member)[:64]
                raise Invalid(
                    f"history/{name}", "is not a member of history; they are every and keep"
                )
        every = parse_choice(value.get("every", "day"), tuple(_KINDS), "history/every")
        keep = bounded(value.get("keep", KEPT), KEPT_MAX, "history/keep")
        return cls(every, keep)

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {"every": self.every, "keep": self.keep}


def boundary(rule: HistoryRule, timezone: str, now: int) -> Period:
    """The stretch of time from the newest boundary to the next one; its id names the snapshot.

    >>> from toprung.domain.instant import parse_instant
    >>> noon = parse_instant("2026-11-15T12:00:00Z", "now")
    >>> boundary(HistoryRule("day"), "America/New_York", noon).id
    '2026-11-15'
    >>> boundary(HistoryRule("hour"), "UTC", noon + 1).id
    '2026-11-15T1200Z'
    """
    found = _calendar(rule.every, timezone).period_at(now)
    assert found is not None, "time is sliced without gaps"
    return found


@lru_cache(maxsize=4096)
def _calendar(every: Every, timezone: str) -> Calendar:
    return endless_periods(slicing(_KINDS[every], WallClock(timezone)), 1)


def open_periods(windows: Sequence[tuple[str, Calendar]], now: int) -> list[tuple[str, str]]:
    """The (window, period) pairs that are open at a moment."""
    found = ((name, calendar.period_at(now)) for name, calendar in windows)
    return [(name, period.id) for name, period in found if period is not None]
