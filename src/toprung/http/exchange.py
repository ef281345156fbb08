"""One request that is served as ASGI: what the application receives and sends.

The connection feeds it the body as that arrives and has it run when its turn comes. Bodies and
answers are bounded by what the other side takes: nothing more is read while `BODY_BYTES_MAX` wait
for the application, and sending waits for the caller.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import unquote

import httptools

from toprung.http.answers import STATUSES
from toprung.http.problems import Refused, problem
from toprung.http.transport import Flow, Joined

App = Callable[..., Any]

BODY_BYTES_MAX: Final = 64 * 1024
"""Of a body, that wait for the application; what has arrived together may be more."""

_BROKEN = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""What would end a header's line, or worse."""
_BODILESS: Final = (204, 304)
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_FAILED: Final = Refused(500, "internal-error", "see the service's log", close=True)
_STOPPED: Final = Refused(503, "unavailable", "the service is stopping", close=True)

_log = logging.getLogger("toprung.http")


def scope_of(
    method: str,
    version: str,
    url: bytes,
    headers: list[tuple[bytes, bytes]],
    client: tuple[str, int] | None,
    server: tuple[str, int] | None,
) -> dict[str, Any] | None:
    """The request as ASGI describes it; None if its target is no address.

    >>> scope = scope_of("GET", "1.1", b"/a%2Fb?c=d", [], None, None)
    >>> [scope[name] for name in ("path", "raw_path", "query_string")]
    ['/a/b', b'/a%2Fb', b'c=d']
    """
    try:
        target = httptools.parse_url(url)
        raw_path: bytes = target.path
        path = raw_path.decode("ascii")
    except (httptools.HttpParserError, AttributeError, ValueError):
        return None
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": version,
        "method": method,
        "scheme": "http",
        "path": unquote(path) if "%" in path else path,
        "raw_path": raw_path,
        "query_string": target.query or b"",
        "root_path": "",
        "headers": headers,
        "client": client,
        "server": server,
    }


def failure_of(error: BaseException) -> Refused:
    """What a caller is told whose request ended without an answer; the log is told more."""
    if isinstance(error, asyncio.CancelledError):
        return _STOPPED
    _log.error("the application failed", exc_info=error)
    return _FAILED


