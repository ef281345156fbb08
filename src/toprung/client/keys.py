"""The access keys of a service."""

from __future__ import annotations

from toprung.client.decoding import access_key_of
from toprung.client.encoding import encode, path
from toprung.client.remote import RemoteFace
from toprung.client.transport import Request
from toprung.contract import KeyAnswer, KeysAnswer
from toprung.domain.access import (
    EVERY_BOARD,
    VERBS,
    AccessKey,
    parse_name,
    parse_owner,
    parse_patterns,
    parse_verbs,
)
from toprung.faces import KeysMethods


class Keys(KeysMethods, RemoteFace, runs="keys"):
    """The access keys of one service; they need a key that allows `admin`."""

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
        asked = {
            "name": parse_name(name),
            "verbs": parse_verbs(verbs),
            "boards": parse_patterns(boards),
            "owner": None if owner is None else parse_owner(owner),
        }
        request = Request(method="POST", path=path("keys"), body=encode(asked))
        made = await self._caller.call(request, KeyAnswer)
        return access_key_of(made), made.key or ""

    async def all(self) -> list[AccessKey]:
        """Return all keys, oldest first."""
        request = Request(method="GET", path=path("keys"), effect="none")
        return [access_key_of(key) for key in (await self._caller.call(request, KeysAnswer)).keys]
