"""Web pages of other origins: which of them may read answers, and what they may ask.

Boards that are public may be read from any page, and no more: browsers remember what one preflight
grants, and apply it to other methods of the same address. Beyond that only the origins that the
operator named may ask; to all others no header is sent, and browsers keep the answer from the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from toprung.http.answers import Answer, Empty, Headers
from toprung.http.problems import Refused
from toprung.http.routing import Router

if TYPE_CHECKING:
    from toprung.http.state import ServiceState

_EXPOSED: Final = (
    b"access-control-expose-headers",
    b"etag, idempotent-replayed, retry-after, x-request-id",
)
_ASKABLE: Final = b"authorization, content-type, idempotency-key, if-none-match, last-event-id"
_READS: Final = (b"GET", b"HEAD")
_READS_GRANTED: Final = b"GET, HEAD"
_SAME_PAGE: Final = (None, b"same-origin", b"none")
"""What browsers say in `Sec-Fetch-Site` of requests that no other site's page makes."""

PUBLIC: Final[Headers] = ((b"access-control-allow-origin", b"*"), _EXPOSED)
VARIES: Final = (b"vary", b"Origin")


class Cors:
    """Decides which web pages of other origins may read answers and send requests."""

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

    def is_named(self, asked: Mapping[bytes, bytes]) -> bool:
        """Whether it comes from a page of an origin that the operator named."""
        return asked.get(b"origin") in self._origins

    def is_welcome(self, asked: Mapping[bytes, bytes]) -> bool:
        """Whether it comes from no page, one of our own, or one of an origin that was named.

        For services without keys, which speak plain HTTP: that is part of their own origin.
        """
        origin = asked.get(b"origin")
        if origin is None:
            return asked.get(b"sec-fetch-site") in _SAME_PAGE
        return origin in self._origins or origin == b"http://" + asked.get(b"host", b"")

    async def options(self, scope: Any, router: Router, state: ServiceState) -> Answer:
        """The answer to OPTIONS: which methods there are, and to pages whether they may."""
        methods = router.methods(scope["raw_path"])
        if not methods:
            raise Refused(404, "no-such-route", "no such path; see /docs")
        if "GET" in methods:
            methods.add("HEAD")
        allowed = ", ".join(sorted(methods | {"OPTIONS"})).encode()
        headers: Headers = ((b"allow", allowed),)
        asked = dict(scope["headers"])
        reads = asked.get(b"access-control-request-method") in _READS
        if self.is_named(asked):
            granted = self.headers(asked, is_public=False)
        elif reads and await _is_public(scope, state):
            granted, allowed = PUBLIC, _READS_GRANTED
        else:
            granted = ()
        if granted:
            headers += (
                *granted,
                (b"access-control-allow-methods", allowed),
                (b"access-control-allow-headers", _ASKABLE),
                (b"access-control-max-age", b"600"),
            )
        return Empty(204, headers)


async def _is_public(scope: Any, state: ServiceState) -> bool:
    segments = scope["raw_path"].split(b"/")
    if segments[1:3] != [b"v1", b"boards"] or len(segments) < 4:
        return False
    return await state.is_public(segments[3].decode("latin-1"))
