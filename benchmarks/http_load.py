"""An open-loop load generator: requests leave when they are due, whatever became of earlier ones.

    python -m benchmarks.http_load '{"port": 8080, "seconds": 5, "kinds": [...]}'

Each kind has a name, a rate per second, a number of connections and a request, in which %d stands
for a random player. Arrivals are a Poisson process from a fixed seed. A request that finds all
connections of its kind busy waits, and its latency counts from the moment it was due; so a server
that stalls is charged for everybody who would have come meanwhile. It prints JSON: per kind the
number of answers and the percentiles of their latencies in milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import deque
from functools import partial
from typing import Any

import uvloop

from benchmarks import harness

TICK_SECONDS = 0.0005
WARM_SECONDS = 1.0
DRAIN_SECONDS_MAX = 10.0
PERCENTILES = (50, 95, 99)


class Kind:
    """Requests of one kind: those that wait, and the latencies of those that were answered."""

    def __init__(self, text: str, rate: float, players: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self._head, found, self._rest = text.partition("%d")
        self._players = players if found else 0
        self._rate = rate
        self.due = 0.0
        self.waiting: deque[float] = deque()
        self.idle: list[Connection] = []
        self.latencies: list[tuple[float, float]] = []
        self.failures = 0

    def request(self) -> bytes:
        """The next request."""
        if not self._players:
            return self._head.encode()
        return f"{self._head}{self._rng.randrange(self._players):012d}{self._rest}".encode()

    def arrive(self, now: float) -> None:
        """Let all requests come that are due, and send as many as there are connections."""
        while self.due <= now:
            self.waiting.append(self.due)
            self.due += self._rng.expovariate(self._rate)
        while self.waiting and self.idle:
            self.idle.pop().ask(self.waiting.popleft())


class Connection(asyncio.Protocol):
    """One connection, with at most one request under way."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._received = b""
        self._due = 0.0

    def connection_made(self, transport: Any) -> None:
        """The connection is there."""
        self._transport = transport
        self._kind.idle.append(self)

    def ask(self, due: float) -> None:
        """Send a request that was due at this moment."""
        self._due = due
        self._transport.write(self._kind.request())

    def data_received(self, data: bytes) -> None:
        """Take an answer; when it is whole, send the next request or rest."""
        data = self._received + data
        head, found, body = data.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not found or len(body) < int(length):
            self._received = data
            return
        self._received = b""
        kind, now = self._kind, time.perf_counter()
        kind.failures += not head.startswith(b"HTTP/1.1 200")
        kind.latencies.append((self._due, now - self._due))
        if kind.waiting:
            self.ask(kind.waiting.popleft())
        else:
            kind.idle.append(self)


async def generate(options: dict[str, Any]) -> dict[str, Any]:
    """Generate the load, and report."""
    loop = asyncio.get_running_loop()
    kinds: dict[str, Kind] = {}
    for number, each in enumerate(options["kinds"]):
        kind = Kind(each["request"], each["rate"], options["players"], harness.SEED + number)
        kinds[each["name"]] = kind
        for _ in range(each["connections"]):
            await loop.create_connection(
                partial(Connection, kind), host="127.0.0.1", port=options["port"]
            )
    begin = time.perf_counter()
    for kind in kinds.values():
        kind.due = begin
    end = begin + WARM_SECONDS + options["seconds"]
    while (now := time.perf_counter()) < end:
        for kind in kinds.values():
            kind.arrive(now)
        await asyncio.sleep(TICK_SECONDS)
    while any(kind.waiting for kind in kinds.values()):
        await asyncio.sleep(TICK_SECONDS)
        if time.perf_counter() > end + DRAIN_SECONDS_MAX:
            break
    return {name: _report(kind, begin + WARM_SECONDS) for name, kind in kinds.items()}


def _report(kind: Kind, since: float) -> dict[str, float]:
    taken = sorted(seconds for due, seconds in kind.latencies if due >= since)
    unanswered = len(kind.waiting)
    taken += [float("inf")] * unanswered
    report = {
        f"p{p}": 1000 * taken[min(len(taken) - 1, len(taken) * p // 100)] for p in PERCENTILES
    }
    return {"answers": len(taken) - unanswered, "failures": kind.failures, **report}


if __name__ == "__main__":
    print(json.dumps(uvloop.run(generate(json.loads(sys.argv[1])))))
