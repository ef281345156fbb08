"""The socket and the server process around the application."""

from __future__ import annotations

import errno
import ipaddress
import os
import signal
import socket
from typing import TYPE_CHECKING, NoReturn

import uvicorn

from toprung.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp

_STOP_SECONDS_MAX = 10


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on a loopback address; port 0 picks a free one.

    Other addresses are refused: there are no access keys yet, so whoever reaches the port may do
    everything.
    """
    address = _loopback(host)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        return socket.create_server((str(address), port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"port {port} is already in use; choose another one with --port"
            ) from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise Unavailable(f"cannot listen on {host}, port {port}: {reason}") from error


def url_of(listener: socket.socket) -> str:
    """Where a browser finds the listener."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, then answer what is under way and leave with exit code 0."""
    # uvicorn stops gracefully on these signals and then raises them once more for whoever listened
    # before it. By then the work is done, and a server that was asked to stop has not failed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS_MAX,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise Invalid(
            "host",
            f"{host} is not a loopback address; Toprung has no access keys yet, so it listens"
            " on this machine only (127.0.0.1, ::1 or localhost)",
        )
    return address
