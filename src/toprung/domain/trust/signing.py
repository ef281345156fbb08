"""What a score's signature is about: one message, byte for byte the same for every signer.

A message is a row of fields, each with its length before it (``5:alice``), so that no two rows of
fields make the same bytes. Its first field says what it is. Signer and service write scores as the
integers that a board stores: 12.5 on a board with two decimals is ``1250``.

This raises the cost of cheating and proves nothing: whoever controls the program that plays also
controls what it signs.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

import msgspec

from toprung.domain.trust.canonical_json import canonical_json
from toprung.domain.trust.hmac_sha256 import hmac_sha256

PURPOSE: Final = "toprung-score-1"
"""The first field: what is signed, and in which form."""


class SignedScore(msgspec.Struct, frozen=True, kw_only=True):
    """What a signature covers."""

    board: str
    player: str
    score: int
    """Scaled: as the board stores it."""
    subscore: int | None = None
    """As it was sent; None if it was not."""
    at: int | None = None
    """Microseconds since 1970, as it was sent; None if it was not."""
    details: object = msgspec.UNSET
    """JSON; UNSET if none were sent."""
    run: str


def score_message(signed: SignedScore) -> bytes:
    """The bytes that are signed; ValueError if details have no canonical form.

    >>> score_message(SignedScore(board="blitz", player="alice", score=1250, run="R"))
    b'15:toprung-score-15:blitz5:alice4:12500:0:0:1:R'
    """
    fields = (
        PURPOSE,
        signed.board,
        signed.player,
        str(signed.score),
        "" if signed.subscore is None else str(signed.subscore),
        "" if signed.at is None else str(signed.at),
        "" if signed.details is msgspec.UNSET else details_digest(signed.details),
        signed.run,
    )
    return "".join(map(_prefixed, fields)).encode()


def _prefixed(field: str) -> str:
    """A field with its length in bytes before it."""
    length = len(field) if field.isascii() else len(field.encode())
    return f"{length}:{field}"


def details_digest(details: object) -> str:
    """The SHA-256 of details in their canonical form, in hexadecimal digits.

    >>> details_digest({"b": 2, "a": 1.0}) == details_digest({"a": 1, "b": 2})
    True
    """
    return hashlib.sha256(canonical_json(details)).hexdigest()


def score_signature(key: bytes, message: bytes) -> str:
    """The signature of a message, in hexadecimal digits."""
    return hmac_sha256(key, message).hex()


def is_signature(text: str, key: bytes, message: bytes) -> bool:
    """Whether a text is the signature, in the same time whatever the answer."""
    return hmac.compare_digest(text.encode(), score_signature(key, message).encode())
