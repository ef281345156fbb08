"""Who may do what, by the access table: what operations declare is enforced here only.

A service on a loopback address asks for no keys: it trusts whoever is on this machine, and makes
sure that a web page open in a browser there is not trusted: it insists on a loopback `Host` (a page
that tricks the name system sends its own), on a JSON content type for writes (a page may not send
one to another origin without asking first, and asking is refused) and on writes whose `Origin`, if
any, is its own or was named. A proxy on this machine would make everybody a user of it, so what a
proxy says that it has forwarded is refused.
Everywhere else each request needs a key, except that anybody may read what public boards show:
standings, but no details, submissions or friends; and that a player with a token may read these of
itself, and submit where the board says so (`own`). Where no keys are asked for, who shows a token
is held to it all the same: so what players will be told can be tried.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toprung.domain.webhooks import may_manage
from toprung.http.answers import Headers
from toprung.http.call import Call, actor_of
from toprung.http.cors import Cors
from toprung.http.limits import RateLimit, caller_of
from toprung.http.own import (
    is_shadowed,
    owns_all,
    owns_friends,
    owns_parts,
    refusal_of,
    token_allows,
)
from toprung.http.problems import Refused
from toprung.http.settings import ServiceSettings
from toprung.http.tokens.verifying import KeysMissing, TokenRefused, Tokens, is_token

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.domain.trust.actor import Actor
    from toprung.domain.trust.tokens import PlayerToken
    from toprung.http.live.messages import Subscribe
    from toprung.http.state import ServiceState
    from toprung.service.keys import Keys

HOSTS_MAX: Final = 64
CHALLENGE: Final[Headers] = ((b"www-authenticate", b'Bearer realm="toprung"'),)
BAD_TOKEN: Final[Headers] = (
    (b"www-authenticate", b'Bearer realm="toprung", error="invalid_token"'),
)

Client = tuple[str, int] | None
"""The network address of a caller, where it is known."""

_FORWARDING: Final = frozenset(
    {
        b"cf-connecting-ip",
        b"fastly-client-ip",
        b"forwarded",
        b"true-client-ip",
        b"via",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-proto",
        b"x-forwarded-server",
        b"x-real-ip",
    }
)
"""Headers by which proxies tell of themselves and of whom they speak for."""
_TELLING: Final = _FORWARDING | {b"origin", b"sec-fetch-site"}
"""Headers that say more of where a request comes from than its connection does."""

_HOST = re.compile(rb"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:[0-9]{1,5})?")
_BEARER = re.compile(rb"bearer +(\S+) *", re.IGNORECASE)

_FORWARDED: Final = (
    "without keys, only users of this machine are served, and this request came through a proxy;"
    " start the service with --require-keys and --proxy ADDRESS"
)
_FOREIGN_PAGE: Final = (
    "without keys, only the service's own pages may write; to allow this page, start the service"
    " with --origin ORIGIN"
)
NOT_MANAGED: Final = (
    "this needs a key that allows 'admin' on all boards that the webhook names, and on all boards"
    " for the events player.erased and *"
)
_KEY_REQUIRED: Final = "a key is required: Authorization: Bearer <key>"
_UNVERIFIED: Final = "players' tokens cannot be verified at the moment; try again shortly"


class Gate:
    """Decides about every request before it reaches its handler."""

    def __init__(
        self, settings: ServiceSettings, keys: Keys | None, tokens: Tokens | None, cors: Cors
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._tokens = tokens
        self._cors = cors
        self._telling = _TELLING if tokens is None else _TELLING | {b"authorization"}
        self._hosts: set[bytes | None] = set()
        """Names of this machine that were used; none where keys are needed."""
        self._by_key = None if settings.key_rate is None else RateLimit(settings.key_rate)
        self._by_player = None if settings.player_rate is None else RateLimit(settings.player_rate)
        by_address = settings.address_rate
        self._by_address = None if by_address is None else RateLimit(by_address)

    def knows(self, call: Call[Any, Any]) -> bool:
        """Whether `admit` would let the call in with nothing to note: the hot case, here."""
        headers = call.headers
        return (
            headers.get(b"host") in self._hosts
            and not call.route.is_conditional
            and self._telling.isdisjoint(headers)
        )

    async def admit(self, call: Call[Any, Any]) -> None:
        """Refuse what is not allowed; note what was shown, and whether the board is public."""
        route, token = call.route, self._token_in(call.headers)
        if not self._settings.needs_keys:
            self.check_local(call.headers)
            if route.method != "GET" and not self._cors.is_welcome(call.headers):
                raise Refused(403, "origin-not-allowed", _FOREIGN_PAGE)
            if token is not None and route.access.verb is not None:
                await self._admit_player(call, token)
            elif route.access.public and _tells_public(call):
                call.is_public = await _is_public(call)
            return
        if route.access.verb is None:
            self.count_address(call.client)
        elif token is not None:
            await self._admit_player(call, token)
        elif call.header(b"authorization") is None:
            await self._admit_stranger(call)
        else:
            call.key = await self.key(call.client, bearer(call.headers))
            call.is_public = route.access.public and await _is_public(call)
            if not _allows(call, call.key):
                raise Refused(403, "forbidden", _missing(call))

    async def _admit_player(self, call: Call[Any, Any], text: str) -> None:
        """Let in who shows a token, where the board is public or it is about its player."""
        call.token = await self.token(call.client, text)
        call.is_public = call.route.access.public and await _is_public(call)
        if not token_allows(call, call.token):
            raise refusal_of(call, call.token)

    async def _admit_stranger(self, call: Call[Any, Any]) -> None:
        """Let in who shows no key, where the board is public.

        It is counted first: to look for a board that does not exist may cost a query.
        """
        self.count_address(call.client)
        call.is_public = call.route.access.public and await _is_public(call)
        if not call.is_public:
            raise _unauthorized(_KEY_REQUIRED)

    def check_private(self, call: Call[Any, Any]) -> None:
        """Refuse what a public board does not show to everybody, unless a key allows to read it.

        The answer is then not public: neither for caches nor for pages of other origins.
        """
        what = call.query.private
        if what is None:
            return
        call.is_public = False
        if call.token is not None:
            if not owns_parts(call, call.token):
                raise Refused(403, "forbidden", f"{what} are not public, and not this token's own")
            return
        if not self._settings.needs_keys:
            return
        if call.key is None:
            raise _unauthorized(f"{what} are not public; {_KEY_REQUIRED}")
        if not call.key.allows("read", call.values[0]):
            raise Refused(403, "forbidden", f"{what} are not public; {_missing(call)}")

    async def key(self, client: Client, text: str | None) -> AccessKey:
        """The key behind a text; wrong ones are counted against the caller's address."""
        found = None
        if text is not None and self._keys is not None:
            found = await self._keys.find(text)
        if found is None or self._keys is None:
            self.count_address(client)
            raise _unauthorized(_KEY_REQUIRED if text is None else "this key is not valid")
        if self._keys.is_expired(found):
            self.count_address(client)
            raise _unauthorized("this key has expired")
        if not found.is_allowed_from(None if client is None else client[0]):
            self.count_address(client)
            raise Refused(403, "forbidden", "this key may not be used from your address")
        if self._by_key is not None:
            self._by_key.check(found.id)
        self._keys.note_use(found)
        return found

    async def token(self, client: Client, text: str) -> PlayerToken:
        """The player's token that a text is; wrong ones are counted against the address."""
        assert self._tokens is not None, "only then is there a token"
        try:
            found = await self._tokens.verify(text)
        except TokenRefused as reason:
            self.count_address(client)
            raise Refused(401, "unauthorized", f"this token {reason}", headers=BAD_TOKEN) from None
        except KeysMissing:
            self.count_address(client)
            headers = ((b"retry-after", b"5"),)
            raise Refused(503, "unavailable", _UNVERIFIED, headers=headers) from None
        if self._by_player is not None:
            self._by_player.check(found.player)
        return found

    def _token_in(self, headers: Mapping[bytes, bytes], offered: str | None = None) -> str | None:
        """The token that was shown, if this service knows tokens."""
        if self._tokens is None:
            return None
        text = offered or bearer(headers)
        return text if text is not None and is_token(text) else None

    async def visitor(
        self, client: Client, headers: Mapping[bytes, bytes], offered: str | None
    ) -> Visitor:
        """Who opens a live connection; `offered` is a key that came beside the headers."""
        token = self._token_in(headers, offered)
        if not self._settings.needs_keys:
            self.check_local(headers)
        if token is not None:
            return Visitor(None, token=await self.token(client, token))
        if not self._settings.needs_keys:
            return Visitor(None, is_trusted=self.trusts(headers))
        text = offered or bearer(headers)
        if text is None:
            self.count_address(client)
            return Visitor(None)
        return Visitor(await self.key(client, text))

    def visitor_of(self, call: Call[Any, Any]) -> Visitor:
        """Who has made a call that goes on."""
        is_trusted = call.token is None and self.trusts(call.headers)
        return Visitor(call.key, is_trusted=is_trusted, token=call.token)

    async def admit_watcher(self, visitor: Visitor, asked: Subscribe, state: ServiceState) -> bool:
        """Refuse what may not be watched; whether it may only because the board is public.

        A player with a token sees what that player does.
        """
        token = visitor.token
        if token is None:
            return await self._may_watch(visitor, asked, state)
        if asked.viewer not in (None, token.player):
            raise Refused(403, "forbidden", "a token sees what its own player does")
        asked.viewer = None
        as_public = await self._may_watch(visitor, asked, state)
        if await is_shadowed(state.boards, token.player):
            asked.viewer = token.player
        return as_public

    async def _may_watch(self, visitor: Visitor, asked: Subscribe, state: ServiceState) -> bool:
        key, token = visitor.key, visitor.token
        if visitor.is_trusted or (key is not None and key.allows("read", asked.board)):
            return False
        if owns_all(token, asked):
            return False
        if not await state.is_public(asked.board):
            raise not_public(asked.board)
        has_friends = asked.friends and not owns_friends(token, asked)
        what = "friends are" if has_friends else "submissions are"
        if asked.viewer is not None:
            what = "what a viewer sees is"
        if has_friends or asked.activity is not None or asked.viewer is not None:
            detail = f"{what} not public; board {asked.board!r} needs a key that allows 'read'"
            raise Refused(403, "forbidden", detail)
        return True

    def check_manages(
        self, call: Call[Any, Any], events: Iterable[str], boards: Iterable[str]
    ) -> None:
        """Refuse who may not manage a webhook of these events and boards."""
        if not manages(call, events, boards):
            raise Refused(403, "forbidden", NOT_MANAGED)

    def charge(self, call: Call[Any, Any], cost: int) -> None:
        """Count a call that was let in as what it turned out to be worth: so many requests."""
        if call.key is not None and self._by_key is not None and cost > 1:
            self._by_key.check(call.key.id, cost, counted=1)

    def check_page(self, scope: Any) -> None:
        """Refuse what is not allowed to ask for pages: they are for everybody, but not so often."""
        if self._settings.needs_keys:
            self.count_address(scope.get("client"))
        else:
            self.check_local(dict(scope["headers"]))

    def trusts(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the caller may read everything without a key.

        That is a user of this machine, and not a page of another origin that one has open.
        """
        return not self._settings.needs_keys and self._cors.is_welcome(headers)

    def check_local(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse what others than users of this machine may have sent, where no keys are asked for.

        That is what a proxy has forwarded, and what has another `Host` than this machine's own: a
        page may have got here by a trick.
        """
        if not _FORWARDING.isdisjoint(headers):
            raise Refused(403, "proxy-not-allowed", _FORWARDED)
        host = headers.get(b"host", b"")
        if host in self._hosts:
            return
        if not is_loopback_host(host):
            raise Refused(
                403,
                "host-not-allowed",
                "without keys, only the host names localhost, 127.0.0.1 and [::1] are served",
            )
        if len(self._hosts) < HOSTS_MAX:
            self._hosts.add(host)

    def count_address(self, client: Client) -> None:
        """Count what somebody without a key asks; Refused when that is too often."""
        if self._by_address is not None:
            self._by_address.check(caller_of(client))


class Visitor(NamedTuple):
    """Who watches a live connection."""

    key: AccessKey | None
    is_trusted: bool = False
    """Whether it may watch everything without a key."""
    token: PlayerToken | None = None

    @property
    def key_id(self) -> str | None:
        """The key that was shown."""
        return None if self.key is None else self.key.id

    @property
    def actor(self) -> Actor:
        """Who watches, as one value."""
        return actor_of(self.key, self.token)


def not_public(board_id: str) -> Refused:
    """What a stranger is told of a private board and of one that does not exist, alike."""
    return Refused(
        403, "forbidden", f"board {board_id!r} is not public: it needs a key that allows 'read'"
    )


def manages(call: Call[Any, Any], events: Iterable[str], boards: Iterable[str]) -> bool:
    """Whether the caller may manage a webhook of these events and boards."""
    return call.key is None or may_manage(call.key, events, boards)


def may_list(call: Call[Any, Any], board_id: str) -> bool:
    """Whether a list of boards shows this one to the caller."""
    if call.key is None and call.token is None and not call.state.settings.needs_keys:
        return True
    return call.key is not None and call.key.allows("read", board_id)


def _unauthorized(detail: str) -> Refused:
    return Refused(401, "unauthorized", detail, headers=CHALLENGE)


def bearer(headers: Mapping[bytes, bytes]) -> str | None:
    """The key in the Authorization header."""
    value = headers.get(b"authorization")
    found = None if value is None else _BEARER.fullmatch(value)
    return None if found is None else found[1].decode("latin-1")


def is_loopback_host(host: bytes) -> bool:
    """Whether a Host header names this machine.

    >>> is_loopback_host(b"localhost:8080"), is_loopback_host(b"localhost.evil.example")
    (True, False)
    """
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].decode("latin-1").strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _tells_public(call: Call[Any, Any]) -> bool:
    """Whether the answer tells that a board is public: to caches, whoever asks, and to web pages.

    What a cache has kept must be for everybody, so who asked first may not matter.
    """
    return call.route.is_conditional or b"origin" in call.headers


async def _is_public(call: Call[Any, Any]) -> bool:
    return await call.state.is_public(call.values[0])


def _allows(call: Call[Any, Any], key: AccessKey) -> bool:
    access = call.route.access
    assert access.verb is not None, "open routes were let through before"
    if call.is_public and access.verb == "read":
        return True
    if access.boards == "some":
        return key.has_verb(access.verb)
    return key.allows(access.verb, call.values[0] if access.boards == "one" else None)


def _missing(call: Call[Any, Any]) -> str:
    access = call.route.access
    where = f"board {call.values[0]!r}" if access.boards == "one" else "all boards"
    return f"this needs a key that allows {access.verb!r} on {where}"
