"""Handlers of hot routes, which run without a task of asyncio, may do what all others may."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from typing import Any

import pytest

from tests.http.raw import BYE, HELLO, connected, until_closed
from tests.http.serving import serving
from tests.http.waiting import eventually
from toprung.http.answers import Answer
from toprung.http.routes import ROUTES
from toprung.http.settings import ServiceSettings

STANDING = next(
    route
    for route in ROUTES
    if (route.method, route.path) == ("GET", "/v1/boards/{board}/standings/{player}")
)
ASKED = HELLO.replace(b"/healthz", b"/v1/boards/blitz/standings/ann")


def served(monkeypatch: pytest.MonkeyPatch, handler: Any, sent: bytes) -> bytes:
    """What is answered where the hottest route has another handler."""
    monkeypatch.setattr(STANDING, "handler", handler)
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.get("/v1/boards/blitz/standings/ann")  # the next one is hot
        with connected(running.url) as raw:
            raw.sendall(sent)
            return until_closed(raw)


def reset(raw: socket.socket) -> None:
    """Have the end of a connection be told at once; else it may be that only nothing more comes."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_timeout_ends_what_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(_call: Any) -> Answer:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            task: Any = asyncio.current_task()
            return Answer(200, type(task).__name__.encode())
        raise AssertionError

    received = served(monkeypatch, slow, ASKED + BYE)
    assert b"Underway" in received
    assert received.count(b"HTTP/1.1 200 OK") == 2


def test_a_read_that_waits_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(100))

    async def slow(_call: Any) -> Answer:
        number = next(numbers)
        await asyncio.sleep(0.01 if number % 2 else 0)
        return Answer(200, b"number %d." % number)

    received = served(monkeypatch, slow, ASKED * 8 + BYE)
    found = [received.find(b"number %d." % number) for number in range(1, 9)]
    assert -1 not in found
    assert found == sorted(found)


def test_a_handler_that_fails_while_it_waits_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(_call: Any) -> Answer:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    received = served(monkeypatch, failing, ASKED + BYE)
    assert b"HTTP/1.1 500 " in received
    assert b"HTTP/1.1 200 " in received
    assert "request failed" in caplog.text


def test_a_server_that_stops_cancels_what_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def endless(_call: Any) -> Answer:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    monkeypatch.setattr("toprung.http.server.STOP_SECONDS_MAX", 0.1)
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.get("/v1/boards/blitz/standings/ann")
        running.http.close()
        monkeypatch.setattr(STANDING, "handler", endless)
        connections: Any = running.server.server_state.connections
        eventually(lambda: not connections)
        with connected(running.url) as raw:
            raw.sendall(ASKED)
            begun.wait(20)
            running.server.handle_exit(15, None)
            received = until_closed(raw)
    assert ended.wait(20)
    assert received.startswith(b"HTTP/1.1 503 ")
    assert b"connection: close" in received


@pytest.mark.parametrize("asked", [ASKED, ASKED.replace(b"\r\n\r\n", b"\r\nExpect: x\r\n\r\n")])
def test_a_read_ends_when_its_caller_has_gone(
    monkeypatch: pytest.MonkeyPatch, asked: bytes
) -> None:
    """As a light task, and as one of asyncio."""
    begun, ended = threading.Event(), threading.Event()

    async def endless(_call: Any) -> Answer:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.get("/v1/boards/blitz/standings/ann")
        monkeypatch.setattr(STANDING, "handler", endless)
        with connected(running.url) as raw:
            raw.sendall(asked)
            assert begun.wait(20)
            reset(raw)
        assert ended.wait(20)
        running.http.get("/healthz").raise_for_status()


def test_a_write_goes_on_when_its_caller_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    submit = next(route for route in ROUTES if route.path == "/v1/boards/{board}/scores")
    begun, is_gone, ended = threading.Event(), threading.Event(), threading.Event()

    async def patient(_call: Any) -> Answer:
        begun.set()
        await asyncio.to_thread(is_gone.wait, 20)
        ended.set()
        return Answer(200, b"{}")

    monkeypatch.setattr(submit, "handler", patient)
    body = b'{"player":"ann","score":1}'
    sent = b"POST /v1/boards/blitz/scores HTTP/1.1\r\nHost: localhost\r\n"
    sent += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.http.close()
        connections: Any = running.server.server_state.connections
        eventually(lambda: not connections)
        with connected(running.url) as raw:
            raw.sendall(sent)
            assert begun.wait(20)
            reset(raw)
        eventually(lambda: not connections)
        is_gone.set()
        assert ended.wait(20)
