"""What happens when 50 callers submit for the same player at once?

Policy sum. Ours are 50 asyncio tasks, durable, on four windows with their ranks. Against 50
asyncio tasks with redis-py (the multi-window MULTI; not on disk) and 20 connections to PostgreSQL
that each update the same row and commit. Nobody may lose an addition, which is checked.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import redis.asyncio

import toprung
from benchmarks import harness, library, servers
from toprung.testing.servers import PostgresServer

TASKS = 50
CONNECTIONS = 20
SUBMISSIONS = 1_000
UPDATES = 200
PLAYER = harness.player_id(0).decode()
AMOUNT = 5
UPDATE = "UPDATE scores SET score = score + $2 WHERE player = $1"


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("contention")
    harness.print_header(f"{TASKS} callers, one player", players=options.size)
    postgres = PostgresServer(fsync=True)
    try:
        with (
            library.database(options.size, "sum") as (path, boards, _),
            library.redis_ladders(options.size) as (client, keys),
        ):
            boards.close()
            url = f"redis://127.0.0.1:{servers.port_of(client)}"
            medians = _measure(options, str(path), url, keys, postgres.url)
    finally:
        postgres.close()
    report.add_medians("submissions for one player", medians, "per s")
    return report


def _measure(
    options: argparse.Namespace, path: str, redis_url: str, keys: list[str], postgres_url: str
) -> dict[str, float]:
    with asyncio.Runner() as runner:
        boards = runner.run(_awaited(toprung.open_async(path)))
        client = redis.asyncio.Redis.from_url(redis_url)
        pool = runner.run(
            _awaited(asyncpg.create_pool(postgres_url, min_size=CONNECTIONS, max_size=CONNECTIONS))
        )
        board = runner.run(boards.board("board"))
        runner.run(pool.execute("CREATE TABLE scores (player text PRIMARY KEY, score bigint)"))
        runner.run(pool.execute("INSERT INTO scores VALUES ($1, 0)", PLAYER))

        async def submit() -> None:
            await board.submit(PLAYER, AMOUNT)

        async def increment() -> None:
            pipeline = client.pipeline(transaction=True)
            for key in keys:
                pipeline.zincrby(key, AMOUNT, PLAYER)
            pipeline.zrevrank(keys[0], PLAYER)
            await pipeline.execute()

        async def update() -> None:
            await pool.execute(UPDATE, PLAYER, AMOUNT)

        def rate(call: Callable[[], Awaitable[None]], count: int, tasks: int) -> float:
            return count / harness.timed(lambda: runner.run(_together(call, count, tasks)))

        before = runner.run(board.standing(PLAYER)).score
        medians = harness.interleave(
            options.rounds,
            {
                "toprung": lambda: rate(submit, SUBMISSIONS, TASKS),
                "Redis": lambda: rate(increment, SUBMISSIONS, TASKS),
                "PostgreSQL": lambda: rate(update, UPDATES, CONNECTIONS),
            },
        )
        rounds = options.rounds + 1
        score = runner.run(board.standing(PLAYER)).score
        assert score - before == AMOUNT * rounds * SUBMISSIONS
        stored = runner.run(pool.fetchval("SELECT score FROM scores"))
        assert stored == AMOUNT * rounds * UPDATES
        for close in (boards.close, client.aclose, pool.close):
            runner.run(close())
    return medians


async def _awaited(opening: Any) -> Any:
    return await opening


async def _together(submit: Callable[[], Awaitable[None]], count: int, tasks: int) -> None:
    async def one_by_one(own: int) -> None:
        for _ in range(own):
            await submit()

    await asyncio.gather(*(one_by_one(count // tasks) for _ in range(tasks)))


if __name__ == "__main__":
    harness.main(run)
