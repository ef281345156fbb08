"""Heads and bodies that are framed to confuse, to fill memory or to keep the service busy."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.raw import BYE, HELLO, connected, until_closed
from tests.http.serving import Serving, serving
from tests.http.strain import cpu_seconds, strained
from toprung.http.connection import REST_BYTES_MAX
from toprung.http.framing import HEAD_BYTES_MAX, HEADERS_MAX
from toprung.http.proxies import Proxies
from toprung.http.settings import Rate, ServiceSettings

MEGABYTE = 1024 * 1024
SUBMISSION = b'{"player":"ann","score":5}'
LIVE = HELLO.replace(b"/healthz", b"/v1/live")[:-2] + (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def chunked(board: str, *, path: str = "scores", method: str = "POST") -> bytes:
    """The head of a request whose body comes in chunks."""
    head = f"{method} /v1/boards/{board}/{path} HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def statuses(received: bytes) -> list[bytes]:
    return re.findall(rb"HTTP/1.1 (\d+)", received)


def send_without_end(
    raw: socket.socket, begin: bytes, piece: bytes, size: int
) -> tuple[int, bytes]:
    """How much was taken of so many bytes, before the connection was cut; and its last words."""
    raw.sendall(begin)
    piece *= 65536 // len(piece)
    sent = 0
    with suppress(ConnectionError):
        while sent < size:
            raw.sendall(piece)
            sent += len(piece)
    return sent, until_closed(raw) if sent < size else b""


# What comes after the head of a chunked request, and then again and again.
ENDLESS = {
    "trailers": (b"0\r\n", b"a:\r\n"),
    "one trailer": (b"0\r\na: ", b"x"),
    "the name of a trailer": (b"0\r\n", b"x"),
    "a chunk's size": (b"", b"0"),
    "a chunk's extension": (b"1;", b"x"),
    "extensions of chunks": (b"", b"1;%s\r\nx\r\n" % (b"x" * 1000)),
    "ends of heads": (b"0\r\na: b\r\n\r\n", b"\r\n\r\n"),
}


@pytest.mark.parametrize(("begin", "piece"), ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("path", ["scores", "distribution", "live"])
def test_what_frames_a_body_without_end_is_cut_off(
    service: RunningService, board: str, path: str, begin: bytes, piece: bytes
) -> None:
    """Whether the body is waited for, was not, or the answer goes on for ever."""
    method = "POST" if path == "scores" else "GET"
    with strained(service.process.pid, service.url) as strain, connected(service.url) as raw:
        head = chunked(board, path=path, method=method)
        sent, last_words = send_without_end(raw, head + begin, piece, 16 * MEGABYTE)
    assert sent < 8 * MEGABYTE  # the system's buffers take some of it
    assert path != "scores" or last_words == b"" or statuses(last_words)[-1] == b"431"
    assert strain.grown_bytes < 24 * MEGABYTE
    assert strain.longest_wait < 2


@pytest.mark.parametrize("is_chunked", [False, True], ids=["whole", "in chunks"])
def test_a_body_of_ends_of_heads_costs_no_more_than_another(
    service: RunningService, is_chunked: bool
) -> None:
    """The request is refused by its head, and the rest is read and dropped."""
    head, size = chunked("blitz", path="nowhere"), 12 * MEGABYTE
    if not is_chunked:
        head = head.replace(b"Transfer-Encoding: chunked", b"Content-Length: %d" % size)

    def cost(piece: bytes) -> float:
        before = cpu_seconds(service.process.pid)
        body = piece * (size // len(piece))
        if is_chunked:
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (size, body)
        with connected(service.url) as raw:
            raw.sendall(head + body + BYE)
            assert statuses(until_closed(raw)) == [b"404", b"200"]
        return cpu_seconds(service.process.pid) - before

    assert cost(b"\r\n\r\n") < 3 * cost(b"    ") + 1, "it was five seconds"


def test_a_refusal_of_trailers_says_why(service: RunningService, board: str) -> None:
    with connected(service.url) as raw:
        raw.sendall(chunked(board) + b"0\r\n" + b"a: bc\r\n" * (HEAD_BYTES_MAX // 7 + 1000))
        last_words = until_closed(raw)
    assert statuses(last_words) == [b"431"]
    assert b"trailers of its body at most 65,536 bytes" in last_words


@pytest.mark.parametrize(
    "trailer", [b"Host: evil.example", b"Authorization: Bearer x", b"Content-Type: text/plain"]
)
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "in pieces"])
def test_a_trailer_is_no_header(
    service: RunningService, board: str, trailer: bytes, is_whole: bool
) -> None:
    padding = b"" if is_whole else b" " * 70_000
    sent = chunked(board) + chunk(SUBMISSION) + b"0\r\n" + trailer + b"\r\n\r\n"
    pages = chunked(board, path="distribution", method="GET") + chunk(b"x" + padding)
    with connected(service.url) as raw:
        raw.sendall(sent + pages + b"0\r\n" + trailer + b"\r\n\r\n" + BYE)
        received = until_closed(raw)
    assert statuses(received) == [b"200", b"200", b"200"]
    assert received.count(b'"submission"') == 1


def test_a_body_may_come_in_many_small_chunks(service: RunningService, board: str) -> None:
    rows = b"[%s]" % b",".join(b'{"player":"p%d","score":%d}' % (n, n) for n in range(1000))
    body = b"".join(chunk(rows[at : at + 1]) for at in range(len(rows)))
    assert len(body) - len(rows) > 2 * HEAD_BYTES_MAX
    with connected(service.url) as raw:
        raw.sendall(chunked(board, path="scores/batch") + body + b"0\r\nDigest: x\r\n\r\n" + BYE)
        received = until_closed(raw)
    assert statuses(received) == [b"200", b"200"]
    assert b'"accepted":1000' in received


def test_the_rest_of_a_body_is_not_read_for_ever(service: RunningService, board: str) -> None:
    """Not even while the answer goes on."""
    head = chunked(board, path="live", method="GET")
    piece = chunk(b"x" * 60_000)
    with connected(service.url) as raw:
        sent, _ = send_without_end(raw, head, piece, 3 * REST_BYTES_MAX)
    assert sent < 2 * REST_BYTES_MAX


@pytest.mark.parametrize("number", [HEADERS_MAX - 1, HEADERS_MAX, 9000])
def test_a_head_has_a_hundred_headers_or_so(service: RunningService, number: int) -> None:
    with connected(service.url) as raw:
        raw.sendall(BYE[:-2] + b"a: b\r\n" * (number - 2) + b"\r\n")
        expected = b"200" if number <= HEADERS_MAX else b"431"
        assert statuses(until_closed(raw)) == [expected]


def test_small_headers_do_not_fill_memory(service: RunningService) -> None:
    with strained(service.process.pid, service.url) as strain:
        held = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(100)]
        for raw in held:
            with suppress(ConnectionError):
                raw.sendall(HELLO[:-2] + b"ab:cd\r\n" * 8500)
        for raw in held:
            with suppress(ConnectionError):
                raw.recv(100)
            raw.close()
    assert strain.grown_bytes < 40 * MEGABYTE


# --- heads that others would read differently -----------------------------------------------------

AMBIGUOUS = {
    "two hosts": b"Host: localhost\r\n",
    "another host": b"hOST: evil.example\r\n",
    "two keys": b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    "the same key twice": b"Authorization: Bearer a\r\nauthorization: Bearer a\r\n",
    "two origins": b"Origin: http://localhost\r\nOrigin: http://evil.example\r\n",
    "two lengths": b"Content-Length: 0\r\nContent-Length: 0\r\n",
    "two different lengths": b"Content-Length: 0\r\nContent-Length: 5\r\n",
    "two lengths in one": b"Content-Length: 0, 0\r\n",
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "gzip before chunked": b"Transfer-Encoding: gzip, chunked\r\n",
    "gzip and chunked": b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
    "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "chunked twice in one": b"Transfer-Encoding: chunked, chunked\r\n",
    "gzip": b"Transfer-Encoding: gzip\r\n",
    "identity": b"Transfer-Encoding: identity\r\n",
    "nothing": b"Transfer-Encoding:\r\n",
    "chunked with a parameter": b"Transfer-Encoding: chunked;q=1\r\n",
}


@contextmanager
def either(*, is_proxied: bool) -> Iterator[Serving]:
    if is_proxied:
        settings, proxies = ServiceSettings(needs_keys=True), Proxies(["127.0.0.1"])
        with serving(settings, proxies=proxies) as running:
            yield running
    else:
        with serving(ServiceSettings()) as running:
            yield running


@pytest.fixture(scope="module", params=[False, True], ids=["direct", "proxied"])
def running(request: pytest.FixtureRequest) -> Iterator[Serving]:
    with either(is_proxied=request.param) as running:
        yield running


@pytest.mark.parametrize("asked", [HELLO, LIVE], ids=["request", "handshake"])
@pytest.mark.parametrize("more", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_head_that_others_may_read_differently_is_refused(
    running: Serving, asked: bytes, more: bytes
) -> None:
    with connected(running.url) as raw:
        raw.sendall(asked[:-2] + more + b"\r\n")
        last_words = until_closed(raw)
    assert statuses(last_words) == [b"400"]
    assert b"/docs#malformed" in last_words


def test_a_hot_request_is_looked_at_as_well(service: RunningService, board: str) -> None:
    standings = HELLO.replace(b"/healthz", b"/v1/boards/%s/standings" % board.encode())
    with connected(service.url) as raw:
        raw.sendall(standings)
        assert raw.recv(65536).startswith(b"HTTP/1.1 200 ")
        raw.sendall(standings[:-2] + b"Host: evil.example\r\n\r\n")
        last_words = until_closed(raw)
    assert statuses(last_words) == [b"400"]
    assert b"a request can have only one Host header" in last_words


@pytest.mark.parametrize("body", [b"", b"x", b"12345"], ids=["none yet", "some", "all"])
@pytest.mark.parametrize(
    "address", [b"http://[", b"http://a:b/", b"http://", b"http://a:99999999/x", b"http://x?", b"a"]
)
def test_an_address_that_is_none_is_refused_and_is_no_news(
    service: RunningService, address: bytes, body: bytes
) -> None:
    """What a service writes to its log unasked is checked when it is stopped."""
    with connected(service.url) as raw:
        raw.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\n" % address)
        raw.sendall(b"Content-Length: 5\r\n\r\n" + body)
        assert statuses(until_closed(raw)) == [b"400"]


def test_other_headers_may_come_twice(http: httpx2.Client) -> None:
    headers = [("accept", "application/json"), ("accept", "text/html"), ("x-game", "a")]
    assert http.get("/healthz", headers=headers).status_code == 200


# --- the first line -------------------------------------------------------------------------------


WHOLE = chunk(SUBMISSION) + chunk(b"")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (BYE.replace(b"HTTP/1.1", b"HTTP/2.0"), b"505"),
        (BYE.replace(b"HTTP/1.1", b"HTTP/2.0").replace(b"close", b"keep-alive"), b"505"),
        (BYE.replace(b" /", b" http://evil.example/"), b"400"),
        (BYE.replace(b" /", b" http://localhost:1/"), b"400"),
        (BYE.replace(b" /", b" http://LOCALHOST/"), b"200"),
        (BYE.replace(b"HTTP/1.1", b"HTTP/1.0"), b"200"),
        (chunked("blitz").replace(b"HTTP/1.1", b"HTTP/1.0") + WHOLE, b"400"),
        (
            chunked("blitz").replace(b"HTTP/1.1\r\n", b"HTTP/1.0\r\nConnection: keep-alive\r\n")
            + WHOLE,
            b"400",
        ),
    ],
)
def test_a_first_line_that_means_something_else_to_others_is_refused(
    service: RunningService, request_: bytes, status: bytes
) -> None:
    with connected(service.url) as raw:
        raw.sendall(request_)
        assert statuses(until_closed(raw)) == [status]


def test_heads_that_are_refused_count_as_requests_of_the_address() -> None:
    twice = HELLO.replace(b"Host: localhost\r\n", b"Host: localhost\r\n" * 2)
    settings = ServiceSettings(needs_keys=True, address_rate=Rate(0.01, 3))
    with serving(settings) as running:
        found = []
        for request in (twice, b"junk\r\n\r\n", BYE.replace(b"HTTP/1.1", b"HTTP/2.0"), twice):
            with connected(running.url) as raw:
                raw.sendall(request)
                found += statuses(until_closed(raw))
        assert found == [b"400", b"400", b"505", b"429"]
        assert running.anyone.get("/healthz").status_code == 429
