"""Submissions: what a caller sent, validated against the board's rules."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from toprung.domain.calendar import AHEAD_MAX
from toprung.domain.details import encode_details
from toprung.domain.idempotency import NOBODY, owned_key
from toprung.domain.instant import parse_instant
from toprung.domain.player import check_text, parse_player
from toprung.domain.score import parse_score
from toprung.errors import FutureSubmission, Invalid

if TYPE_CHECKING:
    from toprung.domain.board import Board

KEY_BYTES_MAX = 128
MEMBERS = ("player", "score", "at", "subscore", "details", "key")


class Submission(msgspec.Struct, frozen=True, gc=False):
    """One result to be counted for one player."""

    player: str
    score: int
    at: int
    subscore: int | None = None
    details: bytes | None = None
    """JSON text, kept as it was given."""
    key: str | None = None
    """Its idempotency key, with the owner: see `owned_key`."""
    digest: bytes | None = None
    """What the caller sent, hashed: tells a repeat from another body under the same key."""


def parse_submission(  # noqa: PLR0913 -- what callers may send, and whose it is
    board: Board,
    now: int,
    player: object,
    score: object,
    *,
    at: object = None,
    subscore: object = None,
    details: object = None,
    key: object = None,
    owner: str = NOBODY,
) -> Submission:
    """A valid submission for `board`; `at` defaults to `now`, and `key` belongs to `owner`."""
    player_id = parse_player(player)
    exact = parse_score(score, board.decimals)
    if board.score_min is not None or board.score_max is not None:
        board.check_score(exact)
    if at is subscore is details is key is board.subscore is None:  # the hot case
        return Submission(player_id, exact, now)
    instant = None if at is None else parse_instant(at)
    if instant is not None and instant > now + AHEAD_MAX:
        raise FutureSubmission("at", "is more than 60 seconds in the future")
    second = _subscore(board, subscore)
    body = None if details is None else encode_details(details)
    return Submission(
        player=player_id,
        score=exact,
        at=now if instant is None else min(instant, now),
        subscore=second,
        details=body,
        key=None if key is None else owned_key(owner, check_text(key, KEY_BYTES_MAX, "key")),
        digest=None if key is None else _digest(player_id, exact, second, instant, body),
    )


def row_members(row: object) -> Mapping[str, Any]:
    """The members of a row of a batch, which is a pair of player and score, or an object.

    >>> row_members(("alice", 1500))
    {'player': 'alice', 'score': 1500}
    """
    if isinstance(row, tuple | list) and len(row) == 2:
        return {"player": row[0], "score": row[1]}
    if not isinstance(row, Mapping):
        raise Invalid("", "must be a pair of player and score, or an object")
    for name in row:
        if name not in MEMBERS:
            raise Invalid(str(name)[:64], "is not a member of a submission")
    for name in ("player", "score"):
        if name not in row:
            raise Invalid(name, "is missing")
    return row


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
