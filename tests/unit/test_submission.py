"""Submissions: validated against the board's rules and our clock."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from toprung.domain.board import Board
from toprung.domain.instant import parse_instant
from toprung.domain.submission import Submission, parse_submission
from toprung.errors import FutureSubmission, Invalid

NOW = parse_instant("2026-11-15T12:00:00Z")


def nested(levels: int) -> list[Any]:
    """Lists inside each other."""
    found: list[Any] = []
    for _ in range(levels - 1):
        found = [found]
    return found


def endless(times: int) -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found += [found] * times
    return found


def parse(rules: dict[str, Any] | None = None, **fields: Any) -> Submission:
    board = Board.parse("b", rules or {})
    player, score = fields.pop("player", "alice"), fields.pop("score", 5)
    return parse_submission(board, NOW, player, score, **fields)


def test_time_defaults_to_now_and_subscore_to_zero() -> None:
    assert parse() == Submission("alice", 5, NOW)
    assert parse({"subscore": "asc"}) == Submission("alice", 5, NOW, 0)


@pytest.mark.parametrize(
    ("rules", "fields", "field", "words"),
    [
        ({}, {"player": "a/b"}, "player", "must not contain"),
        ({}, {"score": "x"}, "score", "not a number"),
        ({"score_min": 6}, {}, "score", "at least 6"),
        ({"decimals": 1, "score_max": "0.4"}, {}, "score", "at most 0.4"),
        ({}, {"subscore": 1}, "subscore", "declares no subscore"),
        ({"subscore": "asc"}, {"subscore": 1.5}, "subscore", "decimals"),
        ({}, {"at": "2026-11-15T12:00:00"}, "at", "offset"),
        ({}, {"at": "yesterday"}, "at", "RFC 3339"),
        ({}, {"at": 1700000000}, "at", "must be a time"),
        ({}, {"at": "1969-12-31T23:59:59Z"}, "at", "1970"),
        ({}, {"details": {"x": "y" * 1024}}, "details", "at most 1024 bytes"),
        ({}, {"details": {"x": object()}}, "details", "JSON, which has no object"),
        ({}, {"details": {"x": math.nan}}, "details", "JSON, which has no nan"),
        ({}, {"details": [-math.inf]}, "details", "JSON, which has no -inf"),
        ({}, {"details": {1, 2}}, "details", "JSON, which has no set"),
        ({}, {"details": b"text"}, "details", "JSON, which has no bytes"),
        ({}, {"details": {"x": {1: 2}}}, "details", "JSON, which has no names of kind int"),
        ({}, {"details": {None: 2}}, "details", "JSON, which has no names of kind NoneType"),
        ({}, {"details": Decimal("1.5")}, "details", "JSON, which has no Decimal"),
        ({}, {"details": datetime(2026, 1, 1, tzinfo=UTC)}, "details", "has no datetime"),
        ({}, {"details": [2**63]}, "details", "integers fit 64 bits"),
        ({}, {"details": "\ud800"}, "details", "lone surrogate"),
        ({}, {"details": nested(65)}, "details", "at most 64 levels"),
        ({}, {"details": nested(100_000)}, "details", "at most 64 levels"),
        ({}, {"details": endless(1)}, "details", "at most 64 levels"),
        ({}, {"details": endless(9)}, "details", "at most 1024 bytes"),
        ({}, {"details": Raw(b'{"x": NaN}')}, "details", "must be JSON"),
        ({}, {"details": Raw(b"[1e400]")}, "details", "must be JSON"),
        ({}, {"details": Raw(b"[" * 100_000)}, "details", "at most 64 levels"),
        ({}, {"key": ""}, "key", "empty"),
        ({}, {"key": "k" * 129}, "key", "at most 128"),
        ({}, {"key": 7}, "key", "not a number"),
    ],
)
def test_bad_fields_are_refused_by_name(
    rules: dict[str, Any], fields: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse(rules, **fields)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "details", [None, True, -1.5, "é", [], {}, (1, 2), {"a": [{"b": None}]}, nested(64), 2**63 - 1]
)
def test_details_are_any_json(details: Any) -> None:
    kept = parse(details=details).details
    expected = list(details) if isinstance(details, tuple) else details
    assert kept is None if details is None else msgspec.json.decode(kept or b"") == expected


def test_a_minute_ahead_is_a_fast_clock_and_more_is_the_future() -> None:
    ahead = datetime(2026, 11, 15, 12, 1, tzinfo=UTC)
    assert parse(at=ahead).at == NOW
    assert parse(at=ahead - timedelta(minutes=2)).at == NOW - 60_000_000
    with pytest.raises(FutureSubmission, match="60 seconds"):
        parse(at=ahead + timedelta(microseconds=1))


def test_a_digest_tells_repeats_from_other_bodies() -> None:
    same = parse(key="k").digest
    assert same is not None
    assert parse(key="k").digest == same
    others: list[dict[str, Any]] = [
        {"score": 6},
        {"at": "2026-11-15T12:00:30Z"},  # taken as now, and another body all the same
        {"player": "bob"},
        {"at": "2026-11-15T12:00:00Z"},
        {"details": 1},
    ]
    assert len({same, *(parse(key="k", **other).digest for other in others)}) == 6
