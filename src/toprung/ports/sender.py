"""What carries effects out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from toprung.domain.effects import Attempt, StoredEffect


class Sender(Protocol):
    """Carries out effects of one kind."""

    async def send(self, stored: StoredEffect) -> Attempt:
        """Try it once; what became of it. Bounded in time and memory; it may be cancelled.

        An exception counts as a failure whose reason only the log is told.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


Senders: TypeAlias = Mapping[str, Sender]
"""By the kind of effect."""
