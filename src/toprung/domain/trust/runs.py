"""Runs: what a score may be signed with. Nothing is stored when one is started.

A run names the board (its generation), the player, when it was started, when it expires, and which
secret of the service vouches for it, under a MAC of that secret. The key that its score is signed
with is derived from the same secret and the run. So every process that has the secret can check
every run, and only a *use* has to be remembered: it is claimed like an idempotency key, in the
commit of the submission (`toprung.domain.commands.repeats`), and as long as those are.

As bytes: version 1, secret id 4, generation 8, player 8 (a hash: enough to tell somebody else's run
from a forged one), start 8, expiry 8, chance 8, MAC 16; as text: URL-safe base64 without padding.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import struct
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from toprung.domain.instant import SECOND, parse_instant
from toprung.domain.score import parse_score
from toprung.domain.trust.hkdf import expand, extract
from toprung.domain.trust.hmac_sha256 import hmac_sha256
from toprung.domain.trust.signing import (
    SignedScore,
    is_signature,
    score_message,
    score_signature,
)
from toprung.errors import (
    Invalid,
    RunExpired,
    RunMismatch,
    RunRequired,
    RunsUnavailable,
    RunTooShort,
    ToprungError,
    WrongSignature,
)

if TYPE_CHECKING:
    from toprung.domain.board import Board

NONCE_BYTES: Final = 8
SECRET_BYTES: Final = 32
_MAC_BYTES: Final = 16
_FIELDS: Final = struct.Struct(">B4sQ8sQQ8s")
_VERSION: Final = 1
_RUN: Final = re.compile(r"[A-Za-z0-9_-]{82}", re.ASCII)
_SIGNATURE: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")
_MAC_PURPOSE: Final = b"toprung run 1"
_KEY_PURPOSE: Final = b"toprung run key 1 "


class Run(msgspec.Struct, frozen=True):
    """A run that was started: what its score is sent with."""

    run: str
    """Sent with the score."""
    key: str
    """What the score is signed with, in hexadecimal digits; for the player's program alone."""
    expires: str
    """Until when the score counts, by the clock of the service."""

    def sign(
        self,
        board: str,
        player: str,
        score: object,
        *,
        decimals: int = 0,
        subscore: object = None,
        at: object = None,
        details: object = None,
    ) -> str:
        """The signature of a submission in this run; `decimals` are the board's.

        >>> run = Run("R", "00" * 32, "2026-11-15T13:00:00Z")
        >>> run.sign("blitz", "alice", 12.5, decimals=2)[:16]
        'fba9021506ec8bbb'
        """
        signed = SignedScore(
            board=board,
            player=player,
            score=parse_score(score, decimals),
            subscore=None if subscore is None else parse_score(subscore, 0, "subscore"),
            at=None if at is None else parse_instant(at),
            details=msgspec.UNSET if details is None else details,
            run=self.run,
        )
        return score_signature(bytes.fromhex(self.key), _message(signed))


class Secret(msgspec.Struct, frozen=True):
    """A secret of a service, from which runs and their keys are derived."""

    id: bytes
    """Four bytes that tell it from others."""
    value: bytes
    since: int
    """From when on new runs are of it; it is known before, so that all processes have read it."""


class StartedRun(msgspec.Struct, frozen=True):
    """What a run says, whether or not it is genuine."""

    text: str
    secret_id: bytes
    generation: int
    player_hash: bytes
    started_at: int
    expires_at: int
    fields: bytes
    """What the MAC is about, besides the player's id."""
    mac: bytes

    @property
    def id(self) -> str:
        """What its use is remembered by."""
        return _base64(self.mac)


