"""What arrives on a connection: parsed a little at a time, in turns, within bounds.

Most requests arrive in one short piece and are parsed at once. What is longer is kept and parsed
one request at a time, so that nothing is parsed behind a request that has to wait for others. A
caller who sends many in a row gets its turn like all others (`Turns`): a turn ends after
`TURN_SECONDS`, or with the first request that has to wait. What is kept is counted, of all
connections together (`Holdings`).

The head of a request must end within `HEAD_BYTES_MAX`, and whatever frames a body (sizes and
extensions of chunks, trailers) within as many bytes again; trailers are dropped.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections import deque
from typing import Any, Final

import httptools

from toprung.http.framing import (
    CHUNK_BYTES,
    HEAD_BYTES_MAX,
    HEAD_TOO_LARGE,
    HEADERS_MAX,
    MALFORMED,
)
from toprung.http.holdings import Holdings
from toprung.http.limits import caller_of
from toprung.http.problems import Refused
from toprung.http.transport import Flow
from toprung.http.turns import TURN_SECONDS, Turns

PARSED_BYTES_MAX: Final = 1024
"""Parsed in one go; what is longer is parsed one request at a time."""
BODY_PARSED_BYTES_MAX: Final = 16 * 1024
"""Of a body of a known length, parsed in one go."""
REST_BYTES_MAX: Final = 16 * 1024 * 1024
"""Of a body that was answered before it ended: it is read to keep the connection, and dropped."""

_HEAD_END: Final = b"\r\n\r\n"


class Reading(asyncio.Protocol):
    """A connection as far as it reads. What requests come to is for who extends this."""

    flow: Flow
    client: tuple[str, int] | None = None
    """Who asks: where the connection comes from, or whom a proxy speaks for."""
    _url = b""
    _headers: list[tuple[bytes, bytes]]
    """Of the request that is being read, with names in lower case."""
    _asked: dict[bytes, bytes]
    """The same by name; of several with one name, the last."""
    _heads = 0
    """How many heads of requests have arrived."""
    _first = 0
    """Which head is the first of those that are being parsed in one go."""
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
    _unread = b""
    """What has arrived and is yet to be parsed; no more is received meanwhile."""
    _parsed = 0
    """How much of `_unread` is parsed already."""
    unparsed_bytes = 0
    """How much of `_unread` is counted among what all connections hold."""
    _has_asked = False
    """Whether it waits for a turn to parse on."""

    def __init__(self, connections: set[Any], turns: Turns, holdings: Holdings) -> None:
        self._connections = connections
        self._turns = turns
        self._holdings = holdings
        self._parser = httptools.HttpRequestParser(self)
        # What follows the last request is dropped here; to the parser it would be an error.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.pipeline: deque[Any] = deque()
        """Requests that wait for those before to be answered."""

    # --- what requests come to --------------------------------------------------------------------

    @abstractmethod
    def _begin_request(self) -> None:
        """The head of a request is complete."""

    @abstractmethod
    def _feed_body(self, body: bytes) -> None:
        """A piece of its body has arrived."""

    @abstractmethod
    def _end_request(self) -> None:
        """The request is complete."""

    @abstractmethod
    def _end_piece(self) -> None:
        """What has arrived so far is parsed, and a request may be incomplete."""

    @abstractmethod
    def _upgrade(self) -> None:
        """The request that is complete asked for another protocol."""

    @abstractmethod
    def _end(self, reason: Refused | None, *, counts: bool = True) -> None:
        """Have nothing more parsed."""

    @abstractmethod
    def _is_over(self) -> bool:
        """Whether that is so."""

    @abstractmethod
    def _is_cut_off(self) -> bool:
        """Whether too much was sent: the connection is closed."""

    @abstractmethod
    def _close_if_done(self) -> None:
        """Close, once everything is answered, if nothing can follow."""

    @abstractmethod
    def _is_body_wanted(self) -> bool:
        """Whether somebody waits for the body that is arriving."""

    # --- bytes ------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived."""
        if len(data) > PARSED_BYTES_MAX or self._unread or self.pipeline:
            self._unread, self._parsed = self._unread[self._parsed :] + data, 0
            self._parse_unread()
            return
        self._first = self._heads + 1
        self._parse(data)
        if self._is_in_body:
            self._end_piece()

    def _parse_unread(self) -> None:
        """Parse one request after the other, until the turn is over or one has to wait."""
        self._has_asked = False
        data, at, until = self._unread, self._parsed, time.perf_counter() + TURN_SECONDS
        if not data:  # the caller has gone meanwhile
            return
        while at < len(data) and not self.pipeline:
            stop = self._stop(data, at)
            self._first = self._heads + 1
            at = stop if self._parse(data[at:stop]) and not self._is_over() else len(data)
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
        self._count_unread(0)
        self._end_piece()
        self._close_if_done()
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
        if self._unread and not self.pipeline and not self._has_asked:
            self._has_asked = True
            self._turns.ask(caller_of(self.client), self._parse_unread)

    def _count_unread(self, size: int) -> None:
        """Tell how much waits to be parsed; this may be the connection that holds the most."""
        if size != self.unparsed_bytes:
            added, self.unparsed_bytes = size - self.unparsed_bytes, size
            self._holdings.note(added, self._connections)

    def _forget_unread(self) -> None:
        self._unread, self._parsed = b"", 0
        self._count_unread(0)

    def _forget_head(self) -> None:
        """Let go of the last head: it may be long, and connections may be idle for long."""
        self._url, self._headers, self._asked = b"", [], {}

    def _parse(self, data: bytes) -> bool:
        """Refuse what is no HTTP, and heads that do not end; whether it was HTTP."""
        heads, was_begun, body_bytes = self._heads, self._is_begun, self._body_bytes
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
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
        return True

    def _count_head(self, received: int) -> None:
        """Refuse a head that goes on and on."""
        self._unended_bytes += received
        if self._unended_bytes > HEAD_BYTES_MAX or len(self._headers) > HEADERS_MAX:
            self._end(HEAD_TOO_LARGE)

    def _count_body(self, received: int, body_bytes: int) -> None:
        """Refuse what frames a body, and the rest of one that was answered, if it goes on and on.

        The parser keeps a trailer's value until it ends, so it must end soon.
        """
        self._framing_bytes = max(0, self._framing_bytes + received - body_bytes)
        if self._framing_bytes > HEAD_BYTES_MAX:
            self._end(HEAD_TOO_LARGE)
        elif not self._is_body_wanted():
            self._unended_bytes += received
            if self._unended_bytes > REST_BYTES_MAX:
                self._end(None)

    # --- what the parser tells --------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        self._is_begun = True
        self._url = b""
        self._headers = []

    def on_url(self, url: bytes) -> None:
        """A piece of its target has arrived."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has arrived; or a trailer, which nobody asks for."""
        if self._is_begun:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._heads += 1
        self._is_begun, self._is_in_body = False, True
        self._received_bytes = 0
        self._asked = dict(self._headers)
        self._begin_request()

    def on_body(self, body: bytes) -> None:
        """A piece of a body has arrived."""
        size = len(body)
        self._received_bytes += size
        self._body_bytes += size + CHUNK_BYTES
        self._feed_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._is_in_body = False
        self._end_request()
