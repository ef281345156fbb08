"""Whose request it is, where proxies stand in between.

A proxy names the caller in `X-Forwarded-For`, at the right end of what it was sent itself. Anybody
can send that header, so the list is read from the right, for as long as the one who wrote the next
address is a proxy of ours: the first address that is not is the caller, and whatever stands further
left is hearsay. Nothing is read from a list that a stranger sent, nor beyond what is no address.

Here it is done where the head of a request is parsed, and only where there are proxies.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from toprung.errors import Invalid
from toprung.http.auth import Client
from toprung.http.connection import HttpConnection
from toprung.http.live.protocol import LiveSocket

if TYPE_CHECKING:
    from websockets.http11 import Request

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LIST_CHARACTERS_MAX: Final = 500
"""Of a longer list only the end is read: there are fewer proxies in a row."""
LISTS_HELD_MAX: Final = 4096

_HEADER: Final = b"x-forwarded-for"
_MAPPED: Final = ipaddress.IPv6Network("::ffff:0:0/96")
_WITH_PORT = re.compile(r"\[([^\[\]]+)\](?::[0-9]{1,5})?|([^:]+):[0-9]{1,5}")


class Proxies:
    """The proxies that are believed, as addresses or networks.

    >>> proxies = Proxies(["10.0.0.0/8"])
    >>> proxies.caller(("10.0.0.1", 80), ["203.0.113.9, 192.0.2.1, 10.0.0.2"])
    ('192.0.2.1', 0)
    >>> proxies.caller(("192.0.2.1", 80), ["203.0.113.9"])
    ('192.0.2.1', 80)
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        self._networks = [_network(address) for address in addresses]
        # The same few come again and again, and parsing addresses takes a while.
        self.trusts = lru_cache(LISTS_HELD_MAX)(self._is_proxy)
        """Whether an address, as text, is one of a proxy."""
        self._names = lru_cache(LISTS_HELD_MAX)(self._read)

    def caller(self, peer: Client, forwarded: Sequence[str]) -> Client:
        """Who asks: `peer`, or whom it speaks for, by its `X-Forwarded-For` headers in order."""
        if peer is None or not forwarded or not self.trusts(peer[0]):
            return peer
        text = ",".join(forwarded)
        if len(text) > LIST_CHARACTERS_MAX:
            text = text[-LIST_CHARACTERS_MAX:].partition(",")[2]
        address = self._names(text)
        return peer if address is None else (address, 0)

    def _is_proxy(self, text: str) -> bool:
        address = _address(text)
        return address is not None and self._has(address)

    def _read(self, text: str) -> str | None:
        """The rightmost address that is no proxy's, or the last that is; None for nonsense."""
        address: Address | None = None
        for hop in reversed(text.split(",")):
            address = _address(_without_port(hop.strip()))
            if address is None or not self._has(address):
                break
        return None if address is None else str(address)

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


class ProxiedConnection(HttpConnection):
    """A connection on which a proxy may speak for others, each request for another."""

    def __init__(self, *args: Any, proxies: Proxies, **options: Any) -> None:
        super().__init__(*args, **options)
        self._proxies = proxies

    def connection_made(self, transport: Any) -> None:
        """A connection begins."""
        super().connection_made(transport)
        self._peer = self.client

    def on_headers_complete(self) -> None:
        """A head is complete: it says whose request it is."""
        forwarded = [value.decode("latin-1") for name, value in self._headers if name == _HEADER]
        self.client = self._proxies.caller(self._peer, forwarded)
        super().on_headers_complete()


class ProxiedSocket(LiveSocket):
    """A WebSocket that a proxy may have opened for somebody."""

    def __init__(self, *args: Any, proxies: Proxies, **options: Any) -> None:
        super().__init__(*args, **options)
        self._proxies = proxies

    def handle_connect(self, event: Request) -> None:
        """The head is complete: it says whose connection it is."""
        self.client = self._proxies.caller(self.client, event.headers.get_all(_HEADER.decode()))
        super().handle_connect(event)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise Invalid(
            "proxy", f"{text!r} is not an IP address, nor a network such as 10.0.0.0/8: {error}"
        ) from None
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        raise Invalid("proxy", f"{text!r} is an IPv4 address: write it without ::ffff:")
    return network


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _without_port(text: str) -> str:
    """The address that stands before a port, if there is one.

    >>> [_without_port(text) for text in ("192.0.2.1:80", "[2001:db8::1]:80", "2001:db8::1")]
    ['192.0.2.1', '2001:db8::1', '2001:db8::1']
    """
    found = _WITH_PORT.fullmatch(text)
    return text if found is None else found[1] or found[2]
