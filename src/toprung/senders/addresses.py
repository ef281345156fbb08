"""Which network addresses belong to the public internet.

Whoever may set a webhook must not be able to reach what only this machine or its network can.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

_NAT64: Final = IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = IPv6Network("::/96")
_LOCAL: Final = (
    *map(ip_network, ("192.0.0.0/24", "168.63.129.16/32")),
    *map(ip_network, ("64:ff9b:1::/48", "fec0::/10", "3fff::/20")),
)
"""What is not of the public internet although `is_global` says so: special purposes, a service that
every machine of a large cloud finds there, NAT64 of a site's own, and a site's own addresses."""


def is_public(text: str) -> bool:
    """Whether an address is one that anybody on the internet could reach.

    IPv6 has many ways to say an IPv4 address; what is inside has to be public as well.

    >>> [is_public(each) for each in ("93.184.215.14", "2606:2800:21f:cb07::1")]
    [True, True]
    >>> [is_public(each) for each in ("10.0.0.1", "127.0.0.1", "169.254.169.254", "100.64.0.1")]
    [False, False, False, False]
    >>> [is_public(each) for each in ("::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "::")]
    [False, False, False, False]
    >>> [is_public(each) for each in ("fec0::2", "64:ff9b:1:a00:0:100:808:808", "168.63.129.16")]
    [False, False, False]
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    inner = _inside(address) if isinstance(address, IPv6Address) else None
    if inner is not None:
        return is_public(str(inner))
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_link_local
        or any(address in network for network in _LOCAL)
    )


def _inside(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to, if it does."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _COMPATIBLE or address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
