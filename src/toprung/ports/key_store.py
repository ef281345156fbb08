"""Where access keys are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from toprung.domain.access import AccessKey

EDITABLE: Final = frozenset({"name", "verbs", "boards", "expires_at", "addresses"})
"""The members of a key that can change."""


class KeyStore(Protocol):
    """Where access keys are kept. Whatever is changed is durable when the call returns."""

    async def add(self, key: AccessKey) -> None:
        """Keep a new key."""
        ...

    async def all(self) -> list[AccessKey]:
        """Every key."""
        ...

    async def edit(self, key_id: str, changes: Mapping[str, Any]) -> bool:
        """Change these members of a key, and no others; whether there is one.

        There is at least one of them, and all are `EDITABLE`.
        """
        ...

    async def rotate(self, new: AccessKey, old_id: str, ends_at: int) -> bool:
        """Keep a new key, and have the old one expire at a time, if it does not before: both.

        Whether there is the old one; without it, nothing is changed.
        """
        ...

    async def remove(self, key_id: str) -> bool:
        """Forget a key; whether there was one."""
        ...

    async def note_uses(self, used: Mapping[str, int]) -> None:
        """Record when keys were last used: id -> microseconds. Unknown ids are ignored."""
        ...
