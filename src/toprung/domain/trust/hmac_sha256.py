"""HMAC with SHA-256 (RFC 2104), for messages as short as ours.

The standard library's `hmac.digest` takes four times as long for a hundred bytes: most of that is
looking up the algorithm.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_BLOCK: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """The MAC of a message; what it is compared with goes through `hmac.compare_digest`.

    >>> hmac_sha256(b"Jefe", b"what do ya want for nothing?").hex()[:16]
    '5bdcc146bf60754e'
    """
    if len(key) > _BLOCK:
        key = sha256(key).digest()
    padded = key.ljust(_BLOCK, b"\0")
    inner = sha256(padded.translate(_INNER) + message).digest()
    return sha256(padded.translate(_OUTER) + inner).digest()
