"""A real server on a real socket that does what real servers do on a bad day."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

import msgspec

Act = Callable[[socket.socket], None]


class Received(msgspec.Struct):
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Script:
    """What the server does with one request after the other; each has a connection of its own."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.acts: deque[Act] = deque()

    def answer(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer in full."""
        self.acts.append(
            lambda connection: connection.sendall(head(status, headers, len(body)) + body)
        )

    def half(self, status: int, body: bytes) -> None:
        """Announce a body, send half of it, and hang up."""
        text = head(status, None, len(body)) + body[: len(body) // 2]
        self.acts.append(lambda connection: connection.sendall(text))

    def stream(self, *pieces: bytes) -> None:
        """Send events, and hang up."""

        def act(connection: socket.socket) -> None:
            kind = {"content-type": "text/event-stream", "connection": "close"}
            connection.sendall(head(200, kind, None))
            for piece in pieces:
                connection.sendall(piece)

        self.acts.append(act)

    def reset(self) -> None:
        """Read the request, then reset the connection."""
        self.acts.append(_reset)

    def say(self, text: bytes) -> None:
        """Send these bytes, whatever they are, and hang up."""
        self.acts.append(lambda connection: connection.sendall(text))


def head(status: int, headers: Mapping[str, str] | None, length: int | None) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if length is not None:
        lines += [f"content-length: {length}", "connection: close"]
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def misbehaving(script: Script) -> Iterator[str]:
    """The address of a server that follows the script."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, script))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, script: Script) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            connection.settimeout(10)
            received = _read(connection)
            if received is None:
                continue
            script.requests.append(received)
            if script.acts:
                script.acts.popleft()(connection)


def _read(connection: socket.socket) -> Received | None:
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(65536)
        if not piece:
            return None
        text += piece
    start, _, body = text.partition(b"\r\n\r\n")
    first, *lines = start.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Received(method, target, headers, body)


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
