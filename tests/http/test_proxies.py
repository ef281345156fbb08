"""Behind a proxy: whose request it is, who is believed about it, and that it costs no detour.

The tests themselves speak from 127.0.0.1, as the proxy or as a stranger.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.http.raw import connected, until_closed
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung.errors import Invalid
from toprung.http.app import Service
from toprung.http.proxies import LIST_CHARACTERS_MAX, Proxies
from toprung.http.settings import Rate, ServiceSettings

OURS = ["127.0.0.1", "10.0.0.0/8", "2001:db8:f::/48"]
OTHERS = ["192.0.2.200", "10.0.0.0/8"]
BOARD = "/v1/boards/open"
HOT = f"GET {BOARD}/standings"
USUAL = f"GET {BOARD}/distribution"

# Headers in the order they arrive, and the address that asked.
BELIEVED = {
    "nobody in between": ([], "127.0.0.1"),
    "one proxy": (["192.0.2.1"], "192.0.2.1"),
    "two proxies": (["192.0.2.1, 10.0.0.7"], "192.0.2.1"),
    "a list in two headers": (["192.0.2.1", "10.0.0.7"], "192.0.2.1"),
    "spoofed": (["203.0.113.66, 192.0.2.1"], "192.0.2.1"),
    "spoofed in a header of its own": (["203.0.113.66", "192.0.2.1"], "192.0.2.1"),
    "spoofed as a proxy": (["10.0.0.9, 192.0.2.1"], "192.0.2.1"),
    "spoofed before two proxies": (["203.0.113.66, 192.0.2.1, 10.0.0.7"], "192.0.2.1"),
    "spoofed with nonsense": (["<script>, , 192.0.2.1"], "192.0.2.1"),
    "only proxies": (["10.0.0.9, 10.0.0.7"], "10.0.0.9"),
    "with a port": (["192.0.2.1:4711"], "192.0.2.1"),
    "IPv6": (["2001:DB8:0::1"], "2001:db8::1"),
    "IPv6 with a port": (["[2001:db8::1]:4711, 2001:db8:f::2"], "2001:db8::1"),
    "IPv4 as IPv6": (["::ffff:192.0.2.1"], "192.0.2.1"),
    "no address": (["unknown"], "127.0.0.1"),
    "empty": ([""], "127.0.0.1"),
    "no address before a proxy": (["192.0.2.1, unknown, 10.0.0.7"], "127.0.0.1"),
    "a gap before a proxy": (["192.0.2.1, , 10.0.0.7"], "127.0.0.1"),
    "a bracket too few": (["[2001:db8::1"], "127.0.0.1"),
    "not ASCII": (["192.0.2.\xb9"], "127.0.0.1"),
    "without end": (["192.0.2.1, " * 1000 + "192.0.2.2"], "192.0.2.2"),
    "without end, of proxies": (["192.0.2.1" + ", 10.0.0.7" * 1000], "10.0.0.7"),
    "without end, of nothing": (["1" * 10_000], "127.0.0.1"),
}
CASES = pytest.mark.parametrize(("forwarded", "address"), BELIEVED.values(), ids=BELIEVED)


def request_head(line: str, forwarded: list[str]) -> bytes:
    headers = "".join(f"X-Forwarded-For: {value}\r\n" for value in forwarded)
    return f"{line} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode("latin-1")


def ask(running: Serving, line: str, *forwarded: str) -> int:
    """The status that a caller behind a proxy gets."""
    with connected(running.url) as raw:
        raw.sendall(request_head(line, list(forwarded))[:-2] + b"Connection: close\r\n\r\n")
        return int(until_closed(raw).split()[1])


@contextmanager
def behind(proxies: list[str], **settings: Any) -> Iterator[Serving]:
    """A service with a public board that believes these proxies."""
    rules = ServiceSettings(needs_keys=True, **settings)
    with serving(rules, proxies=Proxies(proxies)) as running:
        assert running.http.put(BOARD, json={"public": True}).status_code == 201
        yield running


@pytest.fixture(scope="module")
def ours() -> Iterator[Serving]:
    with behind(OURS) as running:
        yield running


@pytest.fixture(scope="module")
def others() -> Iterator[Serving]:
    with behind(OTHERS) as running:
        yield running


@contextmanager
def addresses_logged(caplog: pytest.LogCaptureFixture, expected: list[str]) -> Iterator[None]:
    """Whatever is asked for meanwhile is logged with these addresses, in this order."""

    def addresses() -> list[str]:
        found = [each for each in caplog.records if getattr(each, "method", None) == "GET"]
        return [getattr(each, "address", "") for each in found]

    with caplog.at_level(logging.INFO, "toprung.http"):
        yield
        eventually(lambda: len(addresses()) >= len(expected))  # an answer may come before its log
    assert addresses() == expected


@CASES
@pytest.mark.parametrize("line", [HOT, USUAL, "GET /nowhere"])
def test_the_caller_is_whom_our_proxies_name(
    ours: Serving,
    caplog: pytest.LogCaptureFixture,
    line: str,
    forwarded: list[str],
    address: str,
) -> None:
    with addresses_logged(caplog, [address]):
        ask(ours, line, *forwarded)


@CASES
@pytest.mark.parametrize("line", [HOT, USUAL])
def test_a_stranger_is_not_believed(
    others: Serving,
    caplog: pytest.LogCaptureFixture,
    line: str,
    forwarded: list[str],
    address: str,
) -> None:
    with addresses_logged(caplog, ["127.0.0.1"]):
        ask(others, line, *forwarded)


def test_requests_of_many_callers_come_on_one_connection(
    ours: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    addresses = [f"192.0.2.{n}" for n in range(1, 30)]
    lines = [(HOT, USUAL, "GET /nowhere")[n % 3] for n in range(len(addresses))]
    heads = [request_head(*each) for each in zip(lines, ([a] for a in addresses), strict=True)]
    last = request_head(HOT, [])[:-2] + b"Connection: close\r\n\r\n"
    with addresses_logged(caplog, [*addresses, "127.0.0.1"]), connected(ours.url) as raw:
        raw.sendall(b"".join(heads) + last)
        assert until_closed(raw).count(b"HTTP/1.1 ") == len(addresses) + 1


@pytest.mark.parametrize("line", [HOT, USUAL])
def test_each_caller_has_its_own_share(line: str) -> None:
    with behind(OURS, address_rate=Rate(0.01, 3)) as running:
        one = [ask(running, line, "192.0.2.1") for _ in range(4)]
        assert one == [200, 200, 200, 429]
        # Whoever makes up another address each time is still the same caller.
        spoofed = [ask(running, line, f"203.0.113.{n}, 192.0.2.1") for n in range(4)]
        assert spoofed == [429] * 4
        assert ask(running, line, "192.0.2.2") == 200


def test_strangers_share_what_their_address_has() -> None:
    with behind(OTHERS, address_rate=Rate(0.01, 3)) as running:
        statuses = [ask(running, HOT, f"192.0.2.{n}") for n in range(4)]
        assert statuses == [200, 200, 200, 429]


def live(running: Serving, forwarded: str) -> ClientConnection:
    url = running.url.replace("http", "ws") + "/v1/live"
    socket: ClientConnection = connect(
        url, additional_headers={"X-Forwarded-For": forwarded}, open_timeout=20
    )
    return socket


def test_live_connections_are_counted_by_caller() -> None:
    with behind(OURS, sockets_per_caller_max=1) as running, ExitStack() as stack:
        stack.enter_context(live(running, "192.0.2.1"))
        stack.enter_context(live(running, "192.0.2.2, 10.0.0.7"))
        with pytest.raises(InvalidStatus, match="429"):
            live(running, "203.0.113.66, 192.0.2.1")


def test_live_connections_of_strangers_are_their_own() -> None:
    with behind(OTHERS, sockets_per_caller_max=1) as running, ExitStack() as stack:
        stack.enter_context(live(running, "192.0.2.1"))
        with pytest.raises(InvalidStatus, match="429"):
            live(running, "192.0.2.2")


@pytest.mark.parametrize("proxies", [OURS, OTHERS], ids=["from a proxy", "from a stranger"])
def test_hot_routes_are_answered_at_once_behind_a_proxy(
    proxies: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is served the usual way goes through the application's ASGI face, and nothing else."""
    usual: list[str] = []
    serve = Service.__call__

    def noting(service: Service, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        usual.append(f"{scope['method']} {scope['path']}")
        return serve(service, scope, receive, send)

    with behind(proxies) as running:
        key = f"Authorization: Bearer {running.key}"
        body = b'{"player":"alice","score":5}'
        post = request_head(f"POST {BOARD}/scores", ["192.0.2.1"])[:-2].decode()
        post += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{key}\r\n\r\n"
        lines = (HOT, f"{HOT}/alice", f"{HOT}/alice/around", USUAL)
        requests = [post.encode() + body, *(request_head(line, ["192.0.2.1"]) for line in lines)]
        monkeypatch.setattr(Service, "__call__", noting)
        with connected(running.url) as raw:
            for _ in range(2):  # an address is not known to be hot at first
                usual.clear()
                for sent in requests:
                    raw.sendall(sent)
                    assert raw.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert usual == [USUAL]


@given(st.lists(st.sampled_from(["10.0.0.1", "10.9.9.9"]), max_size=20), st.text())
def test_what_stands_before_the_caller_never_matters(trusted: list[str], spoofed: str) -> None:
    proxies = Proxies(OURS)
    told = ",".join([spoofed, "192.0.2.1", *trusted])
    assert proxies.caller(("10.0.0.2", 80), [told]) == ("192.0.2.1", 0)


@pytest.mark.parametrize("cut", range(12))
def test_a_list_that_is_cut_leaves_no_piece_of_an_address(cut: int) -> None:
    address = "192.0.2.111"
    trusted = ",10.0.0.1" * 40
    padding = " " * (LIST_CHARACTERS_MAX - len(trusted) - cut)
    found = Proxies(OURS).caller(("10.0.0.2", 80), [address + padding + trusted])
    assert found == ("10.0.0.1" if cut < len(address) else address, 0)


@given(st.lists(st.text()))
def test_any_header_leads_to_an_address(forwarded: list[str]) -> None:
    found = Proxies(OURS).caller(("10.0.0.2", 80), forwarded)
    assert found is not None


@pytest.mark.parametrize("wrong", ["", "*", "proxy.example", "10.0.0.1:80", "10.0.0.1/8", "10/8"])
def test_a_proxy_that_is_no_address_is_refused(wrong: str) -> None:
    with pytest.raises(Invalid, match=r"^proxy: .* is not an IP address, nor a network"):
        Proxies(["10.0.0.1", wrong])


def test_a_proxy_is_not_named_by_the_ipv6_form_of_its_address() -> None:
    with pytest.raises(Invalid, match="without ::ffff:"):
        Proxies(["::ffff:10.0.0.1"])
