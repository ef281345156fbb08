"""One connection: uvicorn's HTTP within bounds that uvicorn does not set, and with less ado.

uvicorn reads heads of any size for any time. Here the head of a request must end within
`HEAD_BYTES_MAX` and some seconds, and whatever frames a body (sizes and extensions of chunks,
trailers) within as many bytes again; trailers are dropped. The server looks at all connections now
and then (`give_up`), so a request that arrives at once, as nearly all do, pays nothing for it.

Which heads are refused, once they are complete, is told in `framing`.

An application may have a method `at_once`: it is given a GET or POST request that has arrived
whole, and returns the answer; or, if that has to wait, itself as an `Underway`; or None. Where it
answers, the request needs no task, no events and no messages, which together cost about as much as
the answer itself. Whatever is not plain (other methods, upgrades, bodies that come in pieces, a
client that does not read, requests that still wait for their answers) goes the usual way, so
answers keep their order.
Requests that wait behind others are few: nothing more is read or parsed until they are being
served. A caller who sends many in a row gets its turn like all others (`Turns`): a turn ends after
`TURN_SECONDS`, or with the first request that has to wait for another. What has been received and
waits to be parsed is counted, of all connections together (`Holdings`). Only behind a stream, which
may have no end, reading goes on, to see that the caller has gone; what it sends must be short.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, cast

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from toprung.http.answers import CLOSE
from toprung.http.framing import (
    CHUNK_BYTES,
    HEAD_BYTES_MAX,
    HEAD_TOO_LARGE,
    HEAD_TOO_SLOW,
    HEADERS_MAX,
    MALFORMED,
    refused_head,
    refused_line,
)
from toprung.http.holdings import Holdings
from toprung.http.limits import Peers, caller_of
from toprung.http.problems import Refused, problem
from toprung.http.transport import Flow, Joined, Tray
from toprung.http.turns import TURN_SECONDS, Turns
from toprung.http.underway import Reply, Underway

AtOnce = Callable[[str, bytes, dict[bytes, bytes], bytes, Any], Reply | Underway | None]

REST_BYTES_MAX: Final = 16 * 1024 * 1024
"""Of a body that was answered before it ended: it is read to keep the connection, and dropped."""
READ_SECONDS_MAX: Final = 60.0
"""For a caller to take anything at all of an answer that waits for it."""
BEHIND_STREAM_BYTES_MAX: Final = 16 * 1024
"""Sent behind a request that is answered with a stream: nobody does so who waits for its end."""
PARSED_BYTES_MAX: Final = 1024
"""Parsed in one go; what is longer is parsed one request at a time."""
BODY_PARSED_BYTES_MAX: Final = 16 * 1024
"""Of a body of a known length, parsed in one go."""

_PLAIN_METHODS: Final = {b"GET": "GET", b"POST": "POST"}
_UNPLAIN: Final = frozenset({b"connection", b"expect", b"upgrade"})
"""Headers of requests that have to be looked at closely."""
_HEAD_END: Final = b"\r\n\r\n"

_TOO_MANY = Refused(
    503,
    "unavailable",
    "there are too many connections",
    headers=((b"retry-after", b"1"),),
    close=True,
)


class HttpConnection(HttpToolsProtocol):
    """A connection that speaks HTTP, until it becomes a WebSocket."""

    cycle: RequestResponseCycle | Underway | None  # type: ignore[assignment]
    _heads = 0
    """How many heads of requests have arrived."""
    _is_begun = False
    """Whether one more has begun to arrive."""
    _is_in_body = False
    """Whether what arrives belongs to a request whose head has ended."""
    _received_bytes = 0
    """Of the body of that request."""
    _unended_bytes = 0
    """Of the head that has begun, or of a body whose answer is not waiting for it."""
    _framing_bytes = 0
    """Received since the last head ended that were neither body nor head."""
    _body_bytes = 0
    """Of all bodies so far, and `CHUNK_BYTES` for each piece of them."""
    _first = 0
    """Which head is the first of those that are being parsed in one go."""
    _served: RequestResponseCycle | None = None
    """The last request that uvicorn began to serve; others may have queued up behind it."""
    _is_answered = False
    """Whether the request that is being read was answered at once."""
    _asked: dict[bytes, bytes]
    """The headers of the request that is being read; of several with one name, the last."""
    _held: list[bytes] | None = None
    """The body so far of a request that may yet prove to have arrived whole."""
    _unread = b""
    """What has arrived and is yet to be parsed; no more is received meanwhile."""
    _parsed = 0
    """How much of `_unread` is parsed already."""
    _counted_bytes = 0
    """How much of `_unread` is counted among what all connections hold."""
    _has_asked = False
    """Whether it waits for a turn to parse on."""
    _has_ended = False
    """Whether the caller sends no more."""
    _is_refused = False
    """Whether nothing more is parsed: the connection ends when all before is answered."""
    _is_ending = False
    """Whether either is the case."""
    _last_words: Refused | None = None
    """What is said then."""
    _seen = (0, 0.0)
    """`_heads` at the last looks, and since when it has been that."""
    _waiting = (0, 0.0)
    """The bytes that the caller does not take, and since when it has been that many."""

    _counted_as: str | None = None
    """The name under which it is counted; see `Peers`."""

    def __init__(
        self,
        *args: Any,
        tray: Tray,
        turns: Turns,
        peers: Peers,
        holdings: Holdings,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._tray = tray
        self._turns = turns
        self._peers = peers
        self._holdings = holdings
        # uvicorn would refuse requests, of those who are connected already.
        self._connections_max, self.limit_concurrency = self.limit_concurrency, None
        self._at_once: AtOnce | None = getattr(self.app, "at_once", None)
        self._count_refused: Callable[[Any], None] | None = getattr(self.app, "count_refused", None)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection begins, unless there are too many, in all or from where it comes."""
        self._seen = (0, time.monotonic())
        joined = Joined(transport, self._tray, self.loop)
        super().connection_made(cast(asyncio.Transport, joined))
        self.flow = Flow(self.transport, self._has_enough, self._must_listen)
        if self._connections_max is not None and len(self.connections) > self._connections_max:
            self._end(_TOO_MANY, counts=False)
            return
        try:
            self._counted_as = self._peers.enter(self.client)
        except Refused as too_many:
            self._end(too_many, counts=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """The caller has gone: uvicorn tells the last request, and here the one that is served."""
        super().connection_lost(exc)
        self._leave()
        served, self._served, self.cycle = self._served, None, None
        self._unread, self._held = b"", None
        self._count_unread(0)
        self.pipeline.clear()
        if served is not None:
            served.disconnected = True
            served.message_event.set()

    def _leave(self) -> None:
        self._peers.leave(self._counted_as)
        self._counted_as = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived."""
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None
        if len(data) > PARSED_BYTES_MAX or self._unread or self.pipeline:
            self._unread, self._parsed = self._unread[self._parsed :] + data, 0
            self._parse_unread()
            return
        self._first = self._heads + 1
        self._parse(data)
        if self._held is not None:  # its body comes in pieces
            self._serve_as_usual()

    def _parse_unread(self) -> None:
        """Parse one request after the other, until the turn is over or one has to wait."""
        self._has_asked = False
        data, at, until = self._unread, self._parsed, time.perf_counter() + TURN_SECONDS
        if not data:  # the caller has gone meanwhile
            return
        while at < len(data) and not self.pipeline:
            stop = self._stop(data, at)
            self._first = self._heads + 1
            at = stop if self._parse(data[at:stop]) else len(data)
            if time.perf_counter() > until:
                break
        if at < len(data):
            self._parsed = at
            self._go_on()
            self._count_unread(len(data))
            if not self._is_cut_off():
                self.flow.pause_reading()
            return
        self._unread, self._parsed = b"", 0
        if self._counted_bytes:
            self._count_unread(0)
        if self._held is not None:
            self._serve_as_usual()
        if self._has_ended:
            self._close_if_done()
        else:
            self.flow.resume_reading()

    def _stop(self, data: bytes, at: int) -> int:
        """Where the piece ends that is parsed next: after the next head, if that ends soon.

        What looks like the end of a head within a body is none: a body may consist of them.
        """
        if self._is_in_body:
            declared = self._asked.get(b"content-length")
            if declared is None:
                return at + PARSED_BYTES_MAX
            left = int(declared) - self._received_bytes
            if left > PARSED_BYTES_MAX:
                return at + min(left, BODY_PARSED_BYTES_MAX)
            at += left
        stop = data.find(_HEAD_END, at, at + PARSED_BYTES_MAX)
        return at + PARSED_BYTES_MAX if stop < 0 else stop + len(_HEAD_END)

    def _go_on(self) -> None:
        """Have the rest of what has arrived parsed, if nothing that was is still to be served."""
        if self._unread and not self.pipeline:
            self._unset_keepalive_if_required()  # the caller is not idle: more is here already
            if not self._has_asked:
                self._has_asked = True
                self._turns.ask(caller_of(self.client), self._parse_unread)

    def _count_unread(self, size: int) -> None:
        """Tell how much waits to be parsed; this may be the connection that holds the most."""
        added, self._counted_bytes = size - self._counted_bytes, size
        self._holdings.note(added, self.connections)

    def _is_cut_off(self) -> bool:
        """Whether too much was sent, by this caller behind a stream or by all together."""
        waiting = len(self._unread) - self._parsed
        if waiting > BEHIND_STREAM_BYTES_MAX and self._is_streaming():
            self.cut_off()
        return self.transport.is_closing()

    def _is_streaming(self) -> bool:
        """Whether the answer that is being sent comes in pieces, perhaps without end."""
        served = self._served
        return served is not None and bool(served.chunked_encoding) and not served.response_complete

    def _must_listen(self) -> bool:
        """Whether to read on although there is enough to do, to see when the caller has gone."""
        return bool(self.pipeline or self._unread) and self._is_streaming()

    def _has_enough(self) -> bool:
        """Whether there is something to do before more is received."""
        if self.pipeline or self._unread:
            return not self._is_streaming()
        if self._is_refused:
            return True
        cycle = self.cycle
        return (
            isinstance(cycle, RequestResponseCycle)
            and len(cycle.body) > HIGH_WATER_LIMIT  # uvicorn has paused: nobody takes it
            and not cycle.response_complete
        )

    def _parse(self, data: bytes) -> bool:
        """Refuse what is no HTTP, and heads that do not end; whether more can follow."""
        heads, was_begun, body_bytes = self._heads, self._is_begun, self._body_bytes
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self._held = None
            self._end(MALFORMED)
            return False
        except httptools.HttpParserUpgrade:
            self._upgrade()
            return False
        if self._heads != heads or (self._is_begun and not was_begun):
            self._unended_bytes = self._framing_bytes = 0
        elif was_begun:
            self._count_head(len(data))
        else:
            self._count_body(len(data), self._body_bytes - body_bytes)
        return not (self._is_refused or self.transport.is_closing())

    def eof_received(self) -> bool:  # type: ignore[override]
        """The caller sends no more; whether there is still something to answer."""
        cast(Joined, self.transport).flush()  # False, below, has the loop close it
        if self._is_streaming():
            return False
        self._drop_unended()
        self._has_ended = self._is_ending = True
        if self._is_done():
            return False
        if self.cycle is not None and not self._unread:
            self.cycle.keep_alive = False
        return True

    def _drop_unended(self) -> None:
        """Have the request that is being read, and will never be whole, not wait for its turn."""
        if self.pipeline and self.pipeline[0][0].more_body:  # the last to come
            self.pipeline.popleft()

    def _is_done(self) -> bool:
        """Whether every request that is whole was answered."""
        if self.pipeline or self._unread:
            return False
        served, cycle = self._served, self.cycle
        if isinstance(cycle, Underway) and not cycle.response_complete:
            return False
        return served is None or served.response_complete or served.more_body

    def _close_if_done(self) -> None:
        """Close, once everything is answered, where nothing can follow."""
        if not (self._is_done() and not self.transport.is_closing()):
            return
        if self._last_words is not None:
            reason = self._counted(self._last_words)
            cast(Joined, self.transport).write_whole(problem(reason).whole())
        self.transport.close()

    def _upgrade(self) -> None:
        """Become a WebSocket, if that is what was asked for and nothing comes before."""
        if self.transport.is_closing():
            return
        if self._should_upgrade() and not self._is_busy():
            self._leave()  # live connections are counted by `LiveLimits`
            self.handle_websocket_upgrade()
        elif self.cycle is not None:  # answered as if it had not asked; nothing can follow
            self.cycle.keep_alive = False

    def _count_head(self, received: int) -> None:
        """Refuse a head that goes on and on."""
        self._unended_bytes += received
        if self._unended_bytes > HEAD_BYTES_MAX or len(self.headers) > HEADERS_MAX:
            self._end(HEAD_TOO_LARGE)

    def _count_body(self, received: int, body_bytes: int) -> None:
        """Refuse what frames a body, and the rest of one that was answered, if it goes on and on.

        The parser keeps a trailer's value until it ends, so it must end soon.
        """
        self._framing_bytes = max(0, self._framing_bytes + received - body_bytes)
        if self._framing_bytes > HEAD_BYTES_MAX:
            self._end(HEAD_TOO_LARGE)
        elif not self._is_busy() or self._has_begun_to_answer():
            self._unended_bytes += received
            if self._unended_bytes > REST_BYTES_MAX:
                self._end(None)

    def on_message_begin(self) -> None:
        """A request begins; uvicorn's own preparations wait until they are needed."""
        self._is_begun = True
        self.url = b""
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has arrived; or a trailer, which nobody asks for."""
        if self._is_begun:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """A head is complete: a plain request is a moment later, or not within these bytes."""
        self._heads += 1
        self._is_begun, self._is_in_body = False, True
        self._received_bytes = 0
        self._is_answered = self._is_refused or self.transport.is_closing()
        if self._is_answered:  # the last answer said that nothing follows
            return
        self._asked = dict(self.headers)
        refusal = refused_head(self.headers, self._asked)
        if refusal is not None:
            self._is_answered = True
            self._end(refusal)
        elif self._is_plain():
            self._held = []
        else:
            self._serve_as_usual()

    def on_body(self, body: bytes) -> None:
        """A piece of a body has arrived."""
        size = len(body)
        self._received_bytes += size
        self._body_bytes += size + CHUNK_BYTES
        if self._held is not None:
            self._held.append(body)
        elif not self._is_answered:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._is_in_body = False
        if self._held is not None:
            if self._serve_at_once(b"".join(self._held)):
                self._held = None
                return
            self._serve_as_usual()
        if not self._is_answered:
            super().on_message_complete()

    def _is_plain(self) -> bool:
        """Whether the request might be answered at once."""
        if self._at_once is None or self._is_busy() or self.flow.write_paused:
            return False
        if self._heads != self._first:  # others have their turn before it
            return False
        parser = self.parser
        if not parser.should_keep_alive() or parser.get_method() not in _PLAIN_METHODS:
            return False
        return _UNPLAIN.isdisjoint(self._asked) or (
            parser.get_http_version() == "1.1"
            and b"expect" not in self._asked
            and not parser.should_upgrade()
        )

    def _serve_at_once(self, body: bytes) -> bool:
        """Answer, or begin to, without ado; whether the application was willing."""
        assert self._at_once is not None, "only plain requests get here"
        method = _PLAIN_METHODS[self.parser.get_method()]
        served = self._at_once(method, self.url, self._asked, body, self.client)
        if served is None:
            return False
        self._is_answered = True
        if isinstance(served, Underway):
            self.cycle = served
            served.then(self._reply)
        else:
            self._reply(served)
        return True

    def _reply(self, reply: Reply, *, keep_alive: bool = True) -> None:
        """Send the whole answer to a request that was served at once."""
        answer, extra = reply
        self.server_state.total_requests += 1
        transport = cast(Joined, self.transport)
        if transport.is_closing():
            return
        if not keep_alive and not answer.closes:
            extra += (CLOSE,)
        transport.write_whole(answer.whole(extra))
        if not keep_alive or answer.closes:
            transport.close()
        elif self.pipeline:
            super().on_response_complete()
            self._go_on()
        elif self._is_ending:
            self._close_if_done()

    def _serve_as_usual(self) -> None:
        """Have uvicorn serve the request, whose head is complete."""
        url, headers = self.url, self.headers
        refusal = refused_line(self.parser.get_http_version(), url, self._asked)
        if refusal is not None:
            self._held, self._is_answered = None, True
            self._end(refusal)
            return
        super().on_message_begin()
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        held, self._held = self._held, None
        try:
            super().on_headers_complete()
        except (httptools.HttpParserError, AttributeError, ValueError):  # the address is none
            self._is_answered = True
            self._end(MALFORMED)
            return
        for piece in held or ():
            super().on_body(piece)

    def on_response_complete(self) -> None:
        """The answer is complete: nothing of it is held back."""
        cast(Joined, self.transport).end_answer()
        super().on_response_complete()
        self._go_on()
        if self._is_ending:
            self._close_if_done()

    @property
    def unsent_bytes(self) -> int:
        """Of answers, that the caller does not take; 0 as long as it takes what it gets."""
        return self.transport.get_write_buffer_size() if self.flow.write_paused else 0

    @property
    def unparsed_bytes(self) -> int:
        """Received, and waiting to be parsed."""
        return self._counted_bytes

    @property
    def is_stuck(self) -> bool:
        """Whether what was received waits for an answer that is not complete, not for a turn."""
        return not self._has_asked

    @property
    def held_bytes(self) -> int:
        """Kept in memory: answers that are not taken, heads and bodies that are not whole."""
        held = self._counted_bytes + (self._unended_bytes if self._is_begun else 0)
        if self.flow.write_paused:
            held += self.transport.get_write_buffer_size()
        return held

    def cut_off(self) -> None:
        """Close the connection at once, and let go of what it holds."""
        self._unread, self._parsed = b"", 0
        self._count_unread(0)
        self.transport.abort()

    def give_up(self, now: float, head_seconds_max: float) -> None:
        """Close a connection that has waited too long: for a head, or to be read."""
        if self._is_unread(now):
            self.transport.abort()
            return
        if self._unread and not self._is_cut_off():
            self.flow.resume_reading()  # if a stream has begun meanwhile
        heads, since = self._seen
        if self._heads != heads or self._is_busy():
            self._seen = (self._heads, now)
        elif self._is_begun or not self._heads:
            if now - since > head_seconds_max:
                self._end(HEAD_TOO_SLOW if self._is_begun else None)
        elif now - since > self.timeout_keep_alive:
            self._end(None)

    def _is_unread(self, now: float) -> bool:
        """Whether the caller has for too long taken nothing of what waits for it."""
        waiting = self.unsent_bytes
        before, since = self._waiting
        if not waiting or waiting != before:
            self._waiting = (waiting, now)
            return False
        return now - since > READ_SECONDS_MAX

    def _is_busy(self) -> bool:
        """Whether a request waits for its answer."""
        return self.cycle is not None and not self.cycle.response_complete

    def _has_begun_to_answer(self) -> bool:
        return isinstance(self.cycle, RequestResponseCycle) and self.cycle.response_started

    def _may_refuse(self) -> bool:
        """Whether a refusal would be the answer to the request that is being read, and no other."""
        cycle = self.cycle
        return not self._is_busy() or (
            isinstance(cycle, RequestResponseCycle)
            and cycle is self._served
            and cycle.more_body
            and not cycle.response_started
        )

    def _end(self, reason: Refused | None, *, counts: bool = True) -> None:
        """Say why, unless another answer is due first; and close.

        `counts`: as a request of the caller's address, like those that are refused later.
        """
        if self.transport.is_closing() or self._is_refused:
            return
        if self._owes_answers():
            self._end_later(reason)
            return
        if reason is not None and self._may_refuse():
            reason = self._counted(reason) if counts else reason
            cast(Joined, self.transport).write_whole(problem(reason).whole())
        self.transport.close()

    def _owes_answers(self) -> bool:
        """Whether others that came whole wait for an answer, which comes to an end."""
        return self._is_busy() and not (self._may_refuse() or self._is_streaming())

    def _end_later(self, reason: Refused | None) -> None:
        """Receive nothing more, answer what was complete, then say why, and close."""
        self._is_refused = self._is_ending = True
        self._last_words = reason
        self._drop_unended()
        self.flow.pause_reading()

    def _counted(self, reason: Refused) -> Refused:
        """The reason; or that there were too many requests."""
        try:
            if self._count_refused is not None:
                self._count_refused(self.client)
        except Refused as too_many:
            status, slug, headers = too_many.status, too_many.slug, too_many.headers
            return Refused(status, slug, str(too_many), headers=headers, close=True)
        return reason
