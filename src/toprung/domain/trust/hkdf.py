"""HKDF with SHA-256 (RFC 5869): keys for several purposes from one secret."""

from __future__ import annotations

from typing import Final

from toprung.domain.trust.hmac_sha256 import hmac_sha256

HASH_BYTES: Final = 32
LENGTH_MAX: Final = 255 * HASH_BYTES


def hkdf(secret: bytes, info: bytes, length: int = HASH_BYTES, salt: bytes = b"") -> bytes:
    """A key of `length` bytes for the purpose `info`.

    >>> hkdf(b"secret", b"one") != hkdf(b"secret", b"two"), len(hkdf(b"secret", b"", 50))
    (True, 50)
    """
    return expand(extract(salt, secret), info, length)


def extract(salt: bytes, secret: bytes) -> bytes:
    """A secret of any form as a uniform key; without a salt, zeros are one."""
    return hmac_sha256(salt or bytes(HASH_BYTES), secret)


def expand(uniform: bytes, info: bytes, length: int = HASH_BYTES) -> bytes:
    """A uniform key, made as long as is needed."""
    if not 0 < length <= LENGTH_MAX:
        raise ValueError(f"HKDF with SHA-256 gives 1 to {LENGTH_MAX} bytes")
    key, block = b"", b""
    for number in range(1, -(-length // HASH_BYTES) + 1):
        block = hmac_sha256(uniform, block + info + bytes((number,)))
        key += block
    return key[:length]
