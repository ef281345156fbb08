"""WebSockets of strangers: floods, readers that do not read, and crowds that one address makes.

Each attack is made on a service in a process of its own, and is measured by how long somebody else
waits meanwhile and by how much the service grows.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx2
import pytest

from tests.conftest import RunningService, StartService
from tests.http.live_raw import (
    FIRST_PART,
    MEGABYTE,
    PART,
    PING,
    PONG,
    TEXT,
    close_of,
    frame,
    frames,
    open_raw,
    opening,
    subscribe,
)
from tests.http.raw import connected, until_closed
from tests.http.serving import Serving, serving
from tests.http.strain import peak_bytes, resident_bytes, strained
from tests.http.waiting import eventually
from toprung.http.limits import RateLimit
from toprung.http.live import protocol
from toprung.http.server import MESSAGE_BYTES_MAX
from toprung.http.settings import Rate, ServiceSettings

BOARD = "/v1/boards/attacked"
READ = f"{BOARD}/standings/p5"
FLOOD_SECONDS = 2.0


@pytest.fixture
def service(start_service: StartService) -> RunningService:
    return prepared(start_service("--db", "memory:"))


def prepared(service: RunningService) -> RunningService:
    """The service, with a board that can be read."""
    with httpx2.Client(base_url=service.url, timeout=20) as http:
        assert http.put(BOARD, json={"windows": ["all-time"]}).status_code == 201
        rows = [{"player": f"p{number}", "score": number} for number in range(20)]
        assert http.post(f"{BOARD}/scores/batch", json=rows).status_code == 200
    return service


def figure(service: RunningService, name: str) -> float:
    """What a metric says."""
    text = httpx2.get(f"{service.url}/metrics", timeout=20).text
    line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.rpartition(" ")[2])


@pytest.mark.parametrize("size", [0, 125])
def test_a_flood_of_pings_that_nobody_reads_holds_up_nobody(
    service: RunningService, size: int
) -> None:
    """Before: others waited for seconds, and the service kept every answer."""
    flood = frame(PING, b"x" * size) * (MEGABYTE // (6 + size))
    before, until = resident_bytes(service.process.pid), time.monotonic() + FLOOD_SECONDS

    def attack() -> None:
        while time.monotonic() < until:
            with suppress(OSError), open_raw(service.url) as raw:
                while time.monotonic() < until:
                    raw.sendall(flood)

    with strained(service.process.pid, service.url, READ) as strain:
        attackers = [threading.Thread(target=attack) for _ in range(4)]
        for attacker in attackers:
            attacker.start()
        for attacker in attackers:
            attacker.join()
    assert strain.longest_wait < 1
    assert peak_bytes(service.process.pid) - before < 30 * MEGABYTE
    assert figure(service, 'toprung_live_refused_total{reason="messages"}') >= 4


def test_a_change_that_concerns_thousands_of_subscriptions_holds_up_nobody(
    service: RunningService,
) -> None:
    """Before: whoever asked waited until the last of them was served, half a second or more."""
    sockets_per_address, subscriptions, addresses = 60, 30, 10
    everything = sockets_per_address * subscriptions * addresses
    asked = b"".join(
        subscribe(str(n), board="attacked", top=10, player="p5") for n in range(subscriptions)
    )
    with ExitStack() as stack, httpx2.Client(base_url=service.url, timeout=20) as http:
        for number in range(sockets_per_address * addresses):
            source = f"127.0.0.{1 + number % addresses}"
            stack.enter_context(open_raw(service.url, source=source)).sendall(asked)
        eventually(lambda: figure(service, "toprung_live_subscriptions") == everything, 300)
        with strained(service.process.pid, service.url, READ) as strain:
            for score in range(100, 103):
                http.post(f"{BOARD}/scores", json={"player": "p5", "score": score})
                time.sleep(0.3)
        assert strain.longest_wait < 0.5
        with strained(service.process.pid, service.url, READ) as strain:
            stack.close()
            eventually(lambda: figure(service, "toprung_live_sockets") == 0, 300)
        assert strain.longest_wait < 0.5


def test_an_address_has_so_many_connections_and_subscriptions(start_service: StartService) -> None:
    limits = ("--live-connections", "6", "--live-subscriptions", "60")
    service = prepared(start_service("--db", "memory:", *limits))
    asked = b"".join(subscribe(str(number), board="attacked", top=1) for number in range(20))
    with ExitStack() as stack:
        sockets = [stack.enter_context(open_raw(service.url)) for _ in range(6)]
        with connected(service.url) as raw:
            raw.sendall(opening())
            refusal = until_closed(raw).decode()
        assert refusal.startswith("HTTP/1.1 429 ")
        assert "retry-after: 5\r\n" in refusal
        problem = json.loads(refusal.partition("\r\n\r\n")[2])
        assert (
            problem["detail"] == "this address already has 6 live connections, which is the limit"
        )
        for raw in sockets[:3]:
            raw.sendall(asked)
        eventually(lambda: figure(service, "toprung_live_subscriptions") == 60)
        sockets[3].sendall(subscribe("more", board="attacked", top=1))
        told = json.loads(next(frames(sockets[3]))[1])
        assert (told["type"], told["id"], told["problem"]["status"]) == ("error", "more", 429)
        assert "already has 60 live subscriptions" in told["problem"]["detail"]
        with open_raw(service.url, source="127.0.0.2") as other:  # somebody else
            other.sendall(asked)
            eventually(lambda: figure(service, "toprung_live_subscriptions") == 80)
        sockets[0].close()
        eventually(lambda: figure(service, "toprung_live_subscriptions") == 40)
        sockets[3].sendall(subscribe("more", board="attacked", top=1))
        eventually(lambda: figure(service, "toprung_live_subscriptions") == 41)
    for what in ("connections", "subscriptions"):
        assert figure(service, f'toprung_live_refused_total{{reason="{what}"}}') == 1


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    with serving(ServiceSettings()) as inside:
        assert inside.http.put(BOARD, json={}).status_code == 201
        yield inside


def test_who_reads_nothing_is_not_heard_and_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "FRAMES", Rate(1e6, 1_000_000))  # may send all that it can
    flood = frame(PING, b"x" * 125) * 500
    with serving(ServiceSettings(send_seconds_max=0.5)) as running:
        limits = running.service.state.live_limits
        with open_raw(running.url) as raw:
            sent = sent_until_refused(raw, flood, 65 * MEGABYTE)
        assert sent < 30 * MEGABYTE  # which the system's buffers took
        eventually(lambda: limits.connections == 0)
        assert limits.refused["unread"] == 1


def sent_until_refused(raw: socket.socket, data: bytes, bytes_max: int) -> int:
    """How many bytes could be sent until the other side ended the connection."""
    sent = 0
    with suppress(ConnectionError):
        while sent < bytes_max:
            raw.sendall(data)
            sent += len(data)
    return sent


def test_of_many_pings_the_last_is_answered(running: Serving) -> None:
    with open_raw(running.url) as raw:
        raw.sendall(b"".join(frame(PING, b"%d" % number) for number in range(50)))
        answers = []
        for head, data in frames(raw):
            answers.append((head, data))
            if data == b"49":
                break
        assert {head for head, _ in answers} == {PONG}
        assert len(answers) < 50
        raw.sendall(frame(TEXT, b"nonsense"))  # and the connection lives
        assert json.loads(next(frames(raw))[1])["type"] == "error"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(PING) * 300, 1008),
        (frame(PONG) * 300, 1008),
        (frame(TEXT, b"{}") * 300, 1008),
        (frame(FIRST_PART) + frame(PART) * 300, 1008),
        (frame(FIRST_PART, b"x" * 3000) + frame(PART, b"x" * 3000), 1009),
        (frame(TEXT, b"x" * (MESSAGE_BYTES_MAX + 1)), 1009),
        (frame(TEXT, b"\xff"), 1007),
        (frame(TEXT | 0x40, b"x"), 1002),  # as if it were compressed
    ],
    ids=["pings", "pongs", "texts", "parts", "large parts", "a large text", "no UTF-8", "deflate"],
)
def test_what_may_not_be_sent_ends_the_connection_with_a_reason(
    running: Serving, sent: bytes, code: int
) -> None:
    with open_raw(running.url) as raw:
        raw.sendall(sent)
        found, reason = close_of(raw)
        assert found == code
        assert reason


def test_what_all_send_at_once_is_bounded(
    running: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "UNPARSED_IN_ALL_BYTES_MAX", 10_000)
    with open_raw(running.url) as large, open_raw(running.url) as short:
        large.sendall(frame(TEXT, b"x" * 4000) * 3)
        assert close_of(large)[0] == 1008
        short.sendall(frame(TEXT, b"{}"))
        assert json.loads(next(frames(short))[1])["type"] == "error"
    eventually(lambda: running.service.state.live_limits.unparsed_bytes == 0)


def test_nothing_is_compressed(running: Serving) -> None:
    with connected(running.url) as raw:
        raw.sendall(opening("Sec-WebSocket-Extensions: permessage-deflate"))
        assert b"sec-websocket-extensions" not in raw.recv(4096).lower()


def test_an_opening_that_the_library_cannot_read_is_answered(running: Serving) -> None:
    """Before: it was never answered, nor was the connection ever closed."""
    with connected(running.url) as raw:
        raw.sendall(opening("X-Header: " + "x" * 20_000))
        assert until_closed(raw).startswith(b"HTTP/1.1 400 ")


def test_opening_counts_as_a_request_of_the_address() -> None:
    settings = ServiceSettings(needs_keys=True, address_rate=Rate(0.01, 3))
    with serving(settings) as running, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(open_raw(running.url))
        with connected(running.url) as raw:
            raw.sendall(opening())
            refusal = until_closed(raw)
        assert refusal.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after:" in refusal
        assert running.anyone.get("/healthz").status_code == 429
        open_raw(running.url, f"Authorization: Bearer {running.key}").close()


def test_messages_of_one_address_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    booked: dict[str, list[float | None]] = defaultdict(list)

    class Noted(RateLimit):
        """A limit at a moment that does not pass, and what it told everybody to wait."""

        def __init__(self, rate: Rate) -> None:
            super().__init__(rate, clock=lambda: 0)

        def book(self, caller: str, cost: int, wait_max: float) -> float | None:
            wait = super().book(caller, cost, wait_max)
            booked[caller].append(wait)
            return wait

    monkeypatch.setattr("toprung.http.live.limits.RateLimit", Noted)
    monkeypatch.setattr("toprung.http.live.limits.MESSAGES", Rate(20, 10))
    with serving(ServiceSettings()) as running, ExitStack() as stack:
        sockets = [stack.enter_context(open_raw(running.url)) for _ in range(4)]
        other = stack.enter_context(open_raw(running.url, source="127.0.0.2"))
        begin = time.monotonic()
        for raw in sockets:
            raw.sendall(frame(TEXT, b"{}") * 5)
        other.sendall(frame(TEXT, b"{}"))
        next(frames(other))
        for raw in sockets:
            received(raw, 5)
        assert time.monotonic() - begin > 0.45  # the last ten of twenty took half a second
    assert booked["127.0.0.2"] == [0]
    assert booked["127.0.0.1"] == [0] * 10 + [number / 20 for number in range(1, 11)]


def received(raw: socket.socket, count: int) -> None:
    """Wait until so many messages have come."""
    for number, _ in enumerate(frames(raw), 1):
        if number == count:
            return
    pytest.fail("the connection has ended")


def test_subscriptions_to_many_friends_are_small_and_count_by_their_size(
    start_service: StartService,
) -> None:
    """Before: some 120 KB each, and each counted as one."""
    service = prepared(start_service("--db", "memory:", "--live-subscriptions", "700"))
    with httpx2.Client(base_url=service.url, timeout=20) as http, ExitStack() as stack:
        rows = [{"player": f"friend-{number:04}", "score": number} for number in range(500)]
        assert http.post(f"{BOARD}/scores/batch", json=rows).status_code == 200
        for number in range(500):
            http.put(f"/v1/players/p5/friends/friend-{number:04}", json={}).raise_for_status()
        before = resident_bytes(service.process.pid)
        for _ in range(4):
            raw = stack.enter_context(open_raw(service.url))
            for number in range(40):  # of which a hundred, counting as six each, there is room
                raw.sendall(subscribe(str(number), board="attacked", player="p5", friends=True))
        refused = 'toprung_live_refused_total{reason="subscriptions"}'
        eventually(lambda: figure(service, refused) >= 40, 60)
        assert 100 <= figure(service, "toprung_live_subscriptions") <= 120
        assert resident_bytes(service.process.pid) - before < 5 * MEGABYTE
        stack.close()
        eventually(lambda: figure(service, "toprung_live_subscriptions") == 0)
        with open_raw(service.url) as raw:
            raw.sendall(subscribe("a", board="attacked", player="p5", friends=True))
            told = (json.loads(data) for _, data in frames(raw))
            assert next(told)["type"] == "rank"
            http.post(f"{BOARD}/scores", json={"player": "friend-0007", "score": 1000})
            assert next(news for news in told if news["type"] == "score") | {"token": ""} == {
                "type": "score",
                "id": "a",
                "token": "",
                "player": "friend-0007",
                "score": 1000,
                "previous_score": 7,
            }
