"""One request, as handlers see it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from toprung.http.problems import Refused
from toprung.http.routing import Route

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.http.state import State
    from toprung.service.leaderboards import Leaderboard, Leaderboards

Q = TypeVar("Q")
B = TypeVar("B")
Receive = Callable[[], Awaitable[Any]]


class Call(Generic[Q, B]):
    """A request that was found to be for a route and is allowed."""

    __slots__ = (
        "body",
        "is_public",
        "key",
        "query",
        "route",
        "scope",
        "state",
        "values",
    )

    query: Q
    body: B

    def __init__(self, state: State, scope: Any, route: Route, values: list[str]) -> None:
        self.state = state
        self.scope = scope
        self.route = route
        self.values = values
        """What stands in the variable segments of the address, in order."""
        self.key: AccessKey | None = None
        """The key that was shown, where one is needed."""
        self.is_public = False
        """Whether the board may be read by anybody."""

    @property
    def boards(self) -> Leaderboards:
        """All boards and players."""
        return self.state.boards

    async def board(self) -> Leaderboard:
        """The board in the address, which is always the first variable segment."""
        return await self.state.board(self.values[0])

    def header(self, name: bytes) -> bytes | None:
        """The value of a header, or of the first of this name."""
        return header(self.scope, name)

    def may(self, board_id: str) -> bool:
        """Whether the caller may read a board."""
        return not self.state.settings.needs_keys or (
            self.key is not None and self.key.allows("read", board_id)
        )


def header(scope: Any, name: bytes) -> bytes | None:
    """The value of a header; ASGI servers hand over lower-case names."""
    for known, value in scope["headers"]:
        if known == name:
            return bytes(value)
    return None


class CallerGone(Exception):  # noqa: N818 -- named after what happened
    """The caller hung up before the request was complete."""


async def read_body(scope: Any, receive: Receive, bytes_max: int, seconds_max: float) -> bytes:
    """The body, if it is small and quick enough."""
    declared = header(scope, b"content-length")
    if declared is not None and (not declared.isdigit() or int(declared) > bytes_max):
        raise _too_large(bytes_max)
    try:
        async with asyncio.timeout(seconds_max):
            return await _collect(receive, bytes_max)
    except TimeoutError:
        raise Refused(
            408,
            "request-timeout",
            f"the body did not arrive within {seconds_max:g} seconds",
            close=True,
        ) from None


async def _collect(receive: Receive, bytes_max: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise CallerGone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > bytes_max:
            raise _too_large(bytes_max)
        if not message.get("more_body", False):
            return b"".join([*pieces, piece]) if pieces else piece
        pieces.append(piece)


def _too_large(bytes_max: int) -> Refused:
    return Refused(
        413, "body-too-large", f"a body here has at most {bytes_max:,} bytes", close=True
    )
