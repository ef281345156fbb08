"""Requests that follow others on one connection: how many are read, and when none is served."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx2
import pytest

from tests.conftest import RunningService, StartService
from tests.http.raw import BYE, HELLO, connected, post, until_closed
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung.http.connection import PARSED_BYTES_MAX, HttpConnection
from toprung.http.exchange import BODY_BYTES_MAX
from toprung.http.framing import HEAD_BYTES_MAX
from toprung.http.server import HEAD_SECONDS_MAX, IDLE_SECONDS_MAX
from toprung.http.settings import ServiceSettings
from toprung.http.underway import Underway

SUBMISSION = post("blitz", b'{"player":"ann","score":5}')


@contextmanager
def nothing_recorded(serving: Serving) -> Iterator[None]:
    """While this lasts, submissions stay under way."""
    begun, over = threading.Event(), threading.Event()
    journal: Any = serving.service.state.boards._journal

    def wait() -> None:
        begun.set()
        over.wait()

    thread = threading.Thread(target=journal.paused, args=(wait,))
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_nothing_is_read_while_requests_queue_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []

    class Watched(HttpConnection):
        def data_received(self, data: bytes) -> None:
            reads.append(len(self.pipeline))
            super().data_received(data)

    monkeypatch.setattr("toprung.http.server.HttpConnection", Watched)
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        with connected(running.url) as raw:
            sender = threading.Thread(target=raw.sendall, args=(SUBMISSION * 5000 + BYE,))
            sender.start()
            received = until_closed(raw)
            sender.join()
    assert received.count(b"HTTP/1.1 200 OK") == 5001
    assert len(reads) > 2
    assert set(reads) == {0}


@pytest.mark.parametrize(
    ("asked", "status"), [(b"/nowhere", b"404"), (b"/v1/boards/blitz/standings/ann", b"200")]
)
def test_many_requests_in_one_segment_take_turns_with_others(
    monkeypatch: pytest.MonkeyPatch, asked: bytes, status: bytes
) -> None:
    queued: list[int] = []

    class Watched(HttpConnection):
        def _parse_unread(self) -> None:
            super()._parse_unread()
            queued.append(len(self.pipeline))

    monkeypatch.setattr("toprung.http.server.HttpConnection", Watched)
    request = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % asked
    number = 50 * PARSED_BYTES_MAX // len(request)
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.post("/v1/boards/blitz/scores", json={"player": "ann", "score": 1})
        with connected(running.url) as raw:
            sender = threading.Thread(target=raw.sendall, args=(request * number + BYE,))
            sender.start()
            received = until_closed(raw)
            sender.join()
    assert received.count(b"HTTP/1.1 " + status) == number + (status == b"200")
    assert len(queued) > 10
    assert max(queued) <= PARSED_BYTES_MAX // len(request) + 1


def test_a_body_is_not_counted_to_the_head_that_follows(service: RunningService) -> None:
    large = post("blitz", bytes(2 * HEAD_BYTES_MAX)).replace(b"/v1/", b"/nowhere/")
    long = BYE[:-2] + b"X: %s\r\n\r\n" % (b"x" * 2 * PARSED_BYTES_MAX)
    with connected(service.url) as raw:
        raw.sendall(large + long)
        received = until_closed(raw)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"404", b"200"]


def test_no_more_of_a_body_is_read_than_is_taken() -> None:
    with serving(ServiceSettings()) as running, nothing_recorded(running):
        connections: Any = running.server.server_state.connections
        with connected(running.url) as raw:
            size = 1000 * BODY_BYTES_MAX
            raw.sendall(b"DELETE /v1/players/ann HTTP/1.1\r\nHost: localhost\r\n")
            raw.sendall(b"Content-Length: %d\r\n\r\n" % size)
            raw.settimeout(1)
            with pytest.raises(TimeoutError):
                raw.sendall(bytes(size))
            (connection,) = connections
            assert BODY_BYTES_MAX < len(connection.served.body) < 10 * BODY_BYTES_MAX


def test_who_has_sent_more_is_not_idle() -> None:
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.close()
        connections: Any = running.server.server_state.connections
        eventually(lambda: not connections)
        live = HELLO.replace(b"/healthz", b"/v1/boards/blitz/live")
        padding = b"X: %s\r\n\r\n" % (b"x" * PARSED_BYTES_MAX)
        with connected(running.url) as raw:
            raw.sendall(HELLO.replace(b"/healthz", b"/nowhere") + live[:-2] + padding)
            received = b""
            while b"text/event-stream" not in received:
                received += raw.recv(65536)
            (connection,) = connections
            for now in count(time.monotonic(), IDLE_SECONDS_MAX / 2):
                if now > time.monotonic() + 3 * IDLE_SECONDS_MAX:
                    break
                connection.give_up(now, HEAD_SECONDS_MAX)
            assert not connection.transport.is_closing()


def test_nothing_is_served_after_an_answer_that_closes(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    untyped = post(board, b"{}").replace(b"Content-Type", b"Content-Kind")
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    http.post(f"/v1/boards/{board}/scores", json={"player": "ann", "score": 1}).raise_for_status()
    for follower in (post(board, b'{"player":"bob","score":5}'), HELLO[:-2] + offer + b"\r\n"):
        with connected(service.url) as raw:
            raw.sendall(untyped + follower)
            assert re.findall(rb"HTTP/1.1 (\d+)", until_closed(raw)) == [b"415"]
    http.post(f"/v1/boards/{board}/scores", json={"player": "eve", "score": 1}).raise_for_status()
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 2


def test_a_server_that_stops_does_not_serve_what_comes_after() -> None:
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.post("/v1/boards/blitz/scores", json={"player": "ann", "score": 1})
        running.http.close()
        connections: Any = running.server.server_state.connections
        eventually(lambda: not connections)
        with connected(running.url) as raw:
            with nothing_recorded(running):
                raw.sendall(SUBMISSION)
                eventually(lambda: [c for c in connections if isinstance(c.served, Underway)])
                (connection,) = connections
                running.server.handle_exit(15, None)
                eventually(lambda: not connection.served.keep_alive)
                raw.sendall(SUBMISSION)
                eventually(lambda: connection.pipeline)
            received = until_closed(raw)
    assert received.count(b"HTTP/1.1 200 OK") == 1
    assert received.count(b"connection: close") == 1


def test_a_head_without_end_is_refused_while_an_answer_goes_on(
    service: RunningService, board: str
) -> None:
    with connected(service.url) as raw:
        raw.sendall(HELLO.replace(b"/healthz", b"/v1/boards/%s/live" % board.encode()))
        assert b"text/event-stream" in raw.recv(65536)
        raw.sendall(b"GET / HTTP/1.1\r\nX: ")
        with pytest.raises(ConnectionError):
            raw.sendall(b"x" * (1000 * HEAD_BYTES_MAX))


def test_a_stream_ends_with_its_caller_even_if_more_was_asked(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    def is_watched() -> bool:
        return "toprung_live_sockets 0.0" not in http.get("/metrics").text

    eventually(lambda: not is_watched())
    live = HELLO.replace(b"/healthz", b"/v1/boards/%s/live" % board.encode())
    with connected(service.url) as raw:
        raw.sendall(live + HELLO)
        assert b"text/event-stream" in raw.recv(65536)
        assert is_watched()
    scores = count(1)

    def is_over() -> bool:
        """Something has to be sent before anybody notices."""
        body = {"player": "ann", "score": next(scores)}
        http.post(f"/v1/boards/{board}/scores", json=body).raise_for_status()
        return not is_watched()

    eventually(is_over)


def test_callers_who_hang_up_are_no_errors(start_service: StartService) -> None:
    service = start_service()
    with httpx2.Client(base_url=service.url) as http:
        http.put("/v1/boards/blitz", json={}).raise_for_status()
        for _ in range(10):
            with connected(service.url) as raw:
                raw.sendall(SUBMISSION * 30)
                raw.shutdown(socket.SHUT_RDWR)
        http.get("/v1/boards/blitz/standings").raise_for_status()
    assert service.stop() == (0, "")
