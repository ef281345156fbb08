"""Connecting to a service: where every program that uses one begins."""

from __future__ import annotations

from typing import Final

from toprung.client.address import Address, TokenSource
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
    token: TokenSource | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: Retries | None = RETRIES,
    allow_insecure: bool = False,
) -> BlockingLeaderboards:
    """Return the leaderboards of a service, with the methods of a local database.

    Nothing is sent yet. `timeout_seconds` limits connecting and each wait for more of a response;
    `retries=None` disables retries. `token` is a player's token instead of a key, or a function
    that returns one that is valid now: it is called for every request, so it should remember the
    token until it is about to expire. A key or token is refused over plain HTTP to another machine
    unless `allow_insecure` is set, for trusted networks.
    """
    address = Address(url, key, token=token, allow_insecure=allow_insecure)
    transport = BlockingTransport(address, timeout_seconds)
    return BlockingLeaderboards(Leaderboards(Caller(address, transport, retries or NO_RETRIES)))


def connect_async(
    url: str,
    key: str | None = None,
    *,
    token: TokenSource | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: Retries | None = RETRIES,
    allow_insecure: bool = False,
) -> Leaderboards:
    """`connect` for programs with an event loop: the same methods as coroutines.

    `token` may also be a function that returns something to await.
    """
    address = Address(url, key, token=token, allow_insecure=allow_insecure)
    transport = AsyncTransport(address, timeout_seconds)
    return Leaderboards(Caller(address, transport, retries or NO_RETRIES))
