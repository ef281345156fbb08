"""Access keys: made, found, changed, rotated, revoked, and when each was last used."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from toprung.domain.access import (
    EVERY_BOARD,
    OVERLAP_SECONDS,
    VERBS,
    AccessKey,
    is_secret_of,
    key_text,
    parse_addresses,
    parse_expiry,
    parse_name,
    parse_overlap,
    parse_owner,
    parse_patterns,
    parse_verbs,
    secret_digest,
    split_key,
)
from toprung.domain.instant import SECOND
from toprung.domain.trust.act import ActName
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
        *,
        expires_at: datetime | str | None = None,
        addresses: tuple[str, ...] | list[str] = (),
    ) -> tuple[AccessKey, str]:
        """Create a key; return it with its text, which cannot be read again.

        Keys of one `owner` share their idempotency keys, so give a replacement key the same owner.
        The default owner is the key's own id. The key can be used until `expires_at`, and only from
        the IP addresses and networks in `addresses`, if there are any.
        """
        await self._load()
        now = self._clock.now()
        key_id, secret = self._new_name()
        key = AccessKey(
            key_id,
            parse_name(name),
            key_id if owner is None else parse_owner(owner),
            parse_verbs(verbs),
            parse_patterns(boards),
            secret_digest(secret),
            now,
            expires_at=parse_expiry(expires_at, now),
            addresses=parse_addresses(addresses),
        )
        await self._note("key.create", key.id)
        await self._store.add(key)
        self._known[key.id] = key
        return key, key_text(key_id, secret)

    async def edit(
        self,
        key_id: str,
        *,
        name: str | UnsetType = UNSET,
        verbs: tuple[str, ...] | list[str] | UnsetType = UNSET,
        boards: tuple[str, ...] | list[str] | UnsetType = UNSET,
        expires_at: datetime | str | UnsetType | None = UNSET,
        addresses: tuple[str, ...] | list[str] | UnsetType = UNSET,
    ) -> AccessKey:
        """Change what a key is called, allows, and where and until when; the rest stays.

        `expires_at=None` and `addresses=[]` lift these limits. Its text stays the same.
        """
        changes = key_changes(
            self._clock.now(),
            name=name,
            verbs=verbs,
            boards=boards,
            expires_at=expires_at,
            addresses=addresses,
        )
        await self._one(key_id)
        if changes:
            await self._note("key.edit", key_id)
        if changes and not await self._store.edit(key_id, changes):
            raise _unknown(key_id)
        return await self._one(key_id)

    async def rotate(
        self, key_id: str, overlap_seconds: int = OVERLAP_SECONDS
    ) -> tuple[AccessKey, str]:
        """Create a key that allows the same as this one, which expires after the overlap.

        The new key has the same owner, name, boards, verbs and addresses. If the old one was made
        to expire, the new one lives as long as that one was to, from now on.
        """
        overlap = parse_overlap(overlap_seconds)
        old, now = await self._one(key_id), self._clock.now()
        new_id, secret = self._new_name()
        life = None if old.expires_at is None else max(old.expires_at - old.created_at, SECOND)
        new = msgspec.structs.replace(
            old,
            id=new_id,
            digest=secret_digest(secret),
            created_at=now,
            last_used_at=None,
            expires_at=None if life is None else now + life,
        )
        await self._note("key.rotate", key_id)
        if not await self._store.rotate(new, key_id, now + overlap * SECOND):
            raise _unknown(key_id)
        await self._load()
        return new, key_text(new_id, secret)

    async def all(self) -> list[AccessKey]:
        """Return all keys, oldest first."""
        await self.save_uses()
        await self._load()
        return sorted(self._known.values(), key=lambda key: (key.created_at, key.id))

    async def valid(self) -> dict[str, AccessKey]:
        """The keys that can be used, by id; what another process changed just now may be new."""
        now = await self._refresh()
        return {key.id: key for key in self._known.values() if not key.is_expired(now)}

    async def revoke(self, key_id: str) -> None:
        """Revoke a key, effective immediately."""
        await self._load()
        if key_id in self._known:
            await self._note("key.revoke", key_id)
        removed = await self._store.remove(key_id)
        self._known.pop(key_id, None)
        if not removed:
            raise _unknown(key_id)

    async def find(self, text: str) -> AccessKey | None:
        """The key behind a text, if it is one and was not revoked; it may have expired.

        Whoever lets somebody in with it says so: see `note_use`.
        """
        parts = split_key(text)
        if parts is None:
            return None
        await self._refresh()
        key = self._known.get(parts[0])
        return None if key is None or not is_secret_of(key, parts[1]) else key

    def is_expired(self, key: AccessKey) -> bool:
        """Whether a key is not valid any more."""
        return key.is_expired(self._clock.now())

    def note_use(self, key: AccessKey) -> None:
        """A key was used just now."""
        self._used[key.id] = self._clock.now()

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

    def _new_name(self) -> tuple[str, str]:
        """The id and the secret of a key to be, if there is room for one."""
        if len(self._known) >= KEYS_MAX:
            raise Invalid("", f"there are {KEYS_MAX} keys already; revoke some first")
        key_id = base64.b32encode(secrets.token_bytes(5)).decode().lower()
        return key_id, secrets.token_urlsafe(32)

    async def _one(self, key_id: str) -> AccessKey:
        await self._load()
        found = self._known.get(key_id)
        if found is None:
            raise _unknown(key_id)
        return found

    async def _note(self, name: ActName, subject: str) -> None:
        """Record an act before it happens: nothing happens without a trace."""

    async def _refresh(self) -> int:
        """Read the keys again if it is time; the time."""
        now = self._clock.now()
        if self._loaded_at is None or now - self._loaded_at > RELOAD_AFTER:
            await self._load()
        return now

    async def _load(self) -> None:
        self._known = {key.id: key for key in await self._store.all()}
        self._loaded_at = self._clock.now()


def key_changes(now: int, **asked: Any) -> Mapping[str, Any]:
    """What is changed of a key, checked; what was not said is left out."""
    parse = {
        "name": parse_name,
        "verbs": parse_verbs,
        "boards": parse_patterns,
        "expires_at": lambda value: parse_expiry(value, now),
        "addresses": parse_addresses,
    }
    return {name: parse[name](value) for name, value in asked.items() if value is not UNSET}


def _unknown(key_id: str) -> NotFound:
    return NotFound(f"there is no key {key_id!r}")
