"""Instants: integer microseconds since 1970 in UTC inside, RFC 3339 text or datetimes outside.

This is the only place where one becomes the other, but for the times in records that reads show:
the native core makes those (`toprung.service.view.reader_of`). Supported are the years 1970 to
8999: the calendars of `window` need some room at both ends of what a datetime can say.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from toprung.domain.values import kind_of
from toprung.errors import Invalid

SECOND = 1_000_000
"""Microseconds of a second."""

DAY = 86_400 * SECOND
"""Microseconds of 24 hours."""

EARLIEST = 0
"""The first supported instant."""

LATEST = int(datetime(9000, 1, 1, tzinfo=UTC).timestamp()) * SECOND
"""The first instant that is no longer supported."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Dates that do not exist are left to datetime; hour 24 and offset minutes over 59 are not,
# because some versions of it let them pass.
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,6})?"
    r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


def parse_instant(value: object, field: str = "at") -> int:
    """The instant that RFC 3339 text or an aware datetime names.

    >>> parse_instant("2026-11-15T12:30:00.5+01:00") == parse_instant("2026-11-15T11:30:00.500Z")
    True
    >>> parse_instant("2026-11-15 12:30", "starts")
    Traceback (most recent call last):
    toprung.errors.Invalid: starts: must be an RFC 3339 time with an offset from UTC, ...
    """
    if isinstance(value, str):
        value = _parse_text(value, field)
    if not isinstance(value, datetime):
        raise Invalid(
            field, f"must be a time, as RFC 3339 text or as a datetime, not {kind_of(value)}"
        )
    if value.utcoffset() is None:
        raise Invalid(field, "must have an offset from UTC; a naive datetime is ambiguous")
    try:
        return check_instant((value - _EPOCH) // _MICROSECOND, field)
    except OverflowError:  # the offset leads out of what a datetime can say
        return check_instant(-1, field)


def check_instant(instant: int, field: str = "at") -> int:
    """The instant, if it is supported."""
    if EARLIEST <= instant < LATEST:
        return instant
    raise Invalid(field, "must be between the years 1970 and 9000")


def instant_datetime(instant: int) -> datetime:
    """The instant as people's code sees it.

    >>> instant_datetime(1_500_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return _EPOCH + instant * _MICROSECOND


def instant_text(instant: int) -> str:
    """The instant as RFC 3339 text that `parse_instant` reads back.

    >>> instant_text(1_500_000), instant_text(2_000_000)
    ('1970-01-01T00:00:01.500000Z', '1970-01-01T00:00:02Z')
    """
    return f"{instant_datetime(instant).replace(tzinfo=None).isoformat()}Z"


def _parse_text(text: str, field: str) -> datetime:
    if _RFC_3339.fullmatch(text):
        try:
            return datetime.fromisoformat(text.upper())
        except ValueError:
            raise Invalid(field, f"is not a valid date or time: {text}") from None
    raise Invalid(
        field,
        "must be an RFC 3339 time with an offset from UTC, to the microsecond at most, such as "
        "2026-11-15T12:30:00Z",
    )
