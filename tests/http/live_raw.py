"""WebSockets byte by byte, as hostile clients speak them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

MEGABYTE = 1024 * 1024

TEXT, LAST_PART, CLOSE, PING, PONG = 0x81, 0x80, 0x88, 0x89, 0x8A
FIRST_PART, PART = 0x01, 0x00


def frame(head: int, data: bytes = b"") -> bytes:
    """A frame of a client, masked with zeros."""
    if len(data) < 126:
        return bytes([head, 0x80 | len(data), 0, 0, 0, 0]) + data
    return bytes([head, 0xFE]) + len(data).to_bytes(2, "big") + bytes(4) + data


def subscribe(name: str, **options: Any) -> bytes:
    """A subscription, as it is sent."""
    return frame(TEXT, json.dumps({"subscribe": {"id": name, **options}}).encode())


def opening(*headers: str) -> bytes:
    """The request that opens a WebSocket."""
    lines = [
        "GET /v1/live HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def open_raw(url: str, *headers: str, source: str = "127.0.0.1") -> socket.socket:
    """An open WebSocket, of which nobody reads what comes."""
    there = ("127.0.0.1", int(url.rpartition(":")[2]))
    raw = socket.create_connection(there, timeout=20, source_address=(source, 0))
    raw.sendall(opening(*headers))
    answer = raw.recv(4096)
    assert answer.startswith(b"HTTP/1.1 101 "), answer
    return raw


def frames(raw: socket.socket) -> Iterator[tuple[int, bytes]]:
    """What the service sends, frame by frame: the first byte, and the data."""
    with raw.makefile("rb") as stream:
        while len(head := stream.read(2)) == 2:
            size = head[1]
            if size >= 126:
                size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
            yield head[0], stream.read(size)


def close_of(raw: socket.socket) -> tuple[int, str]:
    """The code and the reason that the service closes with."""
    data = next(data for head, data in frames(raw) if head == CLOSE)
    return int.from_bytes(data[:2], "big"), data[2:].decode()
