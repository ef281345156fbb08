"""Submissions: what a caller sent, validated against the board's rules."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from toprung.domain.player import check_text, parse_player
from toprung.domain.score import parse_score
from toprung.errors import FutureSubmission, Invalid

if TYPE_CHECKING:
    from toprung.domain.board import Board

AHEAD_MAX = 60_000_000
"""How far (microseconds) a submission's `at` may run ahead of our clock."""

DETAILS_BYTES_MAX = 1024
KEY_BYTES_MAX = 128

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Submission(msgspec.Struct, frozen=True, gc=False):
    """One result to be counted for one player."""

    player: str
    score: int
    at: int
    subscore: int | None = None
    details: bytes | None = None
    """JSON text, kept as it was given."""
    key: str | None = None
    digest: bytes | None = None
    """What the caller sent, hashed: tells a repeat from another body under the same key."""


def parse_submission(
    board: Board,
    now: int,
    player: object,
    score: object,
    *,
    at: object = None,
    subscore: object = None,
    details: object = None,
    key: object = None,
) -> Submission:
    """A valid submission for `board`; `at` defaults to `now`."""
    player_id = parse_player(player)
    exact = parse_score(score, board.decimals)
    if board.score_min is not None or board.score_max is not None:
        board.check_score(exact)
    if at is subscore is details is key is board.subscore is None:  # the hot case
        return Submission(player_id, exact, now)
    instant = None if at is None else parse_instant(at)
    if instant is not None and instant > now + AHEAD_MAX:
        raise FutureSubmission("at", "lies more than 60 seconds in the future")
    second = _subscore(board, subscore)
    body = None if details is None else encode_details(details)
    return Submission(
        player=player_id,
        score=exact,
        at=now if instant is None else instant,
        subscore=second,
        details=body,
        key=None if key is None else check_text(key, KEY_BYTES_MAX, "key"),
        digest=None if key is None else _digest(player_id, exact, second, instant, body),
    )


def parse_instant(value: object, field: str = "at") -> int:
    """Microseconds since 1970 of an aware datetime or RFC 3339 text.

    >>> parse_instant("2026-11-15T12:30:00.5+01:00") == parse_instant("2026-11-15T11:30:00.500Z")
    True
    """
    if isinstance(value, str):
        try:
            value = msgspec.convert(value, datetime)
        except msgspec.ValidationError:
            raise Invalid(field, "must be an RFC 3339 time such as 2026-11-15T12:30:00Z") from None
    if not isinstance(value, datetime):
        raise Invalid(field, "must be a time with its offset from UTC")
    if value.tzinfo is None or value.utcoffset() is None:
        raise Invalid(field, "must say its offset from UTC")
    try:
        micros = (value - _EPOCH) // _MICROSECOND
    except OverflowError:
        micros = -1
    if micros < 0:
        raise Invalid(field, "must not be before 1970")
    return micros


def instant_datetime(micros: int) -> datetime:
    """The moment as people's code sees it.

    >>> instant_datetime(1_500_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return _EPOCH + timedelta(0, 0, micros)


def encode_details(details: object) -> bytes:
    """Details as JSON text, within their bound."""
    try:
        text = msgspec.json.encode(details)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise Invalid("details", f"cannot be written as JSON: {error}") from None
    if len(text) > DETAILS_BYTES_MAX:
        raise Invalid("details", f"must have at most {DETAILS_BYTES_MAX} bytes as JSON")
    return text


def _subscore(board: Board, subscore: object) -> int | None:
    if board.subscore is None:
        if subscore is not None:
            raise Invalid("subscore", f"board {board.id!r} declares no subscore")
        return None
    if subscore is None:
        return 0
    return parse_score(subscore, 0, "subscore")


def _digest(*parts: object) -> bytes:
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).digest()
