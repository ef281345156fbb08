"""How many messages to a webhook leave per second, and what does a webhook cost submissions?

Deliveries: messages that wait in the table of effects of a file database, sent to a receiver on
this machine (a process of its own that does next to nothing), signed, and recorded as delivered,
durably. Submissions: durable batches of 1,000 with another leader in every batch, on a board with a
webhook that is told of each new leader, against the same on a database without one. Everything runs
on one event loop, as in `toprung serve`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import uvloop

import toprung
from benchmarks import harness
from toprung.ports import Step
from toprung.service.background.runner import Background
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.service.webhooks.messages import plain_message

MESSAGES = harness.amount(5_000, smoke=250)
BATCH = 1_000
BATCHES = harness.amount(40, smoke=2)


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("webhooks")
    with receiver() as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        harness.print_header("Messages to a webhook on this machine", messages=MESSAGES)
        deliveries = runner.run(_deliveries(options, url))
        report.add_figure("messages delivered", deliveries, "per s", "toprung")
        report.add_bar("webhook-deliveries", deliveries)
        harness.print_header("Durable submissions, batches of 1,000, a new leader in each")
        medians = runner.run(_submissions(options, url))
        report.add_medians("submissions with a webhook", medians, "per s")
        report.add_bar("webhook-submissions", medians["with a webhook"] / medians["without"])
    return report


@contextmanager
def receiver() -> Iterator[str]:
    """A receiver in a process of its own; its URL."""
    command = [sys.executable, "-m", "benchmarks.webhook_receiver"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/hook"
        finally:
            process.kill()


@asynccontextmanager
async def database(url: str | None) -> AsyncIterator[tuple[Leaderboards, Background, Leaderboard]]:
    """A file database with a board, and a webhook if there is a URL for one; all of it at work."""
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        async with toprung.open_async(str(Path(folder) / "scores.db")) as boards:
            board = await boards.create("board")
            if url is not None:
                boards.webhooks.allow_private_addresses()
                await boards.webhooks.put("bench", url, ["leader.changed", "board.changed"])
            boards.background.start()
            await _caught_up(boards.background)
            yield boards, boards.background, board


async def _caught_up(background: Background) -> None:
    """Wait until nothing is to be followed or delivered."""
    while True:
        status = await background.status()
        if not any(each.waiting for each in status.effects) and all(
            each.state == "following" for each in status.followers
        ):
            return
        await asyncio.sleep(0.002)


# --- deliveries -----------------------------------------------------------------------------------


async def _deliveries(options: argparse.Namespace, url: str) -> float:
    """Messages per second, from the moment when all of them wait until all are settled."""
    async with database(url) as (_, background, _):
        numbers = iter(range(1_000_000))

        async def turn() -> float:
            await _write(background, next(numbers))
            before = background.delivering.delivered
            seconds = await _timed(lambda: _delivered(background, before + MESSAGES))
            return MESSAGES / seconds

        rounds = [await turn() for _ in range(options.rounds + 1)]
        return sorted(rounds[1:])[len(rounds[1:]) // 2]


async def _write(background: Background, turn: int) -> None:
    """Have messages wait, as a follower does: in one commit."""
    stores = background.stores
    lease = await stores.leases.take("bench")
    assert lease is not None
    webhook = await _webhook(background)
    effects = [
        plain_message(webhook, f"{turn} {each}", "board.changed", 0, {"board": "board"})
        for each in range(MESSAGES)
    ]
    state = (await stores.followers.states()).get("bench")
    expected = None if state is None else state.position
    await stores.followers.commit(lease, "bench", expected, Step(position=turn, effects=effects))


async def _webhook(background: Background) -> Any:
    for source in background.following._sources:
        for follower in await source.followers():
            if follower.name.startswith("webhook:"):
                return follower.webhook  # type: ignore[attr-defined]
    raise AssertionError


async def _delivered(background: Background, count: int) -> None:
    background._delivers.set()
    while background.delivering.delivered < count:  # noqa: ASYNC110 -- a counter tells nobody
        await asyncio.sleep(0.001)
    await _caught_up(background)


async def _timed(work: Callable[[], Coroutine[Any, Any, None]]) -> float:
    loop = asyncio.get_running_loop()
    begin = loop.time()
    await work()
    return loop.time() - begin


# --- submissions ----------------------------------------------------------------------------------


async def _submissions(options: argparse.Namespace, url: str) -> dict[str, float]:
    """Submissions per second, with a webhook and without."""
    rng = random.Random(harness.SEED)
    async with database(None) as plain, database(url) as told:
        contestants = {"without": plain, "with a webhook": told}
        taken: dict[str, list[float]] = {name: [] for name in contestants}
        for number in range(options.rounds + 1):
            for name, (_, background, board) in contestants.items():
                batches = [_batch(rng, number * BATCHES + each) for each in range(BATCHES)]

                async def work(board: Leaderboard = board, batches: Any = batches) -> None:
                    for batch in batches:
                        await board.submit_many(batch)

                rate = BATCH * BATCHES / await _timed(work)
                await _caught_up(background)
                if number:
                    taken[name].append(rate)
        return {name: sorted(rates)[len(rates) // 2] for name, rates in taken.items()}


def _batch(rng: random.Random, number: int) -> list[tuple[str, int]]:
    """A thousand scores, the first of which leads."""
    others = [(f"p{rng.randrange(100_000)}", rng.randrange(1_000_000)) for _ in range(BATCH - 1)]
    return [(f"leader{number % 7}", 10_000_000 + number), *others]


if __name__ == "__main__":
    harness.main(run)
