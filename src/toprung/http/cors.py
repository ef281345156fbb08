"""Web pages of other origins: which of them may read answers, and what they may ask.

Boards that are public may be read from any page. Beyond that only the origins that the operator
named may ask; to all others no header is sent, and browsers keep the answer from the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from toprung.errors import ToprungError
from toprung.http.answers import Answer, Empty, Headers
from toprung.http.problems import Refused
from toprung.http.routing import Router

if TYPE_CHECKING:
    from toprung.http.state import State

_EXPOSED: Final = (
    b"access-control-expose-headers",
    b"etag, idempotent-replayed, retry-after, x-request-id",
)
_ASKABLE: Final = b"authorization, content-type, idempotency-key, if-none-match, last-event-id"
_READS: Final = (b"GET", b"HEAD")

PUBLIC: Final[Headers] = ((b"access-control-allow-origin", b"*"), _EXPOSED)
VARIES: Final = (b"vary", b"Origin")


class Cors:
    """Answers the question whether a page may."""

    def __init__(self, origins: tuple[str, ...]) -> None:
        self._origins = {origin.encode() for origin in origins}

    def headers(self, asked: Mapping[bytes, bytes], *, is_public: bool) -> Headers:
        """The headers that let the asking page read the answer."""
        if is_public:
            return PUBLIC
        if not self._origins:
            return ()
        origin = asked.get(b"origin")
        if origin is not None and origin in self._origins:
            return ((b"access-control-allow-origin", origin), VARIES, _EXPOSED)
        return (VARIES,)

    def is_welcome(self, asked: Mapping[bytes, bytes]) -> bool:
        """Whether a WebSocket may be opened from where it comes: no page, our own, or a named."""
        origin = asked.get(b"origin")
        if origin is None or origin in self._origins:
            return True
        return origin.partition(b"://")[2] == asked.get(b"host")

    async def options(self, scope: Any, router: Router, state: State) -> Answer:
        """The answer to OPTIONS: which methods there are, and to pages whether they may."""
        methods = router.methods(scope["raw_path"])
        if not methods:
            raise Refused(404, "no-such-route", "no such path; see /docs")
        if "GET" in methods:
            methods.add("HEAD")
        allowed = ", ".join(sorted(methods | {"OPTIONS"})).encode()
        headers: Headers = ((b"allow", allowed),)
        asked = dict(scope["headers"])
        if asked.get(b"access-control-request-method") in _READS and await _is_public(scope, state):
            granted = PUBLIC
        else:
            granted = self.headers(asked, is_public=False)
        if len(granted) > 1:
            headers += (
                *granted,
                (b"access-control-allow-methods", allowed),
                (b"access-control-allow-headers", _ASKABLE),
                (b"access-control-max-age", b"600"),
            )
        return Empty(204, headers)


async def _is_public(scope: Any, state: State) -> bool:
    segments = scope["raw_path"].split(b"/")
    if segments[1:3] != [b"v1", b"boards"] or len(segments) < 4:
        return False
    try:
        board = await state.board(segments[3].decode("latin-1"))
        return (await board.definition()).public
    except ToprungError:
        return False
