"""One request, as handlers see it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from urllib.parse import unquote

from toprung.domain.trust.actor import LOCAL, Actor
from toprung.errors import Invalid
from toprung.http.limits import caller_name
from toprung.http.problems import Refused
from toprung.http.routing import Route

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.domain.trust.tokens import PlayerToken
    from toprung.http.state import ServiceState
    from toprung.service.leaderboards import Leaderboard, Leaderboards

REASON_HEADER: Final = b"toprung-reason"
"""Why a caller changes something: percent-encoded UTF-8."""

Q = TypeVar("Q")
B = TypeVar("B")
Receive = Callable[[], Awaitable[Any]]


class Call(Generic[Q, B]):
    """A request that was found to be for a route and is allowed."""

    __slots__ = (
        "arrived",
        "body",
        "client",
        "headers",
        "held_bytes",
        "is_public",
        "key",
        "query",
        "query_string",
        "receive",
        "route",
        "state",
        "token",
        "values",
    )

    query: Q
    body: B
    receive: Receive
    """Where the body comes from, and the news that the caller has gone, if it is served as ASGI."""

    def __init__(
        self,
        state: ServiceState,
        route: Route,
        values: list[str],
        headers: dict[bytes, bytes],
        query_string: bytes,
        client: tuple[str, int] | None,
    ) -> None:
        self.state = state
        self.route = route
        self.values = values
        """What stands in the variable segments of the address, in order."""
        self.headers = headers
        """By lower-case name; of several with one name, the last."""
        self.query_string = query_string
        self.client = client
        """The address and port of the caller."""
        self.arrived: bytes | None = None
        """The body, where it came with the head and nothing is to be received."""
        self.held_bytes = 0
        """What of its body takes up room: see `room`."""
        self.key: AccessKey | None = None
        """The key that was shown, where one is needed."""
        self.token: PlayerToken | None = None
        """The player's token that was shown, which is never together with a key."""
        self.is_public = False
        """Whether the board may be read by anybody."""

    @property
    def actor(self) -> Actor:
        """Who acts."""
        return actor_of(self.key, self.token)

    @property
    def boards(self) -> Leaderboards:
        """All boards and players; what is changed through them is the caller's act."""
        boards = self.state.boards
        return boards.acting_as(self.actor, self.reason) if self.route.acts else boards

    @property
    def owner(self) -> str:
        """Whom the key belongs to that was shown; empty if none was."""
        return "" if self.key is None else self.key.owner

    async def board(self) -> Leaderboard:
        """The board in the address, which is always the first variable segment.

        A player with a token is shown it as that player sees it.
        """
        found = self.state.held.get(self.values[0]) or await self.state.board(self.values[0])
        if self.token is not None:
            found = found.for_viewer(self.token.player)
        return found.acting_as(self.actor, self.reason) if self.route.acts else found

    @property
    def reason(self) -> str:
        """Why the caller does it, if it says so."""
        value = self.headers.get(REASON_HEADER)
        try:
            return "" if value is None else unquote(value.decode("latin-1"), errors="strict")
        except UnicodeDecodeError:
            raise Invalid("reason", "must be percent-encoded UTF-8") from None

    def header(self, name: bytes) -> bytes | None:
        """The value of a header."""
        return self.headers.get(name)

    def hold(self, amount: int) -> bool:
        """Take room for so much of its body; False if there is none left for this caller."""
        is_held = self.state.bodies.take(amount, self._caller, is_stranger=self._is_stranger)
        if is_held:
            self.held_bytes += amount
        return is_held

    def let_go(self) -> None:
        """Give back the room that its body has taken."""
        held, self.held_bytes = self.held_bytes, 0
        self.state.bodies.give_back(held, self._caller, is_stranger=self._is_stranger)

    @property
    def _caller(self) -> str | None:
        """Whose share of the room it is; nobody's where all are users of this machine."""
        if self.token is None and not self.state.settings.needs_keys:
            return None
        return caller_name(self.client, self.actor)

    @property
    def _is_stranger(self) -> bool:
        """Whether it has the share of one among many, and not of a key."""
        return self.key is None


def actor_of(key: AccessKey | None, token: PlayerToken | None) -> Actor:
    """Who acts, by what was shown; users of this machine show nothing."""
    if token is not None:
        return Actor("player", token.player)
    return LOCAL if key is None else Actor("key", key.id)


class CallerGone(Exception):  # noqa: N818 -- named after what happened
    """The caller hung up before the request was complete."""


def check_size(body: bytes, bytes_max: int) -> None:
    """Refuse a body that has arrived and is too large."""
    if len(body) > bytes_max:
        raise _too_large(bytes_max)


async def read_body(call: Call[Any, Any], bytes_max: int) -> bytes:
    """The body, if it is small and quick enough."""
    declared = call.header(b"content-length")
    if declared is not None and (not declared.isdigit() or int(declared) > bytes_max):
        raise _too_large(bytes_max)
    seconds_max = call.state.settings.body_seconds_max
    try:
        async with asyncio.timeout(seconds_max):
            return await _collect(call, bytes_max)
    except TimeoutError:
        raise Refused(
            408,
            "request-timeout",
            f"the body did not arrive within {seconds_max:g} seconds",
            close=True,
        ) from None


async def _collect(call: Call[Any, Any], bytes_max: int) -> bytes:
    body = bytearray()  # not a list: a caller may send byte by byte
    while True:
        message = await call.receive()
        if message["type"] != "http.request":
            raise CallerGone
        piece: bytes = message.get("body", b"")
        if len(body) + len(piece) > bytes_max:
            raise _too_large(bytes_max)
        is_last = not message.get("more_body", False)
        if is_last and not body:
            return piece
        if not call.hold(len(piece)):
            call.state.refused["bodies"] += 1
            raise _no_room()
        body += piece
        if is_last:
            return bytes(body)


def _no_room() -> Refused:
    return Refused(
        503,
        "overloaded",
        "too many large requests are on their way; try again shortly",
        headers=((b"retry-after", b"1"),),
        close=True,
    )


def _too_large(bytes_max: int) -> Refused:
    return Refused(
        413, "body-too-large", f"a body here has at most {bytes_max:,} bytes", close=True
    )
