"""Callers who send or ask for more than their share: what others notice of it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx2
import pytest

from tests.conftest import RunningService, StartService
from tests.http.raw import BYE, HELLO, ask_at_once, connected, until_closed
from tests.http.serving import serving
from tests.http.strain import strained
from tests.http.waiting import eventually
from toprung.http.room import Shares
from toprung.http.settings import ServiceSettings
from toprung.http.state import BODIES_BYTES_MAX

MEGABYTE = 1024 * 1024


def fill(http: httpx2.Client, board: str, details: object = None) -> None:
    rows = [{"player": f"flood-{n}", "score": n, "details": details} for n in range(1000)]
    http.put(f"/v1/boards/{board}", json={"windows": ["all-time"]}).raise_for_status()
    http.post(f"/v1/boards/{board}/scores/batch", json=rows).raise_for_status()


def asking(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def test_many_requests_at_once_take_turns_with_those_of_others(
    service: RunningService, http: httpx2.Client
) -> None:
    """A hundred callers send fifty requests each, in one segment: four seconds of work."""
    fill(http, "wide")
    asked = asking("/v1/boards/wide/standings/flood-500/around?above=50&below=50") * 50
    with strained(service.process.pid, service.url) as strain:
        ask_at_once(service.url, [asked] * 100)
    assert strain.longest_wait < 1.5


def test_requests_that_queue_up_behind_a_stream_are_not_kept(
    service: RunningService, board: str
) -> None:
    live = asking(f"/v1/boards/{board}/live")
    with strained(service.process.pid, service.url) as strain, ExitStack() as stack:
        for _ in range(150):
            raw = stack.enter_context(connected(service.url))
            raw.sendall(live)
            raw.recv(65536)
            raw.sendall(b"GET / HTTP/1.1\r\n\r\n" * 4000)
        with connected(service.url) as raw:  # by now everything has been looked at
            raw.sendall(BYE)
            until_closed(raw)
    assert strain.grown_bytes < 30 * MEGABYTE


def test_long_addresses_are_not_remembered(service: RunningService) -> None:
    with strained(service.process.pid, service.url) as strain, connected(service.url) as raw:
        for n in range(400):
            raw.sendall(asking(f"/{n}{'x' * 60_000}/y"))
            received = b""
            while not received.endswith(b"}"):
                received += raw.recv(65536)
            assert received.startswith(b"HTTP/1.1 414 ")
    assert strain.grown_bytes < 15 * MEGABYTE


def test_large_bodies_that_arrive_together_have_so_much_room(start_service: StartService) -> None:
    service = start_service("--db", "memory:")
    body = b" " * (15 * MEGABYTE)
    head = b"POST /v1/boards/blitz/scores/batch HTTP/1.1\r\nHost: localhost\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (len(body) + 2)
    refused = 0
    with httpx2.Client(base_url=service.url, timeout=20) as http:
        http.put("/v1/boards/blitz", json={}).raise_for_status()
        with strained(service.process.pid, service.url) as strain, ExitStack() as stack:
            for _ in range(2 * BODIES_BYTES_MAX // len(body)):
                raw = stack.enter_context(connected(service.url))
                with suppress(ConnectionError):
                    raw.sendall(head + body)
                    continue
                refused += 1
        assert refused > 0
        assert strain.grown_bytes < BODIES_BYTES_MAX + 64 * MEGABYTE
        rows = [{"player": "ann", "score": 5}]

        def is_taken() -> bool:  # once those who hung up are forgotten
            return http.post("/v1/boards/blitz/scores/batch", json=rows).status_code == 200

        eventually(is_taken)


def test_who_reads_no_answers_does_not_fill_the_memory() -> None:
    with serving(ServiceSettings(), held_bytes_max=4 * MEGABYTE) as running:
        fill(running.http, "wide", {"text": "x" * 900})
        asked = asking("/v1/boards/wide/standings?limit=1000&include=details")
        connections = running.server.server_state.connections
        with ExitStack() as stack:
            place = ("127.0.0.1", int(running.url.rpartition(":")[2]))
            for _ in range(20):
                raw = stack.enter_context(socket.socket())
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw.connect(place)
                raw.sendall(asked * 8)

            def unsent() -> int:
                return sum(getattr(each, "unsent_bytes", 0) for each in list(connections))

            eventually(lambda: unsent() > 0)
            eventually(lambda: len(connections) < 20 and unsent() <= 4 * MEGABYTE)
            for _ in range(3):  # whoever reads gets everything
                page = running.http.get("/v1/boards/wide/standings?limit=1000&include=details")
                assert len(page.json()["standings"]) == 1000
        with connected(running.url) as raw:
            raw.sendall(HELLO)
            assert raw.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_strangers_leave_room_for_the_bodies_of_customers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: look-ups that never end took all the room, and batches got 503 for so long."""
    monkeypatch.setattr("toprung.http.state.BODIES_BYTES_MAX", 8 * MEGABYTE)
    lookup = b"POST /v1/boards/blitz/standings/lookup HTTP/1.1\r\nHost: localhost\r\n"
    lookup += b"Content-Type: application/json\r\nContent-Length: 520000\r\n\r\n"
    settings = ServiceSettings(needs_keys=True)
    with serving(settings) as running, ExitStack() as stack:
        running.http.put("/v1/boards/blitz", json={"public": True}).raise_for_status()
        for number in range(40):  # 20 MB in all, of eight addresses
            raw = stack.enter_context(socket.socket())
            raw.bind((f"127.0.0.{2 + number % 8}", 0))
            raw.connect(("127.0.0.1", int(running.url.rpartition(":")[2])))
            with suppress(ConnectionError):
                raw.sendall(lookup + b" " * 510_000)
        bodies = running.service.state.bodies
        eventually(lambda: running.service.state.refused["bodies"] > 0)
        assert 0 < bodies.taken <= 2 * MEGABYTE
        rows = [{"player": f"p{n}", "score": n} for n in range(1000)]
        body = json.dumps(rows).encode()

        def pieces() -> Iterator[bytes]:
            for start in range(0, len(body), 4096):
                yield body[start : start + 4096]

        head = {"content-type": "application/json"}
        answer = running.http.post("/v1/boards/blitz/scores/batch", content=pieces(), headers=head)
        assert answer.status_code == 200
        stack.close()
        eventually(lambda: bodies.taken == 0)


def test_a_caller_has_a_share_of_the_room() -> None:
    bodies = Shares(16, of_caller=8, of_strangers=4, of_stranger=3)
    assert bodies.take(3, "192.0.2.1", is_stranger=True)
    assert not bodies.take(1, "192.0.2.1", is_stranger=True)
    assert not bodies.take(2, "192.0.2.2", is_stranger=True)
    assert bodies.take(1, "192.0.2.2", is_stranger=True)
    assert bodies.take(8, "key a", is_stranger=False)
    assert not bodies.take(1, "key a", is_stranger=False)
    assert not bodies.take(5, "key b", is_stranger=False)
    assert bodies.take(4, None, is_stranger=True)
    assert bodies.taken == 16
    bodies.give_back(3, "192.0.2.1", is_stranger=True)
    assert bodies.take(3, "192.0.2.3", is_stranger=True)
