"""One connection of HTTP/1.1, for one request at a time.

Whatever arrives is counted before it is parsed: a head of `HEAD_BYTES_MAX` and an answer of
`READ_BYTES_MAX` in all, interim answers included, so nothing that a receiver sends can take more
than that. Of a longer answer the status counts, the rest is not read.
"""

from __future__ import annotations

import asyncio
from typing import Final, cast

import httptools

from toprung.ports.poster import Posted

READ_BYTES_MAX: Final = 64 * 1024
"""Of an answer with all that comes before it."""

HEAD_BYTES_MAX: Final = 16 * 1024
KEPT_BYTES: Final = 1024
"""Of an answer, for people to see."""

_INTERIM: Final = range(100, 200)
_CONTROLS: Final = (*range(10), *range(11, 32), *range(127, 160))
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_PRINTABLE: Final = dict.fromkeys((*_CONTROLS, *_DIRECTIONS), "\ufffd")
"""Control characters, which have no place where people look; those of direction reorder text."""


class Broken(Exception):  # noqa: N818 -- it says what became of a connection
    """The connection ended, or what arrived is no answer."""

    def __init__(self, reason: str, *, is_silent: bool = False) -> None:
        super().__init__(reason)
        self.is_silent = is_silent
        """Whether nothing at all had arrived."""


class Connection(asyncio.Protocol):
    """A connection to a receiver."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Posted] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._received = 0
        self._kept = bytearray()
        self._has_head = False
        self._has_length = False
        self.is_open = True
        self.idle: asyncio.TimerHandle | None = None
        """Ends it after it was of no use for a while."""

    async def request(self, message: bytes) -> Posted:
        """Send a request; what is answered. Broken if there is no answer."""
        if not self.is_open or self._transport is None:
            raise Broken("closed the connection", is_silent=True)
        self._parser = httptools.HttpResponseParser(self)
        self._received, self._has_head = 0, False
        self._kept.clear()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        try:
            return await self._answer
        except BaseException:
            self.abort()
            raise
        finally:
            self._answer = None

    def abort(self) -> None:
        """End it at once."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    # --- what the transport tells -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is there."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Something arrived."""
        if self._answer is None or self._answer.done():  # nothing was asked
            self.abort()
            return
        self._received += len(data)
        room = READ_BYTES_MAX - (self._received - len(data))
        try:
            self._parser.feed_data(data[:room] if len(data) > room else data)
        except httptools.HttpParserUpgrade:
            self._fail(Broken("answered with another protocol"))
        except httptools.HttpParserError:
            self._fail(Broken("answered something that is not HTTP"))
        if self._answer.done():
            return
        if not self._has_head and self._received > HEAD_BYTES_MAX:
            self._fail(Broken("answered with a head that is too long"))
        elif self._received >= READ_BYTES_MAX:  # the status is known, and enough of the rest
            self._finish(is_reusable=False)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """It is gone. A body without a length is complete then."""
        self.is_open = False
        if self.idle is not None:
            self.idle.cancel()
        if self._answer is None or self._answer.done():
            return
        if self._has_head and not self._has_length:
            self._finish(is_reusable=False)
            return
        silent = not self._received
        reason = (
            "closed the connection"
            if silent
            else "closed the connection in the middle of its answer"
        )
        self._fail(Broken(reason, is_silent=silent))

    # --- what the parser tells --------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """An answer begins, perhaps an interim one; after the last one there is none."""
        self._has_length = False
        if self._has_head:
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:  # noqa: ARG002
        """A header."""
        if name.lower() in (b"content-length", b"transfer-encoding"):
            self._has_length = True

    def on_headers_complete(self) -> None:
        """The head of an answer is there."""
        self._has_head = self._parser.get_status_code() not in _INTERIM

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if len(self._kept) < KEPT_BYTES:
            self._kept += body[: KEPT_BYTES - len(self._kept)]

    def on_message_complete(self) -> None:
        """The whole answer is there, unless it was an interim one."""
        if self._has_head and self._answer is not None and not self._answer.done():
            self._finish(is_reusable=self._parser.should_keep_alive())

    # --- the end of a request ---------------------------------------------------------------------

    def _finish(self, *, is_reusable: bool) -> None:
        assert self._answer is not None, "somebody waits"
        text = self._kept.decode("utf-8", "replace").translate(_PRINTABLE)
        self._answer.set_result(Posted(self._parser.get_status_code(), text))
        if not is_reusable:
            self.abort()

    def _fail(self, error: Broken) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
        self.abort()
