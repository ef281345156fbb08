"""A connection to one server on which several calls may be under way: answers come in order.

The client library has a connection per call, packs commands word by word and makes a task to send
each of them; together that cost a read more than all the rest of it. This is for the one script
that is called all the time (`lua/ask.lua`), of a single server without TLS. Everything else goes
through the library, which knows about Clusters, certificates and the rest.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

_OPTIONS = frozenset({"host", "port", "username", "password", "db"})
"""What is understood here of an address."""


class Pipe(asyncio.Protocol):
    """One connection; it is made anew when it is used after it was lost."""

    def __init__(self, transport_options: Mapping[str, Any]) -> None:
        from hiredis import Reader
        from redis import exceptions

        self._address = transport_options
        self._exceptions = exceptions
        self._new_reader: Callable[[], Any] = lambda: Reader(replyError=self._error_of)
        self._reader = self._new_reader()
        self._transport: asyncio.Transport | None = None
        self._is_greeted = False
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._connecting = asyncio.Lock()

    async def call(self, *words: Any) -> Any:
        """What the server answers to a command; errors are those of the client library."""
        if not self._is_greeted:
            await self._connect()
        answer = await self._send(*words)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the connection; who still waits is told that it was lost."""
        if self._transport is not None:
            self._transport.abort()
            self.connection_lost(None)

    async def _connect(self) -> None:
        async with self._connecting:
            if self._is_greeted:
                return
            address = self._address
            self._reader = self._new_reader()
            transport, _ = await asyncio.get_running_loop().create_connection(
                lambda: self, address.get("host", "localhost"), address.get("port", 6379)
            )
            try:
                await self._greet()
                self._is_greeted = self._transport is not None
            except BaseException:
                transport.abort()
                self.connection_lost(None)
                raise

    async def _greet(self) -> None:
        """Say who we are and which database is meant."""
        user, password = self._address.get("username"), self._address.get("password")
        if password:
            answer = await self._send("AUTH", *([user] if user else []), password)
            if isinstance(answer, Exception):
                raise answer
        if self._address.get("db"):
            answer = await self._send("SELECT", self._address["db"])
            if isinstance(answer, Exception):
                raise answer

    def _send(self, *words: Any) -> asyncio.Future[Any]:
        from hiredis import pack_command

        if self._transport is None:
            raise self._exceptions.ConnectionError("the connection was lost")
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        self._transport.write(pack_command(words))
        return answer

    def _error_of(self, text: str) -> Exception:
        kind = self._exceptions.ResponseError
        if text.startswith("NOSCRIPT"):
            kind = self._exceptions.NoScriptError
        return kind(text)

    # --- what the event loop tells ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The server is there."""
        self._transport = cast(asyncio.Transport, transport)
        connection = transport.get_extra_info("socket")
        if connection is not None:
            with suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        """Answers, or parts of them."""
        reader = self._reader
        reader.feed(data)
        while self._waiting:
            answer = reader.gets()
            if answer is False:  # the next one is not complete
                return
            future = self._waiting.popleft()
            if not future.done():  # nobody waits any more, but it had to be read
                future.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """All that is under way has no answer."""
        self._transport, self._is_greeted = None, False
        waiting, self._waiting = self._waiting, deque()
        for future in waiting:
            if not future.done():
                error = self._exceptions.ConnectionError("the connection was lost")
                error.__cause__ = exc
                future.set_exception(error)


def pipe_of(client: Any) -> Pipe | None:
    """A pipe to the server of a client; None where only the library knows how to reach it."""
    from redis.asyncio import Connection

    pool = getattr(client, "connection_pool", None)
    if pool is None or pool.connection_class is not Connection:
        return None
    given = {name: value for name, value in pool.connection_kwargs.items() if value is not None}
    return Pipe({name: given[name] for name in given.keys() & _OPTIONS})
