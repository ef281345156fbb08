"""Submissions: what a caller sent, validated against the board's rules."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from toprung.domain.calendar import AHEAD_MAX
from toprung.domain.details import encode_details
from toprung.domain.idempotency import NOBODY, claimed, owned_key
from toprung.domain.instant import parse_instant
from toprung.domain.player import check_text, parse_player
from toprung.domain.score import parse_score
from toprung.domain.trust.runs import NO_SECRETS, SecretRing, StartedRun, parse_signed
from toprung.domain.trust.signing import SignedScore
from toprung.errors import FutureSubmission, Invalid, ToprungError

if TYPE_CHECKING:
    from toprung.domain.board import Board

KEY_BYTES_MAX = 128
MEMBERS = ("player", "score", "at", "subscore", "details", "key", "run", "signature")


class Submission(msgspec.Struct, frozen=True, gc=False):
    """One result to be counted for one player."""

    player: str
    score: int
    at: int
    subscore: int | None = None
    details: bytes | None = None
    """JSON text, kept as it was given."""
    key: str | None = None
    """What it claims: its idempotency key, with the owner, and its run. See `claimed`."""
    digest: bytes | None = None
    """What the caller sent, hashed: tells a repeat from another body under the same key."""
    refusal: ToprungError | None = None
    """Why it does not count, unless it is a repeat: its run has expired, or just begun."""


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
    run: object = None,
    signature: object = None,
    owner: str = NOBODY,
    secrets: SecretRing = NO_SECRETS,
) -> Submission:
    """A valid submission for `board`; `at` defaults to `now`, and `key` belongs to `owner`.

    Its run is checked by `secrets`. If it has expired, that is noted: a repeat is answered first.
    """
    player_id = parse_player(player)
    exact = parse_score(score, board.decimals)
    if board.score_min is not None or board.score_max is not None:
        board.check_score(exact)
    if at is subscore is details is key is run is signature is board.subscore is None:  # often
        return Submission(player_id, exact, now)
    instant = None if at is None else parse_instant(at)
    if instant is not None and instant > now + AHEAD_MAX:
        raise FutureSubmission("at", "is more than 60 seconds in the future")
    second = _subscore(board, subscore)
    body = None if details is None else encode_details(details)
    owned = None if key is None else owned_key(owner, check_text(key, KEY_BYTES_MAX, "key"))
    run_id, refusal = None, None
    if not run is signature is None:
        started, signed_by = parse_signed(run, signature)
        sent = (player_id, exact, None if subscore is None else second, instant, body)
        run_id = started.id
        refusal = secrets.check(board, started, _signed(board, started, *sent), signed_by, now)
    has_claim = owned is not None or run_id is not None
    return Submission(
        player=player_id,
        score=exact,
        at=now if instant is None else min(instant, now),
        subscore=second,
        details=body,
        key=claimed(run_id, owned),
        digest=_digest(player_id, exact, second, instant, body) if has_claim else None,
        refusal=refusal,
    )


def _signed(
    board: Board,
    run: StartedRun,
    player: str,
    score: int,
    subscore: int | None,
    at: int | None,
    details: bytes | None,
) -> SignedScore:
    """What the signature of a submission has to cover."""
    return SignedScore(
        board=board.id,
        player=player,
        score=score,
        subscore=subscore,
        at=at,
        details=msgspec.UNSET if details is None else msgspec.json.decode(details),
        run=run.text,
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
