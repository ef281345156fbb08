"""The access keys of a service."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import UNSET, UnsetType

from toprung.client.decoding import access_key_of
from toprung.client.encoding import encode, path
from toprung.client.remote import RemoteFace
from toprung.client.transport import Request
from toprung.contract import KeyAnswer, KeysAnswer
from toprung.domain.access import (
    EVERY_BOARD,
    OVERLAP_SECONDS,
    VERBS,
    AccessKey,
    parse_addresses,
    parse_name,
    parse_overlap,
    parse_owner,
    parse_patterns,
    parse_verbs,
)
from toprung.domain.instant import instant_datetime, parse_instant
from toprung.faces import KeysMethods
from toprung.operations.variables import VARIABLES
from toprung.service.keys import key_changes

_ANY_TIME: Final = -1
"""Whether a key would expire in the future, the service's clock says."""


class Keys(KeysMethods, RemoteFace, runs="keys"):
    """The access keys of one service; they need a key that allows `admin`."""

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
        asked = {
            "name": parse_name(name),
            "verbs": parse_verbs(verbs),
            "boards": parse_patterns(boards),
            "owner": None if owner is None else parse_owner(owner),
            "expires_at": _time(expires_at),
            "addresses": parse_addresses(addresses),
        }
        request = Request(method="POST", path=path("keys"), body=encode(asked))
        made = await self._caller.call(request, KeyAnswer)
        return access_key_of(made), made.key or ""

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
        changes = dict(
            key_changes(
                _ANY_TIME,
                name=name,
                verbs=verbs,
                boards=boards,
                expires_at=expires_at,
                addresses=addresses,
            )
        )
        if changes.get("expires_at") is not None:
            changes["expires_at"] = instant_datetime(changes["expires_at"])
        place, body = path("keys", _id(key_id)), encode(changes)
        request = Request(method="PATCH", path=place, body=body, effect="idempotent")
        return access_key_of(await self._caller.call(request, KeyAnswer))

    async def rotate(
        self, key_id: str, overlap_seconds: int = OVERLAP_SECONDS
    ) -> tuple[AccessKey, str]:
        """Create a key that allows the same as this one, which expires after the overlap.

        The new key has the same owner, name, boards, verbs and addresses. If the old one was made
        to expire, the new one lives as long as that one was to, from now on.
        """
        body = encode({"overlap_seconds": parse_overlap(overlap_seconds)})
        place = path("keys", _id(key_id), "rotate")
        made = await self._caller.call(Request(method="POST", path=place, body=body), KeyAnswer)
        return access_key_of(made), made.key or ""

    async def all(self) -> list[AccessKey]:
        """Return all keys, oldest first."""
        request = Request(method="GET", path=path("keys"), effect="none")
        return [access_key_of(key) for key in (await self._caller.call(request, KeysAnswer)).keys]


def _id(key_id: str) -> str:
    return VARIABLES["key"].parse(key_id)


def _time(value: datetime | str | None) -> datetime | None:
    """When a key expires."""
    return None if value is None else instant_datetime(parse_instant(value, "expires_at"))
