"""Who signs the checkpoints of the audit log."""

from __future__ import annotations

from typing import Protocol

from toprung.domain.trust.notes import Verifier


class LogSigner(Protocol):
    """The log's key. It is made when it is first needed, and is in no database and no backup."""

    async def verifier(self) -> Verifier:
        """Its public part. MissingExtra, or Unavailable if the key cannot be read or made."""
        ...

    async def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of a message."""
        ...
