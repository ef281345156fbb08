"""Connections of clients that are slow, broken or hostile, byte by byte."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.raw import HELLO, answers, asked_once, connected, post, until_closed
from tests.http.serving import serving
from tests.http.waiting import eventually
from toprung.http.connection import PARSED_BYTES_MAX
from toprung.http.settings import ServiceSettings


@pytest.mark.parametrize("begun", [b"", b"G", b"GET /healthz HTTP/1.1\r\nHost: local"], ids=repr)
def test_a_head_that_does_not_end_is_not_waited_for(begun: bytes) -> None:
    with serving(ServiceSettings(), head_seconds_max=0.2) as running:
        with connected(running.url) as raw:
            raw.sendall(begun)
            last_words = until_closed(raw)
            assert last_words.startswith(b"HTTP/1.1 408 ") is bool(begun)
        with connected(running.url) as raw:  # nor is a second one on the same connection
            raw.sendall(HELLO + (begun or b"G"))
            assert until_closed(raw).count(b"HTTP/1.1 ") == 2


def test_one_connection_too_many_is_refused_and_the_others_go_on() -> None:
    with serving(ServiceSettings(), connections_max=3) as running, ExitStack() as stack:
        held = [stack.enter_context(connected(running.url)) for _ in range(3)]
        for raw in held:
            raw.sendall(HELLO)
            answers(raw, 1)
        refusal = asked_once(running.url)
        assert refusal == b"" or refusal.startswith(b"HTTP/1.1 503 ")
        held[0].sendall(HELLO)
        answers(held[0], 1)
        held.pop().close()
        eventually(lambda: b"200 OK" in asked_once(running.url))


def test_a_connection_may_be_idle_between_requests() -> None:
    with (
        serving(ServiceSettings(), head_seconds_max=0.2) as running,
        connected(running.url) as idle,
    ):
        idle.sendall(HELLO)
        answers(idle, 1)
        with connected(running.url) as slow:  # once this is given up on, the idle one could be
            slow.sendall(b"G")
            until_closed(slow)
        idle.sendall(HELLO)
        answers(idle, 1)


@pytest.mark.parametrize(
    "piece",
    [b"X-Padding: " + b"x" * 1000 + b"\r\n", b"x" * 1000, b"GET /" + b"x" * 1000],
    ids=["headers", "one header", "address"],
)
def test_a_head_without_end_is_refused(
    service: RunningService, http: httpx2.Client, piece: bytes
) -> None:
    with connected(service.url) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        received = b""
        try:
            for _ in range(10_000):
                raw.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        received += until_closed(raw)
        assert received == b"" or received.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))
    assert http.get("/healthz").status_code == 200


@pytest.mark.parametrize("padding", [1, 2 * PARSED_BYTES_MAX])
def test_what_is_refused_is_not_served_as_well(padding: int) -> None:
    asked = HELLO.replace(b"/healthz", b"/v1/boards/nowhere/standings/ann")[:-2]
    asked += b"X: %s\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n" % (b"x" * padding)
    with serving(ServiceSettings()) as running:
        with connected(running.url) as raw:
            raw.sendall(asked)
            assert re.findall(rb"HTTP/1.1 (\d+)", until_closed(raw)) == [b"400"]
        assert 'standings/{player}",status=' not in running.http.get("/metrics").text


def test_requests_may_be_sent_before_the_last_was_answered(service: RunningService) -> None:
    with connected(service.url) as raw:
        raw.sendall(HELLO * 50)
        assert answers(raw, 50).count(b"HTTP/1.1 200 OK") == 50


def test_pipelined_answers_come_in_the_order_of_their_requests(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    submission = post(board, b'{"player":"alice","score":5}')
    get = b"GET /v1/boards/%s/standings/alice HTTP/1.1\r\nHost: localhost\r\n" % board.encode()
    with connected(service.url) as raw:
        raw.sendall(HELLO + submission + get + b"\r\n" + get + b"Connection: close\r\n\r\n")
        received = until_closed(raw)
    found = [received.find(text) for text in (b'"ok"', b'"submission"', b'"percentile"')]
    assert -1 not in found
    assert found == sorted(found)
    assert received.count(b"HTTP/1.1 200 OK") == 4
    assert received.count(b'"percentile"') == 2


def test_pipelined_submissions_are_counted_and_answered_in_order(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    sent = b"".join(post(board, b'{"player":"p%02d","score":%d}' % (n, n)) for n in range(50))
    with connected(service.url) as raw:
        raw.sendall(sent + HELLO[:-2] + b"Connection: close\r\n\r\n")
        received = until_closed(raw)
    ids = [int(text) for text in re.findall(rb'"submission":(\d+)', received)]
    assert len(ids) == 50
    assert ids == sorted(ids)
    assert received.rstrip().endswith(b'{"status":"ok"}')
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 50


@pytest.mark.parametrize("pieces", [2, 3, 7, 1000])
def test_a_submission_may_arrive_in_pieces(
    service: RunningService, board: str, pieces: int
) -> None:
    sent = post(board, b'{"player":"ann","score":5}') + HELLO[:-2] + b"Connection: close\r\n\r\n"
    size = -(-len(sent) // pieces)
    with connected(service.url) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(sent), size):
            raw.sendall(sent[start : start + size])
        received = until_closed(raw)
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert received.find(b'"submission"') < received.find(b'"ok"')


def test_a_caller_who_hangs_up_is_counted_all_the_same(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    for n in range(20):
        with connected(service.url) as raw:
            raw.sendall(post(board, b'{"player":"p%d","score":1}' % n))
    eventually(lambda: http.get(f"/v1/boards/{board}/standings").json()["total"] == 20)


def test_a_refused_submission_leaves_the_connection_in_order(
    service: RunningService, board: str
) -> None:
    large = b'{"player":"ann","score":1,"details":"%s"}' % (b"x" * 70_000)
    refused = post(board, b'{"player":"ann"}') + post("nowhere", b'{"player":"a","score":1}')
    with connected(service.url) as raw:
        raw.sendall(refused + post(board, b'{"player":"ann","score":3}') + post(board, large))
        received = until_closed(raw)  # too large: nothing can follow
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"422", b"404", b"200", b"413"]
    assert received.count(b"connection: close") == 1


def test_nothing_follows_an_offer_made_before_the_answer(
    service: RunningService, board: str
) -> None:
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    with connected(service.url) as raw:
        raw.sendall(post(board, b'{"player":"ann","score":3}') + HELLO[:-2] + offer + b"\r\n")
        received = until_closed(raw)
    assert received.count(b"HTTP/1.1 200 OK") == 1
    assert b'"submission"' in received


@pytest.mark.parametrize("count", [1, 3, 5, 30])
def test_a_half_closed_connection_gets_its_answers(
    service: RunningService, board: str, count: int
) -> None:
    for request in (HELLO, post(board, b'{"player":"ann","score":5}')):
        with connected(service.url) as raw:
            raw.sendall(request * count)
            raw.shutdown(socket.SHUT_WR)
            assert until_closed(raw).count(b"HTTP/1.1 200 OK") == count


CHUNKED = post("blitz", b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")


@pytest.mark.parametrize(
    ("last", "statuses"),
    [
        (b"junk\r\n\r\n", [b"400"]),
        (HELLO[:-2] + b"Host: x\r\n\r\n", [b"400"]),
        (HELLO.replace(b"HTTP/1.1", b"HTTP/2.0"), [b"505"]),
        (CHUNKED + b"no size\r\n", [b"400"]),
        (HELLO[:-2], []),
        (post("blitz", b"{}")[:-1], []),
    ],
    ids=["junk", "two hosts", "version", "a malformed body", "half a head", "half a body"],
)
@pytest.mark.parametrize("count", [1, 5, 30])
def test_what_came_before_is_answered_before_the_connection_is_refused(
    service: RunningService, board: str, count: int, last: bytes, statuses: list[bytes]
) -> None:
    """Before: the connection was closed under requests that were recorded."""
    for request in (HELLO, post(board, b'{"player":"ann","score":5}')):
        with connected(service.url) as raw:
            raw.sendall(request * count + last)
            if not statuses:
                raw.shutdown(socket.SHUT_WR)
            found = re.findall(rb"HTTP/1.1 (\d+)", until_closed(raw))
            assert found == [b"200"] * count + statuses


def test_an_offer_of_another_protocol_is_not_taken_up(service: RunningService) -> None:
    with connected(service.url) as raw:
        offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n"
        raw.sendall(HELLO[:-2] + offer + b"\r\n")
        assert b'{"status":"ok"}' in until_closed(raw)


def test_old_clients_get_an_answer_and_the_end(service: RunningService) -> None:
    with connected(service.url) as raw:
        raw.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n")
        assert b'{"status":"ok"}' in until_closed(raw)


def test_answers_to_head_have_no_body(service: RunningService) -> None:
    with connected(service.url) as raw:
        raw.sendall(HELLO.replace(b"GET", b"HEAD") + HELLO[:-2] + b"Connection: close\r\n\r\n")
        received = until_closed(raw)
        assert received.count(b"content-length: 15") == 2
        assert received.count(b'{"status":"ok"}') == 1


def test_the_head_of_a_stream_is_answered_and_is_not_counted(
    http: httpx2.Client, board: str
) -> None:
    eventually(lambda: "toprung_live_sockets 0.0" in http.get("/metrics").text)
    for _ in range(3):
        answer = http.head(f"/v1/boards/{board}/live")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
    assert "toprung_live_sockets 0.0" in http.get("/metrics").text
