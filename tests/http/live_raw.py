"""WebSockets byte by byte, as hostile clients speak them, and what others notice of it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.conftest import RunningService

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


def resident_bytes(service: RunningService, name: str = "VmRSS:") -> int:
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


class Waits:
    """How long somebody else waited, who asks all the time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    @property
    def longest(self) -> float:
        return max(self.seconds)


@contextmanager
def asking(url: str, path: str) -> Iterator[Waits]:
    """Somebody else asks for `path` all the time meanwhile."""
    waits, is_over = Waits(), threading.Event()

    def ask() -> None:
        with httpx2.Client(base_url=url, timeout=60) as http:
            while not is_over.is_set():
                begin = time.perf_counter()
                assert http.get(path).status_code == 200
                waits.seconds.append(time.perf_counter() - begin)
                time.sleep(0.005)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield waits
    finally:
        is_over.set()
        thread.join()
