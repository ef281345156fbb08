"""A connection without a network: a transport in memory, and an application with every way in."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Iterator
from typing import Any

from toprung.http.answers import Answer
from toprung.http.connection import HttpConnection
from toprung.http.server import server_config
from toprung.http.underway import Reply, Underway
from toprung.waiting.inbox import Inbox
from toprung.waiting.pending import Pending


def echo(method: str, target: bytes, body: bytes) -> bytes:
    """What the application answers: what it was asked, so that nothing can be mixed up."""
    return b"%s %s %s" % (method.encode(), target, hashlib.sha1(body).hexdigest().encode())


class Wire(asyncio.Transport):
    """Remembers what is written; hands over what arrives, unless reading is paused."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.written = b""
        self.closed = asyncio.Event()
        self._rng = rng
        self._is_closing = False
        self._readable = asyncio.Event()
        self._readable.set()
        self.protocol: Any = None

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def write(self, data: Any) -> None:
        assert not self._is_closing
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            asyncio.get_running_loop().call_soon(self._lose)

    abort = close

    def _lose(self) -> None:
        self.protocol.connection_lost(None)
        self._readable.set()
        self.closed.set()

    def pause_reading(self) -> None:
        self._readable.clear()

    def resume_reading(self) -> None:
        self._readable.set()

    async def send(self, data: bytes, *, hangs_up: bool) -> None:
        """Have it arrive in random pieces; then there are no more, if the caller hangs up."""
        loop = asyncio.get_running_loop()
        for piece in pieces(data, self._rng):
            await self._readable.wait()
            if self._is_closing:
                return
            loop.call_soon(self.protocol.data_received, piece)  # as a loop does: in no task
            for _ in range(self._rng.randint(1, 3)):
                await asyncio.sleep(0)
        await self._readable.wait()
        if hangs_up:
            loop.call_soon(self._end)

    def _end(self) -> None:
        if not self._is_closing and not self.protocol.eof_received():
            self.close()


def pieces(data: bytes, rng: random.Random) -> Iterator[bytes]:
    """The same bytes in segments: all at once, byte by byte, or anything in between."""
    longest = rng.choice((2, 10, 100, 1000, 5000, len(data), len(data)))
    at = 0
    while at < len(data):
        size = rng.randint(max(longest // 4, 1, len(data) // 100), max(longest, len(data) // 50))
        yield data[at : at + size]
        at += size


class Echo:
    """Answers at once, after a while without a task, or as ASGI: whole or in pieces."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._inbox = Inbox(asyncio.get_running_loop())

    def at_once(
        self, method: str, url: bytes, _headers: Any, body: bytes, _client: Any
    ) -> Reply | Underway | None:
        if not url.startswith(b"/hot"):
            return None
        reply: Reply = (Answer(200, echo(method, url, body)), ())
        if self._rng.random() < 0.5:
            return reply
        underway = Underway(self._inbox)
        underway.begin(self._wait())
        underway.finish, underway.keep_alive = (lambda _: reply), True
        return underway

    async def _wait(self) -> None:
        if self._rng.random() < 0.5:
            await asyncio.sleep(0)
            return
        pending: Pending[None] = Pending()
        asyncio.get_running_loop().call_soon(pending.set_result, None)
        await pending

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        target = scope["raw_path"] + (scope["query_string"] and b"?" + scope["query_string"])
        body = await self._read(receive) if b"unread" not in target else b""
        answer = echo(scope["method"], target, body)
        headers = [(b"content-type", b"text/plain")]
        if b"stream" not in target:
            headers.append((b"content-length", b"%d" % len(answer)))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if b"stream" in target:
            half = len(answer) // 2
            await send({"type": "http.response.body", "body": answer[:half], "more_body": True})
            await asyncio.sleep(0)
            answer = answer[half:]
        await send({"type": "http.response.body", "body": answer})

    async def _read(self, receive: Any) -> bytes:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                break
            body += message["body"]
            more = message["more_body"]
        return body


def connect(config: Any, state: Any, rng: random.Random) -> Wire:
    """A new connection."""
    wire = Wire(rng)
    wire.protocol = config.http_protocol_class(config=config, server_state=state, app_state={})
    assert isinstance(wire.protocol, HttpConnection)
    wire.protocol.connection_made(wire)
    return wire


def config_of(app: Any) -> Any:
    """What a server would give its connections."""
    config = server_config(app)
    config.load()
    return config
