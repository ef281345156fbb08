"""Instants: exact both ways, strict about what names one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.instants import utc
from toprung.domain.instant import (
    EARLIEST,
    LATEST,
    check_instant,
    instant_datetime,
    instant_text,
    parse_instant,
)
from toprung.errors import Invalid

instants = st.integers(EARLIEST, LATEST - 1)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00"),
        ("2026-11-15T12:30:00Z", "2026-11-15T12:30"),
        ("2026-11-15t12:30:00z", "2026-11-15T12:30"),
        ("2026-11-15T12:30:00+00:00", "2026-11-15T12:30"),
        ("2026-11-15T12:30:00-00:00", "2026-11-15T12:30"),
        ("2026-11-15T12:30:00+05:45", "2026-11-15T06:45"),
        ("2026-11-15T12:30:00-03:30", "2026-11-15T16:00"),
        ("2026-11-15T23:59:59.9-23:59", "2026-11-16T23:58:59.900000"),
        ("2026-11-15T12:30:00.000001Z", "2026-11-15T12:30:00.000001"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00"),
        ("8999-12-31T23:59:59.999999Z", "8999-12-31T23:59:59.999999"),
    ],
)
def test_text_that_names_an_instant(text: str, at: str) -> None:
    assert parse_instant(text) == utc(at)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "RFC 3339"),
        ("now", "RFC 3339"),
        ("1794745800", "RFC 3339"),
        ("2026-11-15", "RFC 3339"),
        ("2026-11-15T12:30Z", "RFC 3339"),
        ("2026-11-15T12:30:00", "offset from UTC"),
        ("2026-11-15 12:30:00Z", "RFC 3339"),
        ("2026-11-15T12:30:00 Z", "RFC 3339"),
        ("2026-11-15T12:30:00Z\n", "RFC 3339"),
        ("2026-11-15T12:30:00+01", "RFC 3339"),
        ("2026-11-15T12:30:00+0100", "RFC 3339"),
        ("2026-11-15T12:30:00+01:60", "RFC 3339"),
        ("2026-11-15T12:30:00+24:00", "RFC 3339"),
        ("2026-11-15T12:30:00+01:00:00", "RFC 3339"),
        ("2026-11-15T12:30:00.Z", "RFC 3339"),
        ("2026-11-15T12:30:00,5Z", "RFC 3339"),
        ("2026-11-15T12:30:00.1234567Z", "microsecond at most"),
        ("2026-W46-7T12:30:00Z", "RFC 3339"),
        ("20261115T123000Z", "RFC 3339"),
        ("+2026-11-15T12:30:00Z", "RFC 3339"),
        ("٢٠٢٦-11-15T12:30:00Z", "RFC 3339"),
        ("2026-11-15T24:00:00Z", "RFC 3339"),
        ("2026-02-29T12:30:00Z", "not a valid date"),
        ("2026-13-01T12:30:00Z", "not a valid date"),
        ("2026-11-15T12:60:00Z", "not a valid date"),
        ("2026-11-15T12:30:60Z", "not a valid date"),
        ("0000-01-01T00:00:00Z", "not a valid date"),
        ("1969-12-31T23:59:59.999999Z", "1970"),
        ("1970-01-01T00:00:00+00:01", "1970"),
        ("0001-01-01T00:00:00+23:59", "1970"),
        ("9000-01-01T00:00:00Z", "9000"),
        ("9999-12-31T23:59:59-23:59", "9000"),
    ],
)
def test_text_that_names_none(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse_instant(text, "starts")
    assert caught.value.field == "starts"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1_794_745_800, "must be a time.* not a number"),
        (None, "not null"),
        (b"2026-11-15T12:30:00Z", "not bytes"),
        (timedelta(1), "not timedelta"),
        (datetime(2026, 11, 15).date(), "not date"),  # noqa: DTZ001
        (datetime(2026, 11, 15), "offset from UTC"),  # noqa: DTZ001
        (datetime(1969, 12, 31, tzinfo=UTC), "1970"),
        (datetime(9000, 1, 1, tzinfo=UTC), "9000"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=23))), "1970"),
    ],
)
def test_values_that_name_none(value: object, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse_instant(value)
    assert caught.value.field == "at"


def test_a_datetime_counts_by_its_own_offset() -> None:
    hour_ahead = datetime(2026, 11, 15, 13, 0, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
    assert parse_instant(hour_ahead) == utc("2026-11-15T12:00:00.123456")
    assert instant_datetime(parse_instant(hour_ahead)) == hour_ahead
    # 02:30 came twice in Berlin that night: at +02:00, and an hour later at +01:00.
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert parse_instant(first) == utc("2026-10-25T00:30")
    assert parse_instant(first.replace(fold=1)) == utc("2026-10-25T01:30")


@given(instants)
def test_every_instant_comes_back(instant: int) -> None:
    assert parse_instant(instant_text(instant)) == instant
    assert parse_instant(instant_datetime(instant)) == instant
    assert instant_datetime(instant).tzinfo is UTC
    assert check_instant(instant) == instant


@given(st.text(max_size=40) | st.text("0123456789-:TZ+.", max_size=32))
def test_any_text_is_an_instant_or_is_refused(text: str) -> None:
    try:
        instant = parse_instant(text)
    except Invalid:
        return
    assert EARLIEST <= instant < LATEST
