"""One connection: HTTP/1.1 on httptools, for uvicorn's option `http`.

`reading` parses what arrives; here requests are answered, in order. There are two ways. A request
of a *hot* route that has arrived whole is answered where it was parsed: the application's `at_once`
is given it and returns the answer; or, if that has to wait, an `Underway`; or None. Such a request
needs no task, no events and no messages, which together cost about as much as the answer itself.
Everything else (other methods, upgrades, bodies in pieces, a caller who does not read, requests
behind one that is not answered yet) is served as ASGI, by an `Exchange` in a task.

One request is served at a time; the few that were parsed with it wait in the `pipeline`, and
nothing more is read or parsed until they are being served.

How a connection ends is told in `ending`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from toprung.http.answers import CLOSE
from toprung.http.ending import Ending
from toprung.http.exchange import Exchange, failure_of, scope_of
from toprung.http.framing import MALFORMED, refused_head, refused_line
from toprung.http.holdings import Holdings
from toprung.http.limits import Peers
from toprung.http.problems import Refused, problem
from toprung.http.reading import PARSED_BYTES_MAX, REST_BYTES_MAX
from toprung.http.transport import Flow, Joined, Tray, address_of
from toprung.http.turns import Turns
from toprung.http.underway import Reply, Underway

__all__ = ["PARSED_BYTES_MAX", "REST_BYTES_MAX", "HttpConnection"]

AtOnce = Callable[[str, bytes, dict[bytes, bytes], bytes, Any], Reply | Underway | None]

_PLAIN_METHODS: Final = {b"GET": "GET", b"POST": "POST"}
_UNPLAIN: Final = frozenset({b"connection", b"expect", b"upgrade"})
"""Headers of requests that have to be looked at closely."""

_TOO_MANY = Refused(
    503,
    "unavailable",
    "there are too many connections",
    headers=((b"retry-after", b"1"),),
    close=True,
)


class HttpConnection(Ending):
    """A connection that speaks HTTP, until it becomes a WebSocket."""

    _counted_as: str | None = None
    """The name under which it is counted; see `Peers`."""

    def __init__(
        self,
        config: Any,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        tray: Tray,
        turns: Turns,
        peers: Peers,
        holdings: Holdings,
    ) -> None:
        super().__init__(server_state.connections, turns, holdings)
        self._config = config
        self._state = server_state
        self._app_state = app_state
        self._loop = _loop or asyncio.get_running_loop()
        self._tray = tray
        self._peers = peers
        self._app = config.loaded_app
        self._at_once: AtOnce | None = getattr(self._app, "at_once", None)

    # --- the connection ---------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection begins, unless there are too many, in all or from where it comes."""
        self._seen = (0, False, time.monotonic())
        self.transport = Joined(transport, self._tray, self._loop)
        self.flow = Flow(transport, self._has_enough, self._must_listen)
        self.client = address_of(transport.get_extra_info("peername"))
        self._connections.add(self)
        connections_max = self._config.limit_concurrency
        if connections_max is not None and len(self._connections) > connections_max:
            self._end(_TOO_MANY, counts=False)
            return
        try:
            self._counted_as = self._peers.enter(self.client)
        except Refused as too_many:
            self._end(too_many, counts=False)

    def connection_lost(self, _exc: Exception | None) -> None:
        """The caller has gone; what it wrote is done all the same, what it read is not."""
        self._leave()
        self._forget_unread()
        self._forget_head()
        self._held = self._incoming = None
        self.pipeline.clear()
        served, self.served = self.served, None
        if isinstance(served, Exchange):
            served.disconnect()
        elif served is not None and served.is_read:
            served.cancel()
        self.flow.resume_writing()

    def _leave(self) -> None:
        self._connections.discard(self)
        self._peers.leave(self._counted_as)
        self._counted_as = None

    def pause_writing(self) -> None:
        """The caller takes less than it is sent."""
        self.flow.pause_writing()

    def resume_writing(self) -> None:
        """The caller has taken most of it."""
        self.flow.resume_writing()

    # --- a request arrives ------------------------------------------------------------------------

    def _begin_request(self) -> None:
        """A plain request is complete a moment later, or not within these bytes."""
        self._is_dropped = self._is_refused or self.transport.is_closing()
        if self._is_dropped:  # the last answer said that nothing follows
            return
        refusal = refused_head(self._headers, self._asked)
        if refusal is not None:
            self._refuse_request(refusal)
        elif self._is_plain():
            self._held = []
        else:
            self._serve_as_usual()

    def _feed_body(self, body: bytes) -> None:
        if self._held is not None:
            self._held.append(body)
        elif not self._is_dropped and self._incoming is not None:
            self._incoming.feed(body)
            if self._incoming.is_filled:
                self.flow.pause_reading()

    def _end_request(self) -> None:
        if self._held is not None:
            if self._serve_at_once(b"".join(self._held)):
                self._held, self._is_dropped = None, True
                return
            self._serve_as_usual()
        if not self._is_dropped and self._incoming is not None:
            self._incoming.end_body()

    def _end_piece(self) -> None:
        if self._held is not None:  # its body comes in pieces
            self._serve_as_usual()

    def _is_plain(self) -> bool:
        """Whether the request might be answered at once."""
        if self._at_once is None or self.served is not None or self.flow.write_paused:
            return False
        if self._heads != self._first:  # others have their turn before it
            return False
        parser = self._parser
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
        method = _PLAIN_METHODS[self._parser.get_method()]
        served = self._at_once(method, self._url, self._asked, body, self.client)
        if served is None:
            return False
        if isinstance(served, Underway):
            self.served = served
            served.then(self._finish)
        else:
            self._reply(served)
        return True

    def _serve_as_usual(self) -> None:
        """Have the request, whose head is complete, served when its turn comes."""
        held, self._held = self._held, None
        parser, asked = self._parser, self._asked
        version, method = parser.get_http_version(), parser.get_method().decode("ascii")
        refusal = refused_line(version, self._url, asked)
        if refusal is not None:
            self._refuse_request(refusal)
            return
        if self._asks_for_websocket():  # see `_upgrade`
            self._is_dropped = True
            return
        scope = scope_of(method, version, self._url, self._headers, self.client, self._server)
        if scope is None:
            self._refuse_request(MALFORMED)
            return
        expects = version == "1.1" and asked.get(b"expect", b"").lower() == b"100-continue"
        keep_alive = version == "1.1" and parser.should_keep_alive()
        exchange = self._incoming = Exchange(
            scope,
            self.transport,
            self.flow,
            self._answered,
            keep_alive=keep_alive,
            expects_continue=expects,
        )
        for piece in held or ():
            exchange.feed(piece)
        if self.served is None:
            self._start(exchange)
        else:
            self.pipeline.append(exchange)
            self.flow.pause_reading()

    def _refuse_request(self, reason: Refused) -> None:
        self._is_dropped = True
        self._end(reason)

    @property
    def _server(self) -> tuple[str, int] | None:
        return address_of(self.transport.get_extra_info("sockname"))

    # --- an answer goes out -----------------------------------------------------------------------

    def _start(self, exchange: Exchange) -> None:
        self.served = exchange
        task = exchange.task = self._loop.create_task(exchange.run(self._app))
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def _finish(self, underway: Underway, answer: Any, error: BaseException | None) -> None:
        """A hot route's handler has ended: with an answer, unless it was cancelled."""
        self._state.tasks.discard(underway)
        reply = underway.finish(answer) if error is None else (problem(failure_of(error)), ())
        self._reply(reply, keep_alive=underway.keep_alive)

    def _reply(self, reply: Reply, *, keep_alive: bool = True) -> None:
        """Send the whole answer of a hot route."""
        answer, extra = reply
        self._state.total_requests += 1
        self.served = None
        if self.transport.is_closing():
            return
        closes = bool(answer.headers) and answer.closes
        if not (keep_alive or closes):
            closes, extra = True, (*extra, CLOSE)
        self.transport.write_whole(answer.whole(extra))
        if closes:
            self.transport.close()
        elif self.pipeline or self._unread or self._is_ending or self.flow.read_paused:
            self._serve_next()

    def _answered(self) -> None:
        """The answer of an exchange is complete."""
        self._state.total_requests += 1
        exchange, self.served = self.served, None
        self.transport.end_answer()
        if isinstance(exchange, Exchange) and not exchange.keep_alive:
            self.transport.close()
        if not self.transport.is_closing():
            self._serve_next()

    def _serve_next(self) -> None:
        """Serve the next request, or have more of them parsed; close if there will be none."""
        if self.pipeline:
            self._start(self.pipeline.popleft())
        self.flow.resume_reading()
        self._go_on()
        self._close_if_done()

    # --- WebSockets -------------------------------------------------------------------------------

    def _asks_for_websocket(self) -> bool:
        return (
            self._parser.should_upgrade()
            and self._asked.get(b"upgrade", b"").lower() == b"websocket"
            and self._config.ws_protocol_class is not None
        )

    def _upgrade(self) -> None:
        """Become a WebSocket, if that is what was asked for and nothing comes before."""
        if self.transport.is_closing():
            return
        if self._asks_for_websocket() and self.served is None:
            self._leave()  # live connections are counted by `LiveLimits`
            lines = [b"%s %s HTTP/1.1\r\n" % (self._parser.get_method(), self._url)]
            lines += [b"%s: %s\r\n" % header for header in self._headers]
            protocol = self._config.ws_protocol_class(
                config=self._config, server_state=self._state, app_state=self._app_state
            )
            protocol.connection_made(self.transport)
            protocol.data_received(b"".join(lines) + b"\r\n")
            self.transport.set_protocol(protocol)
        else:  # answered as if it had not asked; nothing can follow
            self.shutdown()
