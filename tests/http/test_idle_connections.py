"""Connections that have answered: how long they are kept, and what they hold meanwhile."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.http.raw import HELLO, answers, connected, until_closed
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung.http.settings import ServiceSettings

HEAD_SECONDS_MAX = 10.0


def the_connection(running: Serving) -> Any:
    running.http.close()
    connections: Any = running.server.server_state.connections
    eventually(lambda: len(connections) == 1)
    (connection,) = connections
    eventually(lambda: connection.served is None)
    return connection


def test_the_time_of_a_head_begins_when_it_does() -> None:
    with serving(ServiceSettings()) as running, connected(running.url) as raw:
        raw.sendall(HELLO)
        answers(raw, 1)
        connection, now = the_connection(running), time.monotonic()
        connection.give_up(now, HEAD_SECONDS_MAX)
        raw.sendall(HELLO[:20])
        eventually(lambda: connection._is_begun)
        connection.give_up(now + 2 * HEAD_SECONDS_MAX, HEAD_SECONDS_MAX)  # it was idle for so long
        connection.give_up(now + 2.9 * HEAD_SECONDS_MAX, HEAD_SECONDS_MAX)
        raw.sendall(HELLO[20:])
        answers(raw, 1)


def test_a_later_head_that_does_not_end_is_given_up() -> None:
    with serving(ServiceSettings()) as running, connected(running.url) as raw:
        raw.sendall(HELLO)
        answers(raw, 1)
        connection, now = the_connection(running), time.monotonic()
        raw.sendall(HELLO[:20])
        eventually(lambda: connection._is_begun)
        connection._loop.call_soon_threadsafe(
            lambda: [connection.give_up(now + late, HEAD_SECONDS_MAX) for late in (20, 20.5, 31)]
        )
        assert until_closed(raw).startswith(b"HTTP/1.1 408 ")


def test_an_idle_connection_forgets_the_last_head() -> None:
    long = HELLO[:-2] + b"X: %s\r\n\r\n" % (b"x" * 50_000)
    with serving(ServiceSettings()) as running, connected(running.url) as raw:
        raw.sendall(long)
        answers(raw, 1)
        connection, now = the_connection(running), time.monotonic()
        for late in (0, 1):
            connection.give_up(now + late, HEAD_SECONDS_MAX)
        assert connection._headers == []
        raw.sendall(HELLO)
        answers(raw, 1)
        raw.close()
        eventually(lambda: not running.server.server_state.connections)
        assert not connection._asked


@pytest.mark.parametrize("pieces", [1, 6])
def test_a_length_of_endless_digits_is_refused(pieces: int) -> None:
    length = b"Content-Length: %s\r\n\r\n{}" % (b"0" * 5000 + b"2")
    head = b"POST /v1/boards/g/scores HTTP/1.1\r\nHost: localhost\r\n"
    request = head + b"Content-Type: application/json\r\n" + length
    size = -(-len(request) // pieces)
    with serving(ServiceSettings()) as running, connected(running.url) as raw:
        for at in range(0, len(request), size):
            raw.sendall(request[at : at + size])
        assert until_closed(raw).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("path", ["/v1/boards/{}", "/v1/boards/{}/standings/{}", "/{}/{}"])
def test_braces_are_a_name_like_any_other(path: str) -> None:
    with serving(ServiceSettings()) as running, connected(running.url) as raw:
        raw.sendall(HELLO.replace(b"/healthz", path.encode()))
        assert raw.recv(65536).startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 422 "))
