"""HTTP byte by byte, as clients that are slow, broken or hostile speak it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

HELLO = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
BYE = HELLO[:-2] + b"Connection: close\r\n\r\n"


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=20) as raw:
        yield raw


def post(board: str, body: bytes) -> bytes:
    """A submission, as it is sent."""
    head = f"POST /v1/boards/{board}/scores HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def until_closed(raw: socket.socket) -> bytes:
    """Everything that is sent before the connection ends."""
    received = b""
    try:
        while piece := raw.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def asked_once(url: str) -> bytes:
    """What a new connection is told, if anything."""
    with connected(url) as raw, suppress(ConnectionError):
        raw.sendall(BYE)
        return until_closed(raw)
    return b""


def answers(raw: socket.socket, count: int) -> bytes:
    """So many answers of `/healthz`."""
    received = b""
    while received.count(b'{"status":"ok"}') < count:
        piece = raw.recv(65536)
        assert piece, received
        received += piece
    return received


def ask_at_once(url: str, requests: Sequence[bytes]) -> list[bytes]:
    """What requests are answered that are all sent at the same moment, each on its connection."""
    begin = threading.Barrier(len(requests))

    def ask(request: bytes) -> bytes:
        with connected(url) as raw:
            raw.settimeout(120)
            begin.wait()
            raw.sendall(request + BYE)
            return until_closed(raw)

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(ask, requests))
