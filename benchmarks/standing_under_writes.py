"""How long does a standing take while scores keep coming in?

One program with two threads: one asks for 200 standings a second, the other submits 40 batches of
100 a second. The loop is open: calls are due at fixed times whatever earlier ones took, and a
call's time counts from when it was due, so whoever falls behind shows it. Against redis-py (the
multi-window MULTI) and PostgreSQL (count(*) by index; one commit per batch) in the same program.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import asyncpg

from benchmarks import harness, library
from benchmarks.peers import postgres, redis_zset

READS_PER_SECOND = 200
WRITES_PER_SECOND = 40
BATCH = 100
TURNS = 5  # a turn is so many times longer than where calls are made as fast as they can be
AMOUNT = 5
UPDATE = "UPDATE scores SET score = score + $2 WHERE player = ANY ($1::text[])"

Ask = Callable[[str], object]
Write = Callable[[Sequence[str]], object]


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("standing_under_writes")
    harness.print_header(
        f"{READS_PER_SECOND} standings/s beside {BATCH * WRITES_PER_SECOND} submissions/s",
        players=options.size,
    )
    asked = library.names(
        options.size, int(READS_PER_SECOND * TURNS * options.seconds), harness.SEED
    )
    written = library.names(options.size, 100 * BATCH, harness.SEED + 1)
    batches = [written[at : at + BATCH] for at in range(0, len(written), BATCH)]
    with ExitStack() as stack:
        contestants = {
            name: stack.enter_context(opened(options.size))
            for name, opened in (("toprung", _ours), ("Redis", _redis), ("PostgreSQL", _postgres))
        }
        medians = harness.interleave_latencies(
            min(options.rounds, 5),
            {name: _turn(*pair, asked, batches) for name, pair in contestants.items()},
        )
    report.add_latencies("standing under writes", medians)
    return report


def _turn(
    ask: Ask, write: Write, asked: Sequence[str], batches: Sequence[Sequence[str]]
) -> Callable[[], list[float]]:
    def measure() -> list[float]:
        with _writing(write, batches):
            return open_loop(ask, asked, READS_PER_SECOND)

    return measure


def open_loop(ask: Ask, asked: Sequence[str], per_second: int) -> list[float]:
    """Microseconds from when each call was due until it was answered.

    After twice the time that all should take the rest is not asked any more.
    """
    taken = []
    begin = time.perf_counter()
    end = begin + 2 * len(asked) / per_second
    for number, player in enumerate(asked):
        due = begin + number / per_second
        now = time.perf_counter()
        if now > end:
            break
        if now < due:
            time.sleep(due - now)
        ask(player)
        taken.append(1e6 * (time.perf_counter() - due))
    return taken


@contextmanager
def _writing(write: Write, batches: Sequence[Sequence[str]]) -> Iterator[None]:
    """Write at the fixed rate in a thread while the block lasts."""
    done = threading.Event()

    def work() -> None:
        begin = time.perf_counter()
        for number, batch in enumerate(itertools.cycle(batches)):
            if done.wait(max(0.0, begin + number / WRITES_PER_SECOND - time.perf_counter())):
                return
            write(batch)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


# --- contestants --------------------------------------------------------------------------------


@contextmanager
def _ours(size: int) -> Iterator[tuple[Ask, Write]]:
    with library.database(size, "sum") as (_, _, board):
        yield (
            board.standing,
            lambda batch: board.submit_many([(player, AMOUNT) for player in batch]),
        )


@contextmanager
def _redis(size: int) -> Iterator[tuple[Ask, Write]]:
    def write(batch: Sequence[str]) -> None:
        pipeline = client.pipeline(transaction=True)
        for player in batch:
            for key in keys:
                pipeline.zincrby(key, AMOUNT, player)
        pipeline.execute()

    with library.redis_ladders(size) as (client, keys):
        yield redis_zset.RedisZset(client, keys).standing, write


@contextmanager
def _postgres(size: int) -> Iterator[tuple[Ask, Write]]:
    with postgres.opened(size) as table, asyncio.Runner() as writer:
        connection = writer.run(_connect(table.url))

        def write(batch: Sequence[str]) -> None:
            writer.run(connection.execute(UPDATE, list(batch), AMOUNT))

        yield lambda player: table.ask("standing", player), write
        writer.run(connection.close())


async def _connect(url: str) -> Any:
    return await asyncpg.connect(url)


if __name__ == "__main__":
    harness.main(run)