class SecretRing:
    """The secrets that a service knows at a moment. It never changes: another one replaces it."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._secrets = sorted(secrets, key=lambda each: each.since)
        uniform = {each.id: extract(b"", each.value) for each in secrets}
        self._mac_keys = {each: expand(key, _MAC_PURPOSE) for each, key in uniform.items()}
        self._uniform = uniform
        """What the keys of runs are derived from."""

    def start(self, board: Board, player: str, now: int, nonce: bytes) -> tuple[str, bytes, int]:
        """A new run of a player: its text, its key, and when it expires."""
        current = [each for each in self._secrets if each.since <= now]
        if not current:
            raise RunsUnavailable
        secret = current[-1]
        expires_at = now + board.run_rule.max_seconds * SECOND
        fields = _FIELDS.pack(
            _VERSION,
            secret.id,
            board.generation,
            _player_hash(player),
            now,
            expires_at,
            nonce,
        )
        text = _base64(fields + _mac(self._mac_keys[secret.id], fields, player))
        return text, self._key(secret.id, text), expires_at

    def check(
        self, board: Board, run: StartedRun, signed: SignedScore, signature: str, now: int
    ) -> ToprungError | None:
        """Refuse a score whose run or signature is not right, at whatever time it comes.

        Returns why it does not count now, if it is too late or too early: a repeat of a score that
        came in time is answered all the same. None: it counts.
        """
        if run.generation != board.generation:
            raise RunMismatch("run", "was started on another board")
        if run.player_hash != _player_hash(signed.player):
            raise RunMismatch("run", "was started for another player")
        if run.secret_id not in self._uniform:
            return RunExpired("run", "is of a secret that is no longer in use: start another run")
        mac = _mac(self._mac_keys[run.secret_id], run.fields, signed.player)
        if not hmac.compare_digest(run.mac, mac):
            raise WrongSignature("run", "is not a run that this service has started")
        if not is_signature(signature, self._key(run.secret_id, run.text), _message(signed)):
            raise WrongSignature("signature", "does not fit this submission and this run")
        return _refusal_of_time(board, run, now)

    def _key(self, secret_id: bytes, run: str) -> bytes:
        return expand(self._uniform[secret_id], _KEY_PURPOSE + run.encode())


NO_SECRETS: Final = SecretRing(())


def parse_run(value: object) -> StartedRun:
    """A run as it was sent; whether it is genuine is another question.

    >>> parse_run("tic-tac-toe")
    Traceback (most recent call last):
    toprung.errors.Invalid: run: must be a run as it was started, of 82 characters
    """
    if not isinstance(value, str) or not _RUN.fullmatch(value):
        raise Invalid("run", "must be a run as it was started, of 82 characters")
    decoded = _decoded(value)
    fields, mac = decoded[:-_MAC_BYTES], decoded[-_MAC_BYTES:]
    version, secret_id, generation, player_hash, started_at, expires_at, _ = _FIELDS.unpack(fields)
    if version != _VERSION or _base64(decoded) != value:
        raise Invalid("run", "is of a form that this version of Toprung does not know")
    return StartedRun(
        value, secret_id, generation, player_hash, started_at, expires_at, fields, mac
    )


def parse_signature(value: object) -> str:
    """A signature as it was sent."""
    if not isinstance(value, str) or not _SIGNATURE.fullmatch(value):
        raise Invalid("signature", "must be 64 hexadecimal digits in lower case")
    return value


def parse_signed(run: object, signature: object) -> tuple[StartedRun, str]:
    """A run and the signature that belongs to it: neither is of use alone."""
    if run is None:
        raise Invalid("run", "is missing: a signature belongs to a run")
    if signature is None:
        raise Invalid("signature", "is missing: the score of a run is signed with the run's key")
    return parse_run(run), parse_signature(signature)


def require_run(trust: str | None, run: object, *, is_player: bool) -> None:
    """Refuse a player's own submission without a run, on a board whose rule `trust` is "signed".

    A key that allows `write` may submit without one: whoever has it is trusted anyway.

    >>> require_run("signed", None, is_player=False)
    >>> require_run("signed", None, is_player=True)
    Traceback (most recent call last):
    toprung.errors.RunRequired: run: is missing: this board takes scores from players with a run
    """
    if is_player and trust == "signed" and run is None:
        raise RunRequired("run", "is missing: this board takes scores from players with a run")


def _message(signed: SignedScore) -> bytes:
    try:
        return score_message(signed)
    except ValueError as error:
        raise Invalid("details", f"cannot be signed: {error}") from None


def _refusal_of_time(board: Board, run: StartedRun, now: int) -> ToprungError | None:
    rule = board.run_rule
    if now > min(run.expires_at, run.started_at + rule.max_seconds * SECOND):
        return RunExpired("run", "has expired: start another run")
    # Clocks of two processes differ a little: a run that begins later than now began just now.
    if now - run.started_at < rule.min_seconds * SECOND:
        least = rule.min_seconds
        return RunTooShort("run", f"was started less than {least} seconds ago, too short a time")
    return None


def _player_hash(player: str) -> bytes:
    return hashlib.sha256(player.encode()).digest()[:8]


def _mac(key: bytes, fields: bytes, player: str) -> bytes:
    return hmac_sha256(key, fields + player.encode())[:_MAC_BYTES]


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).rstrip(b"=").translate(_TO_URL).decode()


def _decoded(text: str) -> bytes:
    return a2b_base64(text.encode().translate(_FROM_URL) + b"==")
