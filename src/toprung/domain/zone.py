"""The wall clock of one IANA time zone, and how it maps onto real time.

Seconds since the Unix epoch are real time: they only grow. A *reading* is what the wall clock
shows, counted as if it were UTC. A *shift* is an instant at which the clock is moved: forward
(readings are skipped) or back (readings are repeated). Everything above needs just two maps:

* ``furthest(second)``: the greatest reading shown so far. It never decreases, not even while
  the clock repeats an hour, so dates taken from it never return.
* ``first(reading)``: the first second at which the clock shows that reading or a later one. A
  skipped reading maps to the shift that skipped it; a repeated one to its first showing.

They are each other's inverse in the sense that ``first(r) <= s`` exactly when
``r <= furthest(s)``; that alone makes slices of time cut with them meet without gap or overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from toprung.errors import Invalid

DAY = 86_400
"""Seconds of a day on which the clock is not moved."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (readings have no zone)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_STEP = 3 * DAY
_STRETCH = 64 * _STEP  # shifts are looked for, and remembered, half a year at a time
_LONGEST_SHIFT = 26 * 3_600  # UTC-12 to UTC+14: no clock was ever moved further

_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+_-]{0,31}(/[A-Za-z0-9+_-]{1,31}){0,2}")
# Files beside the zones that are no zones: leap-second variants and machine-dependent links.
_NOT_A_ZONE = re.compile(r"(posix|right)/.*|localtime|posixrules|Factory")


def parse_timezone(name: object) -> str:
    """The name itself, once it is known to be an IANA time zone.

    >>> parse_timezone("Europe/Berlin")
    'Europe/Berlin'
    """
    if not isinstance(name, str):
        raise Invalid("timezone", "must be the name of an IANA time zone, such as Europe/Berlin")
    _load(name)
    return name


def reading_of(moment: datetime) -> int:
    """A naive local datetime as a reading."""
    return (moment - _EPOCH) // timedelta(seconds=1)


def moment_of(reading: int) -> datetime:
    """A reading as a naive local datetime."""
    return _EPOCH + timedelta(seconds=reading)


class WallClock:
    """The wall clock of one zone; immutable."""

    __slots__ = ("_zone",)

    def __init__(self, timezone: str) -> None:
        self._zone = _load(timezone)

    def offset(self, second: int) -> int:
        """Seconds to add to real time for what the clock shows."""
        return _offset(self._zone, second)

    def furthest(self, second: int) -> int:
        """The greatest reading shown up to and including this second."""
        moment = (_EPOCH_UTC + timedelta(seconds=second)).astimezone(self._zone)
        if not moment.fold:
            return second + _seconds(moment.utcoffset())
        shift = self.last_shift(second - _LONGEST_SHIFT, second)
        assert shift is not None, "a reading repeats only after the clock was moved"
        return shift - 1 + self.offset(shift - 1)

    def first(self, reading: int) -> int:
        """The first second at which the clock shows this reading or a later one."""
        moment = moment_of(reading).replace(tzinfo=self._zone)
        before = reading - _seconds(moment.utcoffset())
        after = reading - _seconds(moment.replace(fold=1).utcoffset())
        if before <= after:
            return before
        shift = self.first_shift(after, before)
        assert shift is not None, "a reading is skipped only when the clock is moved"
        return shift

    def last_shift(self, after: int, upto: int) -> int | None:
        """The latest second in (after, upto] at which the clock is moved."""
        if after < upto:
            for stretch in range(_stretch(upto), _stretch(after + 1) - 1, -1):
                shifts = _shifts(self._zone, stretch)
                found = bisect_right(shifts, upto)
                if found:
                    return shifts[found - 1] if shifts[found - 1] > after else None
        return None

    def first_shift(self, after: int, upto: int) -> int | None:
        """The earliest second in (after, upto] at which the clock is moved."""
        if after < upto:
            for stretch in range(_stretch(after + 1), _stretch(upto) + 1):
                shifts = _shifts(self._zone, stretch)
                found = bisect_right(shifts, after)
                if found < len(shifts):
                    return shifts[found] if shifts[found] <= upto else None
        return None


def _stretch(second: int) -> int:
    """The number of the stretch that has the second; stretch n begins after n * _STRETCH."""
    return (second - 1) // _STRETCH


@lru_cache(maxsize=8192)
def _shifts(zone: ZoneInfo, stretch: int) -> tuple[int, ...]:
    """The seconds of a stretch at which the clock is moved, in order.

    The zone database does not tell them: offsets are compared at steps so short that no two
    shifts fit into one (since 1970 no zone moved its clock twice within six days).
    """
    found = []
    before = stretch * _STRETCH
    offset = _offset(zone, before)
    for after in range(before + _STEP, before + _STRETCH + 1, _STEP):
        if (later := _offset(zone, after)) != offset:
            found.append(_shift_between(zone, after - _STEP, after))
            offset = later
    return tuple(found)


def _shift_between(zone: ZoneInfo, before: int, after: int) -> int:
    """The one shift in (before, after]."""
    final = _offset(zone, after)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(zone, middle) == final:
            after = middle
        else:
            before = middle
    return after


def _offset(zone: ZoneInfo, second: int) -> int:
    return _seconds((_EPOCH_UTC + timedelta(seconds=second)).astimezone(zone).utcoffset())


@lru_cache(maxsize=1024)
def _load(name: str) -> ZoneInfo:
    if _ZONE_NAME.fullmatch(name) and not _NOT_A_ZONE.fullmatch(name):
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):  # KeyError: not found; OSError: a directory
            pass
    raise Invalid(
        "timezone", f"{name[:64]!r} is not an IANA time zone, such as UTC or Europe/Berlin"
    )


def _seconds(offset: timedelta | None) -> int:
    assert offset is not None, "a moment in a zone has an offset"
    return offset.days * DAY + offset.seconds
