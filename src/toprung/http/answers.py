"""Answers: what a handler returns and how it is sent.

Every answer forbids browsers to guess another type than it names (`NO_SNIFF`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

import msgspec

Headers = tuple[tuple[bytes, bytes], ...]
Send = Callable[[Any], Awaitable[None]]

JSON: Final = b"application/json"
NO_STORE: Final = (b"cache-control", b"no-store")
CLOSE: Final = (b"connection", b"close")
NO_SNIFF: Final = (b"x-content-type-options", b"nosniff")

STATUSES: Final = {
    status.value: b"%d %s\r\n" % (status.value, status.phrase.encode()) for status in HTTPStatus
}
"""Status lines without the version."""

_NOTHING: Final = {"type": "http.response.body", "body": b"", "more_body": True}
_NO_SNIFF: Final = b"%s: %s\r\n" % NO_SNIFF
_WHOLE: Final = b"HTTP/1.1 %scontent-type: %s\r\ncontent-length: %d\r\n" + _NO_SNIFF + b"%s\r\n%s"
_EMPTY: Final = b"HTTP/1.1 %s" + _NO_SNIFF + b"%s\r\n"

encode = msgspec.json.Encoder(decimal_format="number").encode
"""JSON with exact decimals as numbers."""


class Sendable(Protocol):
    """Anything a handler may answer."""

    status: int

    async def send(self, send: Send, extra: Headers) -> None:
        """Send it, with `extra` headers first."""
        ...


class Answer:
    """A whole answer: status, body and headers."""

    __slots__ = ("body", "content_type", "headers", "status")

    def __init__(
        self,
        status: int,
        body: bytes,
        headers: Headers = (),
        content_type: bytes = JSON,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = headers
        self.content_type = content_type

    @property
    def closes(self) -> bool:
        """Whether nothing can follow on the same connection."""
        return CLOSE in self.headers

    async def send(self, send: Send, extra: Headers) -> None:
        """Send it, with `extra` headers first."""
        body = self.body
        length = b"%d" % len(body)
        headers = [
            (b"content-type", self.content_type),
            (b"content-length", length),
            NO_SNIFF,
            *extra,
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def whole(self, extra: Headers = ()) -> bytes:
        """The answer as HTTP/1.1, in one piece."""
        body = self.body
        lines = _lines(extra + self.headers)
        return _WHOLE % (STATUSES[self.status], self.content_type, len(body), lines, body)


class Empty(Answer):
    """An answer without a body: 204, or 304 with the headers that the full answer would have."""

    __slots__ = ()

    def __init__(self, status: int = 204, headers: Headers = ()) -> None:
        super().__init__(status, b"", headers)

    async def send(self, send: Send, extra: Headers) -> None:
        """Send it, with `extra` headers first."""
        headers = [NO_SNIFF, *extra, *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def whole(self, extra: Headers = ()) -> bytes:
        """The answer as HTTP/1.1, in one piece."""
        lines = _lines(extra + self.headers)
        return _EMPTY % (STATUSES[self.status], lines)


class Stream:
    """An answer that is sent piece by piece; `on_end` is called when no piece will be any more."""

    __slots__ = ("_on_end", "_pieces", "headers", "status")

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        content_type: bytes,
        headers: Headers = (),
        on_end: Callable[[], None] | None = None,
    ) -> None:
        self.status = 200
        self.headers: Headers = ((b"content-type", content_type), *headers)
        self._pieces = pieces
        self._on_end = on_end

    async def send(self, send: Send, extra: Headers) -> None:
        """Send it, with `extra` headers first."""
        headers = [*self.headers, NO_SNIFF, *extra]
        try:
            await send({"type": "http.response.start", "status": self.status, "headers": headers})
            async for piece in self._pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                del piece
                await send(_NOTHING)  # waits until most is taken, before the next piece is made
            await send({"type": "http.response.body", "body": b""})
        finally:
            await self.end()

    async def end(self) -> None:
        """Have no more pieces sent: also for whoever asks for the head alone."""
        on_end, self._on_end = self._on_end, None
        try:
            await self._pieces.aclose()
        finally:
            if on_end is not None:
                on_end()


def _lines(headers: Headers) -> bytes:
    lines = b""
    for header in headers:  # one or two: a comprehension would take longer
        lines += b"%s: %s\r\n" % header
    return lines


def ok(value: object, headers: Headers = (), status: int = 200) -> Answer:
    """An answer with a value as JSON."""
    return Answer(status, encode(value), headers)
