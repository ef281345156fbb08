"""The WebSocket on the wire: uvicorn's, within bounds that uvicorn does not set.

uvicorn parses all that has arrived at once and answers every ping when it meets it, whether or not
the peer reads the answers. Here what has arrived is parsed a little at a time, when it is the
caller's turn (`turns`), and only if the peer takes what it is sent: while it does not, nothing more
is received and nothing is answered, and after `send_seconds_max` it is cut off. Of several pings
that have arrived the last one is answered, as RFC 6455 allows.
Every frame counts, pings and pongs among them; who sends too many is told so and heard no longer.

Nothing is compressed: a message is made once for all who are sent it, and what one of them sends
cannot unfold into more than arrived.

The application sends whole frames: `{"type": "websocket.send", "frames": ...}`. It may also ask to
be kept waiting, `{"type": "websocket.pause", "seconds": ...}`, which ends early if the connection
does. Once that has ended, from either side, messages that were received before are dropped.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from toprung.http.answers import Answer
from toprung.http.limits import RateLimit, caller_of
from toprung.http.problems import Refused, problem
from toprung.http.settings import Rate

if TYPE_CHECKING:
    from websockets.frames import Frame
    from websockets.http11 import Request

    from toprung.http.live.limits import LiveLimits

FRAMES: Final = Rate(20.0, 100)
"""How many frames a client may send, of all kinds."""
PARSED_BYTES_MAX: Final = 1024
"""At once: some hundred frames, or a part of one. A turn ends with the first that are whole."""
UNPARSED_BYTES_MAX: Final = 64 * 1024
"""A client that sends so much at once is one that sends too many messages."""
UNPARSED_IN_ALL_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of all clients together; beyond it only short messages are taken."""
SHORT_BYTES: Final = 2 * 1024
RECEIVE_BUFFER_BYTES: Final = 16 * 1024
SEND_BUFFER_BYTES: Final = 64 * 1024
"""Kept by the system for a connection. Subscriptions are short, and news that waits grows old."""
LINGER_SECONDS: Final = 1.0
"""For a client to read why it was cut off, before the connection ends."""

TOO_MANY: Final = (1008, f"more than {FRAMES.per_second:.0f} messages a second were sent")
MALFORMED: Final = Refused(
    400, "malformed", "the request to open a WebSocket cannot be read", close=True
)
NOT_TEXT: Final = (1007, "text must be UTF-8")

Malformed = Callable[[tuple[str, int] | None], Answer]
"""Counts an opening from an address that cannot be read, and returns the answer."""


def tell_malformed(_client: tuple[str, int] | None) -> Answer:
    """The answer to an opening that cannot be read."""
    return problem(MALFORMED)


