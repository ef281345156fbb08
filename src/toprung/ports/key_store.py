"""Where access keys are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from toprung.domain.access import AccessKey


class KeyStore(Protocol):
    """Where access keys are kept. What is added or removed is durable when the call returns."""

    async def add(self, key: AccessKey) -> None:
        """Keep a new key."""
        ...

    async def all(self) -> list[AccessKey]:
        """Every key."""
        ...

    async def remove(self, key_id: str) -> bool:
        """Forget a key; whether there was one."""
        ...

    async def note_uses(self, used: Mapping[str, int]) -> None:
        """Record when keys were last used: id -> microseconds. Unknown ids are ignored."""
        ...
