"""HTTP/1.1 as RFC 9112 has it, over raw sockets: framing, order, and how connections end."""

from __future__ import annotations

import re
import socket
import threading

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.raw import BYE, HELLO, connected, post, until_closed

SUBMISSION = b'{"player":"ann","score":5}'
HANDSHAKE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def statuses(received: bytes) -> list[int]:
    return [int(text) for text in re.findall(rb"HTTP/1\.1 (\d+)", received)]


def in_chunks(request: bytes, *sizes: int, end: bytes = b"0\r\n\r\n") -> bytes:
    """The same request with its body in chunks of these sizes, and a last one of the rest."""
    head, _, body = request.partition(b"\r\n\r\n")
    head = re.sub(rb"Content-Length: \d+", b"Transfer-Encoding: chunked", head)
    sent = head + b"\r\n\r\n"
    for size in (*sizes, len(body)):
        piece, body = body[:size], body[size:]
        sent += b"%x\r\n%s\r\n" % (len(piece), piece) if piece else b""
    return sent + end


def asked(url: str, *sent: bytes) -> bytes:
    """What is answered before the connection ends."""
    with connected(url) as raw:
        for piece in sent:
            raw.sendall(piece)
        return until_closed(raw)


def test_hot_and_other_requests_are_answered_in_order(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    http.post(f"/v1/boards/{board}/scores", json={"player": "ann", "score": 1}).raise_for_status()
    around = HELLO.replace(b"/healthz", b"/v1/boards/%s/standings/ann/around" % board.encode())
    missing = HELLO.replace(b"/healthz", b"/nowhere")
    sent = post(board, SUBMISSION) + around + missing + HELLO + post(board, SUBMISSION)
    received = asked(service.url, sent * 5 + BYE)
    assert statuses(received) == [200, 200, 404, 200, 200] * 5 + [200]
    order = re.findall(rb'"submission"|"standings":\[|no-such-route|"ok"', received)
    one = [b'"submission"', b'"standings":[', b"no-such-route", b'"ok"', b'"submission"']
    assert order == [*one * 5, b'"ok"']


@pytest.mark.parametrize("sizes", [(), (1,), (1, 2, 3), (1,) * 26], ids=str)
@pytest.mark.parametrize("segment", [1, 7, 10_000])
def test_a_body_may_come_in_chunks(
    service: RunningService, board: str, sizes: tuple[int, ...], segment: int
) -> None:
    sent = in_chunks(post(board, SUBMISSION), *sizes) + BYE
    received = asked(service.url, *(sent[at : at + segment] for at in range(0, len(sent), segment)))
    assert statuses(received) == [200, 200]
    assert received.count(b'"submission"') == 1


def test_sizes_of_chunks_are_hexadecimal_in_any_case_and_may_have_extensions(
    service: RunningService, board: str
) -> None:
    body = SUBMISSION + b" " * (0xAB - len(SUBMISSION))
    head = in_chunks(post(board, b""), end=b"")
    for size in (b"ab", b"AB", b"00Ab", b"ab;name", b'ab;name="value"'):
        received = asked(service.url, head + size + b"\r\n" + body + b"\r\n0\r\n\r\n" + BYE)
        assert statuses(received) == [200, 200], size


@pytest.mark.parametrize("size", [b"g", b"-1", b"0x1", b"", b" 1", b"1" * 20])
def test_what_is_no_size_is_refused(service: RunningService, board: str, size: bytes) -> None:
    head = in_chunks(post(board, b""), end=b"")
    assert statuses(asked(service.url, head + size + b"\r\nx\r\n0\r\n\r\n")) == [400]


def test_trailers_end_a_body_and_mean_nothing(service: RunningService, board: str) -> None:
    trailers = b"0\r\nX-Checksum: 1\r\nHost: evil.example\r\n\r\n"
    received = asked(service.url, in_chunks(post(board, SUBMISSION), 3, end=trailers) + BYE)
    assert statuses(received) == [200, 200]


# --- Expect ---------------------------------------------------------------------------------------


def expecting(request: bytes) -> tuple[bytes, bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    return head + b"\r\nExpect: 100-continue\r\n\r\n", body


def test_a_body_that_is_wanted_is_asked_for(service: RunningService, board: str) -> None:
    head, body = expecting(post(board, SUBMISSION))
    with connected(service.url) as raw:
        raw.sendall(head)
        assert raw.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(body + BYE)
        assert statuses(until_closed(raw)) == [200, 200]


def test_a_body_that_is_not_wanted_is_not_asked_for(service: RunningService) -> None:
    head, _ = expecting(post("blitz", bytes(100_000)))
    with connected(service.url) as raw:
        raw.sendall(head)
        assert statuses(until_closed(raw)) == [413]


def test_a_body_that_is_there_is_not_asked_for(service: RunningService, board: str) -> None:
    head, body = expecting(post(board, SUBMISSION))
    assert statuses(asked(service.url, head + body + BYE)) == [200, 200]


def test_old_clients_are_never_told_to_continue(service: RunningService, board: str) -> None:
    head, body = expecting(post(board, SUBMISSION).replace(b"HTTP/1.1", b"HTTP/1.0"))
    with connected(service.url) as raw:
        raw.sendall(head)
        raw.settimeout(0.2)
        with pytest.raises(TimeoutError):
            raw.recv(1)
        raw.settimeout(20)
        raw.sendall(body)
        assert statuses(until_closed(raw)) == [200]


# --- HEAD, HTTP/1.0, Connection -------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/nowhere", "/v1/boards", "/docs"])
def test_head_is_get_without_a_body(service: RunningService, path: str) -> None:
    get = HELLO.replace(b"/healthz", path.encode())
    head = get.replace(b"GET", b"HEAD")
    received = asked(service.url, head + head + BYE)
    *heads, last = received.split(b"HTTP/1.1 ")[1:]
    assert len(heads) == 2
    assert all(each.endswith(b"\r\n\r\n") and each.count(b"\r\n\r\n") == 1 for each in heads)
    assert last.endswith(b'{"status":"ok"}')
    body = asked(service.url, get[:-2] + b"Connection: close\r\n\r\n").partition(b"\r\n\r\n")[2]
    found = re.search(rb"content-length: (\d+)", heads[0])
    assert found is not None
    if path not in ("/metrics", "/nowhere"):  # which change from one request to the next
        assert int(found[1]) == len(body)


@pytest.mark.parametrize("wish", [b"", b"Connection: keep-alive\r\n"])
def test_old_clients_get_a_body_without_chunks_and_the_end(
    service: RunningService, board: str, wish: bytes
) -> None:
    for path in (b"/healthz", b"/v1/boards/%s/standings" % board.encode()):
        old = HELLO.replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"/healthz", path)[:-2] + wish
        received = asked(service.url, old + b"\r\n")
        assert statuses(received) == [200]
        assert b"connection: close" in received
        assert b"chunked" not in received


def test_a_stream_to_an_old_client_has_no_chunks(service: RunningService, board: str) -> None:
    live = HELLO.replace(b"HTTP/1.1", b"HTTP/1.0").replace(
        b"/healthz", b"/v1/boards/%s/live" % board.encode()
    )
    with connected(service.url) as raw:
        raw.sendall(live)
        received = raw.recv(65536)
        while b"data:" not in received:
            received += raw.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert b"connection: close" in head
    assert body.startswith((b"id:", b"event:", b"retry:", b"data:", b":"))


@pytest.mark.parametrize("option", [b"close", b"Close", b"foo, close", b"close, keep-alive"])
def test_what_asks_for_the_end_gets_it_and_nothing_after(
    service: RunningService, board: str, option: bytes
) -> None:
    for request in (HELLO, post(board, SUBMISSION)):
        last = request.replace(b"\r\n\r\n", b"\r\nConnection: %s\r\n\r\n" % option, 1)
        received = asked(service.url, HELLO + last + HELLO + post(board, SUBMISSION))
        assert statuses(received) == [200, 200]
        assert received.count(b"connection: close") == 1


# --- upgrades and half-closed sockets -------------------------------------------------------------


def test_a_handshake_becomes_a_websocket_however_it_arrives(service: RunningService) -> None:
    opening = HELLO.replace(b"/healthz", b"/v1/live")[:-2] + HANDSHAKE + b"\r\n"
    for size in (1, 10, len(opening)):
        with connected(service.url) as raw:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(opening), size):
                raw.sendall(opening[at : at + size])
            received = raw.recv(65536)
            assert statuses(received) == [101]
            assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in received


