"""Instants as tests write them."""

from datetime import UTC, datetime, timedelta


def utc(text: str) -> int:
    """Microseconds since the epoch of a UTC time such as 2026-11-15T12:30."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
