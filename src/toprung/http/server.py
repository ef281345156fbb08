"""The socket and the server process around the application."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import resource
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from toprung.errors import Invalid, Unavailable
from toprung.http.app import Service
from toprung.http.connection import HttpConnection
from toprung.http.holdings import Holder, Holdings, cut_off
from toprung.http.limits import Peers
from toprung.http.live.limits import LiveLimits
from toprung.http.live.protocol import LiveSocket, Malformed, tell_malformed
from toprung.http.proxies import ProxiedConnection, ProxiedSocket, Proxies
from toprung.http.settings import ServiceSettings
from toprung.http.transport import Tray
from toprung.senders.poster import files_max

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from starlette.types import ASGIApp

STOP_SECONDS_MAX: Final = 10
IDLE_SECONDS_MAX: Final = 60
TICKS_PER_CHECK: Final = 5
BACKLOG: Final = 2048
HEAD_SECONDS_MAX: Final = 10
"""For the head of a request to arrive."""
CONNECTIONS_MAX: Final = 50_000
FILES_KEPT: Final = 200
"""Open files that a service needs beside connections, generously."""
HELD_BYTES_MAX: Final = 128 * 1024 * 1024
"""Of all connections together: what callers have not taken yet, and what waits to be parsed."""
MESSAGE_BYTES_MAX: Final = 4 * 1024
"""Of a WebSocket message that a client sends."""


_log = logging.getLogger("toprung.http")


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free port."""
    address = parse_host(host)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        listener = socket.create_server((str(address), port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"port {port} is already in use; choose another one with --port"
            ) from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise Unavailable(f"cannot listen on {host}, port {port}: {reason}") from error
    # Connections inherit it. Some answers go out in two pieces, and the second must not wait.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # who takes nothing for so long is gone for good
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * IDLE_SECONDS_MAX)
    return listener


def parse_host(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address to listen on."""
    try:
        return ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise Invalid("host", f"{host!r} is not an IP address, nor localhost") from None


def affordable_connections() -> int:
    """How many connections the system lets this process have, once it has asked for more.

    A process that has run out of files cannot even refuse, so connections must run out first.
    """
    files = raise_file_limit()
    return max(1, files - FILES_KEPT - files_max(files))


def raise_file_limit() -> int:
    """Ask the system for as many open files as may be of use; how many this process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + FILES_KEPT + files_max(CONNECTIONS_MAX)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):  # some systems have limits that they do not tell
            wanted = soft
    if wanted < 2 * FILES_KEPT:
        _log.warning("the system lets this process have only %d open files", wanted)
    return wanted


def url_of(listener: socket.socket) -> str:
    """Where a browser finds the listener."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(
    app: ASGIApp,
    listener: socket.socket,
    *,
    proxies: Proxies | None = None,
    connections_per_address_max: int | None = None,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then answer what is under way.

    `on_stop` is called when the signal arrives.
    """
    config = server_config(app, proxies, affordable_connections(), connections_per_address_max)
    await _Server(config, on_stop).serve(sockets=[listener])


def server_config(
    app: ASGIApp,
    proxies: Proxies | None = None,
    connections_max: int = CONNECTIONS_MAX,
    connections_per_address_max: int | None = None,
) -> uvicorn.Config:
    """How the server runs: within bounds, and telling strangers nothing."""
    peers = Peers(connections_per_address_max, None if proxies is None else proxies.trusts)
    malformed: Malformed = tell_malformed
    tray, limits = Tray(), LiveLimits(ServiceSettings())
    if isinstance(app, Service):
        tray, limits, malformed = app.tray, app.state.live_limits, app.sockets.malformed
    shared: dict[str, Any] = {"tray": tray, "turns": limits.turns, "peers": peers}
    live: dict[str, Any] = {"limits": limits, "malformed": malformed}
    # uvicorn asks for classes and takes what makes their objects.
    shared["holdings"] = Holdings()
    http: Any = partial(HttpConnection, **shared)
    ws: Any = partial(LiveSocket, **live)
    if proxies is not None:
        http = partial(ProxiedConnection, **shared, proxies=proxies)
        ws = partial(ProxiedSocket, **live, proxies=proxies)
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        lifespan="off",
        interface="asgi3",
        http=http,
        ws=ws,
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_per_message_deflate=False,  # see `live.protocol`
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # see `proxies`
        limit_concurrency=connections_max,
        timeout_keep_alive=IDLE_SECONDS_MAX,
        timeout_graceful_shutdown=STOP_SECONDS_MAX,
    )


class _Server(uvicorn.Server):
    """uvicorn, which tells when it begins to stop, and does not raise the signal once more.

    It also looks at its connections now and then, and closes those whose next request has begun to
    arrive and does not end: one look at the clock for all costs less than a timer for each. And if
    callers who do not read fill the memory, those who hold the most are cut off.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        on_stop: Callable[[], None] | None,
        head_seconds_max: float = HEAD_SECONDS_MAX,
        held_bytes_max: int = HELD_BYTES_MAX,
    ) -> None:
        super().__init__(config)
        self._on_stop = on_stop
        self._head_seconds_max = head_seconds_max
        self._held_bytes_max = held_bytes_max

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; whether the server is to stop."""
        if counter % TICKS_PER_CHECK == 0:
            self._check_connections()
        return await super().on_tick(counter)

    def _check_connections(self) -> None:
        now, total = time.monotonic(), 0
        held: list[tuple[int, Holder]] = []
        connections: list[Any] = list(self.server_state.connections)
        for connection in connections:
            if isinstance(connection, HttpConnection):
                connection.give_up(now, self._head_seconds_max)
            elif not isinstance(connection, LiveSocket):
                continue
            if size := connection.held_bytes:
                held.append((size, connection))
                total += size
        if total > self._held_bytes_max:
            cut_off(held, total - self._held_bytes_max)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        if self._on_stop is not None:
            self._on_stop()
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # a server that was asked to stop has not failed
