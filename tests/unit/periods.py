"""Periods as tests ask for them: one that must exist, and its two ends."""

from toprung.domain.calendar import Calendar, Period


def found(period: Period | None) -> Period:
    """The period, which must exist."""
    assert period is not None
    return period


def period_at(calendar: Calendar, at: int) -> Period:
    """The period that contains the instant."""
    return found(calendar.period_at(at))


def bounds(period: Period) -> tuple[int, int]:
    """When a bounded period opens and closes."""
    assert period.opens_at is not None
    assert period.closes_at is not None
    return period.opens_at, period.closes_at
