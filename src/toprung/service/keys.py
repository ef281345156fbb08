"""Access keys: made, found, revoked, and when each was last used."""

from __future__ import annotations

import base64
import secrets
from typing import Final

from toprung.domain.access import (
    EVERY_BOARD,
    VERBS,
    AccessKey,
    is_secret_of,
    key_text,
    parse_name,
    parse_owner,
    parse_patterns,
    parse_verbs,
    secret_digest,
    split_key,
)
from toprung.errors import Invalid, NotFound
from toprung.ports import Clock, KeyStore

KEYS_MAX: Final = 10_000
RELOAD_AFTER: Final = 5_000_000
"""Microseconds after which keys are read again: another process may have revoked one."""


class Keys:
    """The access keys of one database."""

    def __init__(self, store: KeyStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, AccessKey] = {}
        self._loaded_at: int | None = None
        self._used: dict[str, int] = {}

    async def create(
        self,
        name: str,
        verbs: tuple[str, ...] | list[str] = VERBS,
        boards: tuple[str, ...] | list[str] = (EVERY_BOARD,),
        owner: str | None = None,
    ) -> tuple[AccessKey, str]:
        """Create a key; return it with its text, which cannot be read again.

        Keys of one `owner` share their idempotency keys, so give a replacement key the same owner.
        The default owner is the key's own id.
        """
        await self._load()
        if len(self._known) >= KEYS_MAX:
            raise Invalid("", f"there are {KEYS_MAX} keys already; revoke some first")
        key_id = base64.b32encode(secrets.token_bytes(5)).decode().lower()
        secret = secrets.token_urlsafe(32)
        key = AccessKey(
            key_id,
            parse_name(name),
            key_id if owner is None else parse_owner(owner),
            parse_verbs(verbs),
            parse_patterns(boards),
            secret_digest(secret),
            self._clock.now(),
        )
        await self._store.add(key)
        self._known[key.id] = key
        return key, key_text(key_id, secret)

    async def all(self) -> list[AccessKey]:
        """Return all keys, oldest first."""
        await self.save_uses()
        await self._load()
        return sorted(self._known.values(), key=lambda key: (key.created_at, key.id))

    async def ids(self) -> set[str]:
        """The ids of all keys; those that another process revoked just now may be among them."""
        await self._refresh()
        return set(self._known)

    async def revoke(self, key_id: str) -> None:
        """Revoke a key, effective immediately."""
        removed = await self._store.remove(key_id)
        self._known.pop(key_id, None)
        if not removed:
            raise NotFound(f"there is no key {key_id!r}")

    async def find(self, text: str) -> AccessKey | None:
        """The key behind a text, if it is one and was not revoked; notes that it was used."""
        parts = split_key(text)
        if parts is None:
            return None
        now = await self._refresh()
        key = self._known.get(parts[0])
        if key is None or not is_secret_of(key, parts[1]):
            return None
        self._used[key.id] = now
        return key

    async def save_uses(self) -> None:
        """Record when keys were last used; called now and then, not at every use."""
        used, self._used = self._used, {}
        if not used:
            return
        try:
            await self._store.note_uses(used)
        except BaseException:
            self._used = used | self._used  # the next time may be better
            raise
        self._loaded_at = None

    async def _refresh(self) -> int:
        """Read the keys again if it is time; the time."""
        now = self._clock.now()
        if self._loaded_at is None or now - self._loaded_at > RELOAD_AFTER:
            await self._load()
        return now

    async def _load(self) -> None:
        self._known = {key.id: key for key in await self._store.all()}
        self._loaded_at = self._clock.now()