class LiveSocket(WebSocketsSansIOProtocol):
    """One WebSocket connection, from the request that opens it."""

    def __init__(
        self, *args: Any, limits: LiveLimits, malformed: Malformed = tell_malformed, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._malformed = malformed
        self._frames_rate = RateLimit(FRAMES)
        self._caller = ""
        self._unparsed = b""
        self._parsed = 0
        """How much of `_unparsed` is parsed already."""
        self._has_asked = False
        """Whether it waits for a turn to parse."""
        self._is_deaf = False
        """Whether it was told why it is cut off; what it sends is dropped."""
        self._patience: asyncio.TimerHandle | None = None
        self._pause: asyncio.Future[None] | None = None
        """While the application waits."""

    def connection_made(self, transport: Any) -> None:
        """An HTTP connection becomes a WebSocket."""
        super().connection_made(transport)
        self._caller = caller_of(self.client)
        self._set_sizes(transport.get_extra_info("socket"))

    def _set_sizes(self, connection: Any) -> None:
        if connection is not None:
            with suppress(OSError):  # it may be gone already
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended: let go of what was received, wherever it is still held."""
        self._keep(b"")
        self.frames = []
        self.conn.parser.close()
        self._end_patience()
        self._end_pause()
        super().connection_lost(exc)

    # --- what is received ---------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived: nothing more is received until they are parsed.

        While the application waits it is, up to a bound: only so is it noticed if the peer goes.
        """
        if self._is_deaf:
            return
        self._keep(self._unparsed[self._parsed :] + data)
        if self._is_too_much():
            self._refuse()
            return
        if self._pause is None:
            self._stop_reading()
        self._go_on()

    def _stop_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def _start_reading(self) -> None:
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()

    def _keep(self, data: bytes) -> None:
        """Keep this to be parsed, instead of what was kept."""
        self._limits.unparsed_bytes += len(data) - len(self._unparsed)
        self._unparsed, self._parsed = data, 0

    def _is_too_much(self) -> bool:
        size = len(self._unparsed)
        in_all = self._limits.unparsed_bytes
        return size > UNPARSED_BYTES_MAX or (
            size > SHORT_BYTES and in_all > UNPARSED_IN_ALL_BYTES_MAX
        )

    def _go_on(self) -> None:
        """Parse on when it is our turn, if there is something and nothing stands against it."""
        if self._has_asked or not self._may_parse():
            return
        if self._unparsed:
            self._has_asked = True
            self._limits.turns.ask(self._caller, self._parse)
        else:
            self._start_reading()

    def _may_parse(self) -> bool:
        """Whether the application has taken what came before, and the peer what was answered."""
        return (
            not (self._is_deaf or self.disconnected)
            and self.writable.is_set()
            and (self.queue.empty() or self.close_sent)
            and (self.handshake_complete or not self.handshake_initiated)
        )

    def _parse(self) -> None:
        self._has_asked = False
        if not (self._unparsed and self._may_parse()):
            return
        while self._unparsed and not (self.conn.events or self.conn.parser_exc):
            self._parse_some()
        if self.conn.parser_exc is not None:
            self.handle_parser_exception()
            return
        self.handle_events()
        if not self.handshake_initiated:  # the library refuses some heads without a word
            self.transport.write(self._malformed(self.client).whole())
            self.transport.close()
            return
        pongs = self.conn.data_to_send()
        if pongs and not self.transport.is_closing():
            self.transport.write(pongs[-1])
        self._go_on()

    def _parse_some(self) -> None:
        size = PARSED_BYTES_MAX if self.handshake_complete else len(self._unparsed)
        data = self._unparsed[self._parsed : self._parsed + size]
        self._parsed += size
        if self._parsed >= len(self._unparsed):
            self._keep(b"")
        self.conn.receive_data(data)

    def handle_events(self) -> None:
        """Frames have been parsed: count them, then have them handled."""
        count = len(self.conn.events)
        if self.handshake_complete and self._frames_rate.take("", count) is not None:
            self._refuse()
            return
        super().handle_events()

    def handle_connect(self, event: Request) -> None:
        """The opening request is complete."""
        self._caller = caller_of(self.client)
        super().handle_connect(event)
        if self.close_sent:  # the library has refused it, and said why
            self._malformed(self.client)

    def handle_cont(self, event: Frame) -> None:
        """A further part of a message; empty ones would add up to a long list of nothing."""
        if event.data or event.fin:
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answered when all that was parsed with it is known: see `_parse`."""

    def send_receive_event_to_app(self) -> None:
        """A message is complete."""
        try:
            text = b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self._cut_off(*NOT_TEXT)
            return
        self.frames = []
        if not self.close_sent:
            self.queue.put_nowait({"type": "websocket.receive", "text": text})

    async def receive(self) -> Any:
        """The next message for the application."""
        received = await self.queue.get()
        while self._is_over() and received["type"] != "websocket.disconnect":
            received = await self.queue.get()
        self._go_on()
        return received

    def _is_over(self) -> bool:
        """Whether nothing more can be sent: then it is of no use to obey what was received."""
        return self.disconnected or self.close_sent

    # --- what is sent -------------------------------------------------------------------------

    async def send(self, message: Any) -> None:
        """Send what the application says, when the peer has taken most of what was sent before."""
        frames = message.get("frames")
        if frames is not None:
            if not self.writable.is_set():
                await self.writable.wait()
            if self.disconnected or self.close_sent:
                raise ClientDisconnected
            self.transport.write(frames)
            if not self.writable.is_set():  # nothing else is made until this is taken
                await self.writable.wait()
            return
        if message["type"] == "websocket.pause":
            await self._wait(message["seconds"])
            return
        if self._is_over():
            raise ClientDisconnected
        await super().send(message)
        if self.close_sent:  # uvicorn would complain of an opening that was refused
            self.handshake_complete = True
            self._end_pause()
        self._go_on()

    async def _wait(self, seconds: float) -> None:
        """Wait so long, but no longer than the connection lasts."""
        if not self._is_over():
            self._pause = self.loop.create_future()
            timer = self.loop.call_later(seconds, self._end_pause)
            self._start_reading()
            try:
                await self._pause
            finally:
                timer.cancel()
                self._pause = None
        if self._is_over():
            raise ClientDisconnected
        if self._unparsed:
            self._stop_reading()

    def _end_pause(self) -> None:
        if self._pause is not None and not self._pause.done():
            self._pause.set_result(None)

    def pause_writing(self) -> None:
        """The peer takes nothing: wait for it, but not for ever."""
        super().pause_writing()
        if self._patience is None:
            seconds = self._limits.settings.send_seconds_max
            self._patience = self.loop.call_later(seconds, self._give_up)

    def resume_writing(self) -> None:
        """The peer has taken what was sent."""
        self._end_patience()
        super().resume_writing()
        self._go_on()

    def shutdown(self) -> None:
        """The service stops."""
        is_closing = self.handshake_complete and self.conn.state is not State.OPEN
        if self.writable.is_set() and not is_closing:
            super().shutdown()
        else:  # it is closing already, or would not read this either
            self.transport.abort()

    # --- the end ------------------------------------------------------------------------------

    @property
    def held_bytes(self) -> int:
        """Kept in memory: news that the peer does not take, and what it sent that waits."""
        unsent = 0 if self.writable.is_set() else self.transport.get_write_buffer_size()
        return int(unsent) + len(self._unparsed)

    def cut_off(self) -> None:
        """Close the connection at once: it holds too much."""
        self._keep(b"")
        self._give_up()

    def _give_up(self) -> None:
        self._patience = None
        self._limits.refuse("unread")
        self.transport.abort()

    def _end_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _refuse(self) -> None:
        self._limits.refuse("messages")
        self._cut_off(*TOO_MANY)

    def _cut_off(self, code: int, reason: str) -> None:
        """Say why, and hear nothing more."""
        self.conn.events.clear()
        self.conn.writes.clear()
        if self.conn.state is State.OPEN:
            self.conn.send_close(code, reason)
        self._linger(code, reason)

    def handle_parser_exception(self) -> None:
        """What came is not a WebSocket's, or too large; the library has said so."""
        close = self.conn.close_sent
        self._linger(*((1006, "") if close is None else (close.code, close.reason)))

    def _linger(self, code: int, reason: str) -> None:
        """Hear nothing more, and end the connection when the reason can have been read.

        Ended at once, with something yet to be received, it would be reset under the reader.
        """
        self._is_deaf = True
        self._keep(b"")
        self.frames = []
        self.stop_keepalive()
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self._end_pause()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.read_paused = True
        self.transport.pause_reading()
        if self.close_timer is None:
            self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
