"""Microseconds since 1970, as histories have times, and datetimes, as the library has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def moment(at: int) -> datetime:
    """The datetime.

    >>> microsecond(moment(1794745800000001))
    1794745800000001
    """
    return _EPOCH + at * _MICROSECOND


def microsecond(moment: datetime) -> int:
    """The number."""
    return (moment - _EPOCH) // _MICROSECOND
