"""Services to be clients of, and clients whose waits are written down instead of waited."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.cluster.conftest import cluster_file
from tests.http.serving import Serving, serving
from toprung.client.address import Address
from toprung.client.blocking import Leaderboard, Leaderboards
from toprung.client.caller import Caller, Retries
from toprung.client.leaderboards import Leaderboard as AsyncLeaderboard
from toprung.client.leaderboards import Leaderboards as AsyncLeaderboards
from toprung.client.transport import BlockingTransport
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

__all__ = ["cluster_file"]

NOW = "2026-11-15T12:00:00Z"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def served(clock: FrozenClock) -> Iterator[Serving]:
    """A service whose clock stands still."""
    with serving(ServiceSettings(), clock) as running:
        yield running


class Recorder(BlockingTransport):
    """The real transport, except that waiting takes no time and is written down."""

    def __init__(self, address: Address, timeout_seconds: float = 5.0) -> None:
        super().__init__(address, timeout_seconds)
        self.pauses: list[float] = []

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


def impatient(url: str, retries: Retries | None = None) -> tuple[Leaderboards, Recorder]:
    """A client that never really waits, and what it would have waited."""
    address = Address(url)
    transport = Recorder(address)
    chance = random.Random(20261115)
    caller = Caller(address, transport, Retries() if retries is None else retries, chance)
    return Leaderboards(AsyncLeaderboards(caller)), transport


def board_without_asking(boards: Leaderboards, board_id: str) -> Leaderboard:
    """A board of a service that may not know it."""
    return Leaderboard(AsyncLeaderboard(board_id, boards._face_of._caller))
