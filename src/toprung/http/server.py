"""The socket and the server process around the application."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any, Final, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from toprung.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from starlette.types import ASGIApp

STOP_SECONDS_MAX: Final = 10
IDLE_SECONDS_MAX: Final = 60
BACKLOG: Final = 2048
JOINED_BYTES_MAX: Final = 64 * 1024
MESSAGE_BYTES_MAX: Final = 16 * 1024
"""Of a WebSocket message that a client sends."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free one."""
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
    # Connections inherit it. Answers go out in two pieces, and the second must not wait.
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


def url_of(listener: socket.socket) -> str:
    """Where a browser finds the listener."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(
    app: ASGIApp,
    listener: socket.socket,
    *,
    proxies: Sequence[str] = (),
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then answer what is under way.

    `on_stop` is called when the signal arrives. `proxies` are the addresses whose
    X-Forwarded-For is believed.
    """
    await _Server(server_config(app, proxies), on_stop).serve(sockets=[listener])


def server_config(app: ASGIApp, proxies: Sequence[str] = ()) -> uvicorn.Config:
    """How the server runs: within bounds, and telling strangers nothing."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        lifespan="off",
        http=JoinedHttp,
        ws="websockets-sansio",
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        server_header=False,
        date_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_keep_alive=IDLE_SECONDS_MAX,
        timeout_graceful_shutdown=STOP_SECONDS_MAX,
    )


class JoinedHttp(HttpToolsProtocol):
    """uvicorn's HTTP, with head and body of an answer sent in one piece: half the system calls."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection begins."""
        super().connection_made(cast(asyncio.Transport, _Joined(transport, self.loop)))


class _Joined:
    """A transport that holds the head of an answer back for the moment it takes to get a body."""

    __slots__ = ("_head", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send, or hold back what looks like the head of an answer."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head + data if len(data) <= JOINED_BYTES_MAX else head)
            if len(data) > JOINED_BYTES_MAX:
                self._transport.write(data)
        elif data.startswith(b"HTTP/1.1 2"):
            self._head = data
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Send what is held back, then close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            self.write(b"")


class _Server(uvicorn.Server):
    """uvicorn, which tells when it begins to stop, and does not raise the signal once more."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        if self._on_stop is not None:
            self._on_stop()
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # a server that was asked to stop has not failed
