"""How soon do all watchers of a top 10 see a new leader?

300 WebSockets watch; somebody takes the lead four times a second. Measured from before the score
is posted until each watcher has a message that names the leader. Against a bare ASGI application
on the same server library that sends the same bytes to all its WebSockets: nothing decided,
nothing on disk, nothing read. Both are watched by the same Python process, which takes most of
the time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from benchmarks import harness, http_routes

WATCHERS = 300
CHANGES = harness.amount(8, smoke=2)  # in one contestant's turn in a round
PAUSE_SECONDS = 0.25
SUBSCRIBE = json.dumps({"subscribe": {"id": "a", "board": "blitz", "top": 10}})
RECEIVE_SECONDS_MAX = 30


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("live_fanout")
    watchers = min(WATCHERS, options.size // 50)
    harness.print_header(
        f"A new leader, seen by {watchers} WebSockets", players=options.size, changes=CHANGES
    )
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name:
        folder = Path(name)
        http_routes.fill(folder, options.size)
        with (
            http_routes.ours(folder) as port,
            http_routes.serving(["-m", "benchmarks.live_bare"]) as bare_port,
            asyncio.Runner() as runner,
        ):
            ours = runner.run(Watched.open(watchers, port, "/v1/live"))
            bare = runner.run(Watched.open(watchers, int(bare_port), "/"))
            medians = harness.interleave_latencies(
                min(options.rounds, 5),
                {
                    "toprung": lambda: runner.run(ours.changes("/v1/boards/blitz/scores")),
                    "bare broadcast": lambda: runner.run(bare.changes("/", ours.last_message)),
                },
            )
            for watched in (ours, bare):
                runner.run(watched.close())
    report.add_latencies("new leader seen", medians)
    return report


class Watched:
    """A service, its watchers, and somebody who takes the lead."""

    def __init__(self, watchers: list[ClientConnection], http: httpx2.AsyncClient) -> None:
        self._watchers = watchers
        self._http = http
        self._score = 1_000_000_000
        self.last_message = ""

    @classmethod
    async def open(cls, count: int, port: int, path: str) -> Watched:
        """Connect all watchers."""
        watchers = [await connect(f"ws://127.0.0.1:{port}{path}") for _ in range(count)]
        if path != "/":
            for watcher in watchers:
                await watcher.send(SUBSCRIBE)
                await watcher.recv()
        return cls(watchers, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30))

    async def changes(self, path: str, message: str | None = None) -> list[float]:
        """Microseconds until each watcher saw each change; `message` is posted where given."""
        taken: list[float] = []
        for _ in range(CHANGES):
            self._score += 1
            leader = f"leader-{self._score}"
            body = message or json.dumps({"player": leader, "score": self._score})
            sign = "" if message else leader
            waiting = [asyncio.create_task(self._seen(w, sign)) for w in self._watchers]
            await asyncio.sleep(0)
            begin = time.perf_counter()
            answer = await self._http.post(
                path, content=body, headers={"content-type": "application/json"}
            )
            assert answer.is_success, answer.text
            taken += [1e6 * (seen - begin) for seen in await asyncio.gather(*waiting)]
            await asyncio.sleep(PAUSE_SECONDS)
        return taken

    async def _seen(self, watcher: ClientConnection, sign: str) -> float:
        async with asyncio.timeout(RECEIVE_SECONDS_MAX):
            while True:
                self.last_message = str(await watcher.recv())
                if sign in self.last_message:
                    return time.perf_counter()

    async def close(self) -> None:
        """Let all go."""
        await self._http.aclose()
        await asyncio.gather(*(watcher.close() for watcher in self._watchers))


if __name__ == "__main__":
    harness.main(run, size=100_000)
