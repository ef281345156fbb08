"""What one address may have: requests without a key, whatever they are, and connections."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress

import httpx2
import pytest
from websockets.sync.client import connect

from tests.conftest import StartService
from tests.http.conftest import problem_of
from tests.http.raw import BYE, HELLO, answers, connected, until_closed
from tests.http.serving import Serving, serving
from tests.http.strain import strained
from tests.http.waiting import eventually
from toprung.http.limits import Peers, caller_of
from toprung.http.problems import Refused
from toprung.http.proxies import Proxies
from toprung.http.settings import Rate, ServiceSettings
from toprung.service.leaderboards import Leaderboard

LIMITED = ServiceSettings(needs_keys=True, address_rate=Rate(0.01, 3))
MEGABYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("OPTIONS", "/v1/boards", 204),
        ("OPTIONS", "/nowhere", 404),
        ("GET", "/nowhere", 404),
        ("POST", "/healthz", 405),
        ("PUT", "/embed.js", 405),
        ("GET", "/v1/boards/%zz", 400),
        ("GET", "/" + "x" * 5000, 414),
        ("GET", "/v1/boards", 401),
        ("GET", "/v1/boards/open/standings", 200),
    ],
)
def test_whatever_an_address_asks_without_a_key_counts(method: str, path: str, status: int) -> None:
    with serving(LIMITED) as running:
        running.http.put("/v1/boards/open", json={"public": True}).raise_for_status()
        found = [running.anyone.request(method, path) for _ in range(4)]
        assert [answer.status_code for answer in found] == [status] * 3 + [429]
        assert int(found[3].headers["retry-after"]) > 0


@pytest.mark.parametrize("path", ["/v1/boards/open/standings", "/healthz", "/nowhere", "/"])
def test_all_addresses_of_a_64_are_one(path: str) -> None:
    with serving(LIMITED, proxies=Proxies(["127.0.0.1"])) as running:
        running.http.put("/v1/boards/open", json={"public": True}).raise_for_status()

        def ask(address: str) -> int:
            return running.anyone.get(path, headers={"x-forwarded-for": address}).status_code

        statuses = [ask(f"2001:db8:1:2:{n:x}::{n:x}") for n in range(1, 5)]
        assert statuses[-1] == 429
        assert 429 not in statuses[:-1]
        assert ask("2001:db8:1:3::1") != 429
        assert ask("::ffff:192.0.2.1") != 429


def test_an_address_that_is_ipv4_in_disguise_is_one_address() -> None:
    assert caller_of(("::ffff:192.0.2.1", 1)) == caller_of(("192.0.2.1", 2)) == "192.0.2.1"
    assert caller_of(("fe80::1%eth0", 1)) == caller_of(("fe80::2%eth1", 1)) == "fe80::/64"
    assert caller_of(("not:an:address", 1)) == "not:an:address"


# --- connections ----------------------------------------------------------------------------------


def hello_from(running: Serving, address: str) -> socket.socket:
    """A connection from one of this machine's addresses that was answered once."""
    place = ("127.0.0.1", int(running.url.rpartition(":")[2]))
    raw = socket.create_connection(place, timeout=20, source_address=(address, 0))
    try:
        raw.sendall(HELLO)
        answers(raw, 1)
    except BaseException:
        raw.close()
        raise
    return raw


def last_words(running: Serving, address: str = "127.0.0.1") -> bytes:
    """What a new connection is told, if anything."""
    place = ("127.0.0.1", int(running.url.rpartition(":")[2]))
    with socket.create_connection(place, timeout=20, source_address=(address, 0)) as raw:
        with suppress(ConnectionError):
            raw.sendall(BYE)
        return until_closed(raw)


def is_refused(told: bytes) -> bool:
    """Refused before anything was sent: whoever sends all the same may not hear why."""
    return told == b"" or (told.startswith(b"HTTP/1.1 429 ") and b"open connections" in told)


def test_an_address_has_so_many_connections_and_others_have_theirs() -> None:
    settings = ServiceSettings(connections_per_address_max=3)
    with serving(settings) as running, ExitStack() as stack:
        held = [stack.enter_context(hello_from(running, "127.0.0.2")) for _ in range(3)]
        assert is_refused(last_words(running, "127.0.0.2"))
        assert b"200 OK" in last_words(running, "127.0.0.3")
        held[0].sendall(HELLO)  # those that are open go on
        answers(held[0], 1)
        held.pop().close()
        eventually(lambda: b"200 OK" in last_words(running, "127.0.0.2"))


