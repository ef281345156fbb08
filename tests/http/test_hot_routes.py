"""Handlers of hot routes, which run without a task of asyncio, may do what all others may."""

from __future__ import annotations

import asyncio
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