def test_a_connection_may_become_a_websocket_after_requests(service: RunningService) -> None:
    opening = HELLO.replace(b"/healthz", b"/v1/live")[:-2] + HANDSHAKE + b"\r\n"
    with connected(service.url) as raw:
        raw.sendall(HELLO)
        assert statuses(raw.recv(65536)) == [200]
        raw.sendall(opening)
        assert statuses(raw.recv(65536)) == [101]


@pytest.mark.parametrize("offer", [b"h2c", b"TLS/1.0", b"websockets"])
def test_an_upgrade_that_is_not_supported_is_ignored(service: RunningService, offer: bytes) -> None:
    sent = HELLO[:-2] + b"Connection: Upgrade\r\nUpgrade: %s\r\n\r\n" % offer
    assert statuses(asked(service.url, sent)) == [200]


def test_an_offer_without_the_connection_option_is_no_offer(service: RunningService) -> None:
    sent = HELLO[:-2] + b"Upgrade: websocket\r\n\r\n" + BYE
    assert statuses(asked(service.url, sent)) == [200, 200]


def test_who_stops_sending_gets_all_answers(service: RunningService, board: str) -> None:
    sent = (HELLO + post(board, SUBMISSION) + in_chunks(post(board, SUBMISSION), 5)) * 100
    with connected(service.url) as raw:

        def send() -> None:
            raw.sendall(sent)
            raw.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        received = until_closed(raw)
        sender.join()
    assert statuses(received) == [200] * 300


@pytest.mark.parametrize("cut", [1, 30, 120])
def test_half_a_request_at_the_end_gets_none(service: RunningService, board: str, cut: int) -> None:
    with connected(service.url) as raw:
        raw.sendall(HELLO + post(board, SUBMISSION)[:cut])
        raw.shutdown(socket.SHUT_WR)
        assert statuses(until_closed(raw)) == [200]


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5 5\r\n\r\nhello",
        b"GET /healthz\r\n\r\n",
        b"G\0T /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=repr,
)
def test_what_others_might_read_differently_is_refused(
    service: RunningService, head: bytes
) -> None:
    received = asked(service.url, head)
    assert statuses(received) in ([400], [505])
    assert b"connection: close" in received