def test_a_refusal_says_why() -> None:
    settings = ServiceSettings(connections_per_address_max=1)
    with (
        serving(settings) as running,
        hello_from(running, "127.0.0.1"),
        connected(running.url) as raw,  # and says nothing
    ):
        told = until_closed(raw)
    assert told.startswith(b"HTTP/1.1 429 ")
    assert b"/docs#too-many-connections" in told
    assert b"retry-after: 5\r\n" in told
    assert b"your address has reached its limit of open connections (1)" in told


def test_connections_that_end_are_forgotten_however_they_end() -> None:
    settings = ServiceSettings(connections_per_address_max=2)
    with serving(settings, head_seconds_max=0.2) as running:
        live = running.url.replace("http", "ws") + "/v1/live"
        for _ in range(5):
            eventually(lambda: b"200 OK" in last_words(running))
            with connected(running.url) as raw:
                raw.sendall(b"G")  # given up on
                until_closed(raw)
            with connected(running.url) as raw:
                raw.sendall(b"NONSENSE\r\n\r\n")
                until_closed(raw)
            with suppress(OSError, TimeoutError), connect(live):
                pass
        eventually(lambda: b"200 OK" in last_words(running))


def test_live_connections_have_a_limit_of_their_own() -> None:
    settings = ServiceSettings(connections_per_address_max=2)
    with serving(settings) as running, ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(connect(running.url.replace("http", "ws") + "/v1/live"))
        assert b"200 OK" in last_words(running)


def test_a_proxy_has_as_many_connections_as_it_needs() -> None:
    settings = ServiceSettings(needs_keys=True, connections_per_address_max=2)
    with serving(settings, proxies=Proxies(["127.0.0.2"])) as running, ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(hello_from(running, "127.0.0.2"))
        for _ in range(2):
            stack.enter_context(hello_from(running, "127.0.0.3"))
        assert is_refused(last_words(running, "127.0.0.3"))


def test_connections_of_a_64_are_counted_together() -> None:
    peers = Peers(2)
    names = [peers.enter((f"2001:db8::{n}", 1)) for n in range(2)]
    with pytest.raises(Refused):
        peers.enter(("2001:db8::ffff", 1))
    assert peers.enter(("2001:db8:0:1::", 1)) == "2001:db8:0:1::/64"
    peers.leave(names[0])
    assert peers.enter(("2001:db8::ffff", 1)) == names[0]


def test_a_flood_of_connections_does_not_hold_up_others(start_service: StartService) -> None:
    service = start_service("--db", "memory:", "--connections-per-address", "100")
    with httpx2.Client(base_url=service.url) as http:
        assert http.get("/healthz").status_code == 200
        with strained(service.process.pid, service.url) as strain, ExitStack() as stack:
            place = ("127.0.0.1", service.port)
            for _ in range(2000):
                raw = socket.create_connection(place, source_address=("127.0.0.2", 0))
                stack.callback(raw.close)
        problem_of(http.get("/nowhere"), 404, "no-such-route")
    assert strain.longest_wait < 2
    assert strain.grown_bytes < 32 * MEGABYTE


def test_an_address_is_counted_before_anything_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a cluster each board that does not exist is a query."""
    with serving(LIMITED) as running:
        state, looked_for = running.service.state, []
        find = state.board

        async def board(board_id: str) -> Leaderboard:
            looked_for.append(board_id)
            return await find(board_id)

        monkeypatch.setattr(state, "board", board)
        wrong = {"authorization": "Bearer nonsense"}
        assert running.anyone.get("/v1/boards/b0/standings", headers=wrong).status_code == 401
        assert looked_for == []
        paths = [f"/v1/boards/b{number}/standings" for number in range(1, 5)]
        statuses = [running.anyone.get(path).status_code for path in paths]
        assert statuses == [401, 401, 429, 429]
        assert looked_for == ["b1", "b2"]


def test_a_stranger_is_not_told_what_a_board_may_be_called() -> None:
    with serving(ServiceSettings(needs_keys=True)) as running:
        problem_of(running.anyone.get("/v1/boards/No!/standings"), 401, "unauthorized")
        assert running.http.get("/v1/boards/No!/standings").status_code == 422
