"""Connecting to a service: where every program that uses one begins."""

from __future__ import annotations

from typing import Final

from toprung.client.address import Address
from toprung.client.blocking import Leaderboards as BlockingLeaderboards
from toprung.client.caller import NO_RETRIES, Caller, Retries
from toprung.client.leaderboards import Leaderboards
from toprung.client.transport import AsyncTransport, BlockingTransport

TIMEOUT_SECONDS: Final = 10.0
RETRIES: Final = Retries()


def connect(
    url: str,
    key: str | None = None,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: Retries | None = RETRIES,
    allow_insecure: bool = False,
) -> BlockingLeaderboards:
    """Return the leaderboards of a service, with the methods of a local database.

    Nothing is sent yet. `timeout_seconds` limits connecting and each wait for more of a response;
    `retries=None` disables retries. A key is refused over plain HTTP to another machine unless
    `allow_insecure` is set, for trusted networks.
    """
    address = Address(url, key, allow_insecure=allow_insecure)
    transport = BlockingTransport(address, timeout_seconds)
    return BlockingLeaderboards(Leaderboards(Caller(address, transport, retries or NO_RETRIES)))


def connect_async(
    url: str,
    key: str | None = None,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: Retries | None = RETRIES,
    allow_insecure: bool = False,
) -> Leaderboards:
    """`connect` for programs with an event loop: the same methods as coroutines."""
    address = Address(url, key, allow_insecure=allow_insecure)
    transport = AsyncTransport(address, timeout_seconds)
    return Leaderboards(Caller(address, transport, retries or NO_RETRIES))