class Exchange:
    """A request and its answer."""

    __slots__ = (
        "_expects_continue",
        "_flow",
        "_is_chunked",
        "_left",
        "_news",
        "_on_answered",
        "_transport",
        "body",
        "disconnected",
        "has_begun",
        "has_ended",
        "keep_alive",
        "more_body",
        "scope",
        "task",
    )

    def __init__(
        self,
        scope: dict[str, Any],
        transport: Joined,
        flow: Flow,
        on_answered: Callable[[], None],
        *,
        keep_alive: bool,
        expects_continue: bool,
    ) -> None:
        self.scope = scope
        self._transport = transport
        self._flow = flow
        self._on_answered = on_answered
        self._expects_continue = expects_continue
        self._news = asyncio.Event()
        self._left: int | None = None
        """How much is left to be sent of an answer whose length was told."""
        self._is_chunked = False
        self.keep_alive = keep_alive
        self.body = bytearray()
        """What has arrived and was not received."""
        self.more_body = True
        self.has_begun = False
        """Whether the answer has begun."""
        self.has_ended = False
        """Whether the answer is complete."""
        self.disconnected = False
        """Whether the caller has gone."""
        self.task: asyncio.Task[None] | None = None
        """What runs it, once its turn has come."""

    @property
    def is_streaming(self) -> bool:
        """Whether the answer is being sent in pieces, perhaps without end."""
        return self.has_begun and not self.has_ended and self._left is None

    @property
    def is_filled(self) -> bool:
        """Whether more of the body has arrived than the application takes."""
        return len(self.body) > BODY_BYTES_MAX and not self.has_ended

    # --- what the connection tells ----------------------------------------------------------------

    def feed(self, body: bytes) -> None:
        """A piece of the body has arrived."""
        if not self.has_ended:
            self.body += body
            self._news.set()

    def end_body(self) -> None:
        """The request is complete."""
        self.more_body = False
        self._news.set()

    def disconnect(self) -> None:
        """The caller has gone; there is no use for an answer that only tells it something.

        The application says what is such a read. One that has begun to answer is told.
        """
        self.disconnected = True
        self._news.set()
        if self.task is not None and self.scope.get("is_read") and not self.has_begun:
            self.task.cancel()

    async def run(self, app: App) -> None:
        """Have the application answer; one that fails costs its connection, and nobody else's."""
        try:
            await app(self.scope, self.receive, self.send)
        except asyncio.CancelledError as error:
            self._break_off(failure_of(error))
            raise
        except Exception as error:  # noqa: BLE001 -- see `failure_of`
            self._break_off(failure_of(error))
        else:
            if not (self.has_ended or self.disconnected):
                _log.error("the application returned without an answer")
                self._break_off(_FAILED)

    def _break_off(self, reason: Refused) -> None:
        if not (self.has_begun or self.disconnected):
            self.has_begun = True
            self._transport.write_whole(problem(reason).whole())
        if not self.has_ended:
            self._transport.close()

    # --- ASGI -------------------------------------------------------------------------------------

    async def receive(self) -> dict[str, Any]:
        """The next piece of the body; after the last, the news that the exchange is over."""
        if self._expects_continue:
            self._expects_continue = False
            if self.more_body and not self.body and not self.has_begun:
                self._transport.write(_CONTINUE)
        if not (self.disconnected or self.has_ended):
            self._flow.resume_reading()
            await self._news.wait()
            self._news.clear()
        if self.disconnected or self.has_ended:
            return {"type": "http.disconnect"}
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: dict[str, Any]) -> None:
        """Send the head of the answer, or a piece of its body, when the caller takes it."""
        if self._flow.write_paused and not self.disconnected:
            await self._flow.drain()
        if self.disconnected:
            return
        kind = "http.response.body" if self.has_begun else "http.response.start"
        if message["type"] != kind or self.has_ended:
            raise RuntimeError(f"{message['type']!r} was sent out of order")
        if kind == "http.response.start":
            self._begin(message["status"], message["headers"])
        else:
            self._go_on(message.get("body", b""), is_last=not message.get("more_body", False))

    def _begin(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        lines = [b"HTTP/1.1 ", STATUSES[status]]
        closes = False
        for name, value in headers:
            if _BROKEN.search(value):
                raise RuntimeError(f"the header {name!r} has a value that cannot be sent")
            if name == b"content-length":
                self._left = int(value)
            elif name == b"connection" and value == b"close":
                closes, self.keep_alive = True, False
            lines += (name, b": ", value, b"\r\n")
        if self._left is None and self._has_body(status):
            if self.scope["http_version"] == "1.1":
                self._is_chunked = True
            else:
                self.keep_alive = False  # the end of the connection is the end of the body
        if not (self.keep_alive or closes):
            lines.append(b"connection: close\r\n")
        lines.append(b"transfer-encoding: chunked\r\n\r\n" if self._is_chunked else b"\r\n")
        self.has_begun, self._expects_continue = True, False
        self._transport.write(b"".join(lines))

    def _has_body(self, status: int) -> bool:
        return self.scope["method"] != "HEAD" and status not in _BODILESS

    def _go_on(self, body: bytes, *, is_last: bool) -> None:
        if self.scope["method"] == "HEAD":
            self._left = 0
        elif self._is_chunked:
            piece = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
            self._transport.write(piece + b"0\r\n\r\n" if is_last else piece)
        else:
            if self._left is not None:
                self._left -= len(body)
                if self._left < 0:
                    raise RuntimeError("the answer is longer than its Content-Length")
            self._transport.write(body)
        if is_last:
            if self._left:
                raise RuntimeError("the answer is shorter than its Content-Length")
            self.has_ended = True
            self._news.set()
            self._on_answered()
