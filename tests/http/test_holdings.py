"""What connections keep in memory together: input behind unanswered requests, and unread news."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx2
import pytest

from tests.conftest import StartService
from tests.http.live_raw import frames, open_raw, subscribe
from tests.http.raw import HELLO, connected
from tests.http.serving import serving
from tests.http.strain import resident_bytes, strained
from tests.http.waiting import eventually
from toprung.http.holdings import Holdings, cut_off
from toprung.http.settings import ServiceSettings

MEGABYTE = 1024 * 1024
BOARD = "/v1/boards/blitz"
LIVE = HELLO.replace(b"/healthz", BOARD.encode() + b"/live")
LONG = HELLO[:-2] + b"X: %s\r\n\r\n" % (b"x" * 60_000)
"""A request with a long head."""


def send_some(raw: socket.socket, data: bytes) -> None:
    """Send as much as is taken without waiting."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MEGABYTE)
    raw.setblocking(False)
    with suppress(BlockingIOError, ConnectionError):
        raw.send(data)


@contextmanager
def unread(url: str) -> Iterator[socket.socket]:
    """A connection of somebody else, for which the system keeps little."""
    with socket.socket() as raw:
        raw.bind(("127.0.0.2", 0))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        yield raw


def is_cut_off(raw: socket.socket) -> bool:
    try:
        raw.send(b"x")
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return False


@pytest.mark.parametrize("together", [True, False], ids=["with the request", "afterwards"])
def test_what_is_sent_behind_a_stream_is_not_kept(
    start_service: StartService, together: bool
) -> None:
    """Before: some 200 KB for each connection, for as long as the stream lasts."""
    service = start_service("--db", "memory:")
    httpx2.put(f"{service.url}{BOARD}", json={}, timeout=20).raise_for_status()
    with strained(service.process.pid, service.url) as strain, ExitStack() as stack:
        for _ in range(400):
            raw = stack.enter_context(connected(service.url))
            if together:
                send_some(raw, LIVE + LONG * 16)
            else:
                raw.sendall(LIVE)
                assert raw.recv(12) == b"HTTP/1.1 200"
                send_some(raw, LONG * 16)
        for _ in range(3):
            httpx2.get(f"{service.url}/healthz", timeout=20)
    assert strain.grown_bytes < 40 * MEGABYTE
    assert strain.longest_wait < 2


def test_the_end_of_a_stream_is_seen_although_more_was_asked() -> None:
    """Before: with the next event or ping, up to fifteen seconds later."""
    with serving(ServiceSettings()) as running:
        running.http.put(BOARD, json={}).raise_for_status()
        limits = running.service.state.live_limits
        for more in (HELLO, HELLO * 100, LONG[:10_000]):
            with connected(running.url) as raw:
                raw.sendall(LIVE + more)
                assert b"text/event-stream" in raw.recv(65536)
                assert limits.connections == 1
            eventually(lambda: limits.connections == 0, seconds=5)


def test_input_that_waits_is_bounded_for_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    holdings = Holdings(2 * MEGABYTE)
    monkeypatch.setattr("toprung.http.server.Holdings", lambda: holdings)
    with serving(ServiceSettings()) as running, ExitStack() as stack:
        running.http.put(BOARD, json={}).raise_for_status()
        rows = [{"player": f"p{n}", "score": n} for n in range(1000)]
        running.http.post(f"{BOARD}/scores/batch", json=rows).raise_for_status()
        connections = running.server.server_state.connections
        page = HELLO.replace(b"/healthz", BOARD.encode() + b"/standings?limit=1000")
        sockets = [stack.enter_context(unread(running.url)) for _ in range(40)]
        for raw in sockets:
            send_some(raw, page * 20 + LONG * 16)
        eventually(lambda: any(map(is_cut_off, sockets)))
        assert holdings.unparsed_bytes <= 2 * MEGABYTE
        large = [{"player": f"p{n}", "score": n, "details": "x" * 1000} for n in range(1000)]
        running.http.post(f"{BOARD}/scores/batch", json=large).raise_for_status()
        assert connections
    eventually(lambda: holdings.unparsed_bytes == 0)


def test_unread_news_is_bounded_for_all_together(start_service: StartService) -> None:
    """Before: some 700 KB for each connection, whatever all of them held."""
    service = start_service("--db", "memory:")
    with httpx2.Client(base_url=service.url, timeout=20) as http, ExitStack() as stack:
        http.put(BOARD, json={"public": True}).raise_for_status()
        url = "https://img.example/" + "x" * 2000
        rows = [{"player": f"p{n}", "score": n} for n in range(100)]
        http.post(f"{BOARD}/scores/batch", json=rows).raise_for_status()
        for number in range(100):
            http.put(f"/v1/players/p{number}", json={"avatar_url": url}).raise_for_status()
        before = resident_bytes(service.process.pid)
        for socket_number in range(150):
            raw = stack.enter_context(open_raw(service.url))
            raw.sendall(
                b"".join(
                    subscribe(f"{socket_number}.{number}", board="blitz", top=100)
                    for number in range(4)
                )
            )
        eventually(lambda: "toprung_live_subscriptions 600.0" in http.get("/metrics").text)
        for score in range(200, 203):
            http.post(f"{BOARD}/scores", json={"player": "p5", "score": score}).raise_for_status()
            time.sleep(0.3)
        assert resident_bytes(service.process.pid) - before < 60 * MEGABYTE


def test_who_does_not_read_its_news_is_cut_off_when_all_hold_too_much() -> None:
    with serving(ServiceSettings(), held_bytes_max=MEGABYTE) as running, ExitStack() as stack:
        running.http.put(BOARD, json={}).raise_for_status()
        rows = [{"player": "x" * 100 + str(n), "score": n} for n in range(100)]
        running.http.post(f"{BOARD}/scores/batch", json=rows).raise_for_status()
        for _ in range(20):
            raw = stack.enter_context(open_raw(running.url))
            for number in range(50):
                raw.sendall(subscribe(str(number), board="blitz", top=100))
        with open_raw(running.url, source="127.0.0.2") as reader:
            reader.sendall(subscribe("mine", board="blitz", top=1))
            next(frames(reader))
            limits, scores = running.service.state.live_limits, iter(range(100, 10**6))

            def are_cut_off() -> bool:
                moved = [{**row, "score": next(scores)} for row in rows]
                running.http.post(f"{BOARD}/scores/batch", json=moved).raise_for_status()
                return limits.refused["unread"] > 0

            eventually(are_cut_off)
            running.http.post(f"{BOARD}/scores", json={"player": "me", "score": 10**7})
            told = (json.loads(data) for _, data in frames(reader))
            next(news for news in told if news["standings"][0]["player"] == "me")


class _Held:
    def __init__(self, host: str) -> None:
        self.client: tuple[str, int] | None = (host, 1)
        self.is_open = True

    def cut_off(self) -> None:
        self.is_open = False


def test_the_caller_that_holds_the_most_is_cut_off_first() -> None:
    many, one = [_Held("192.0.2.1") for _ in range(10)], _Held("192.0.2.2")
    cut_off([(5, one), *((1 + (number == 9), each) for number, each in enumerate(many))], 3)
    assert one.is_open
    assert [each.is_open for each in many] == [False, *[True] * 8, False]
