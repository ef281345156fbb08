"""A process of `cluster_submitters`: opens a cluster, fills a board, and submits when told to.

Only what every version of the library has is used, so a checkout of another version can run it: in
its own environment, by the path of this file. It reads seconds from its input, one number per line,
and answers each with a line: submissions per second, and commits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from typing import Any

import toprung

SCORE_MAX = 10_000_000


async def main() -> None:
    """Fill, then take turns until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="the settings of the cluster")
    parser.add_argument("--size", type=int, help="players")
    parser.add_argument("--submitters", type=int, help="how many submit at the same time")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    async with toprung.open_async(options.target) as boards:
        board = await boards.create("blitz")
        scores = ((f"{n:012d}", rng.randrange(SCORE_MAX)) for n in range(options.size))
        await board.submit_many(scores)
        print("ready", flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps(await turn(boards, board, options, rng, float(line))), flush=True)


async def turn(
    boards: Any, board: Any, options: argparse.Namespace, rng: random.Random, seconds: float
) -> dict[str, float]:
    """Submit, each submitter one score after the other, and wait for every receipt."""
    commits = await commits_of(boards)
    begin = time.perf_counter()
    end, done = begin + seconds, 0

    async def submitter() -> None:
        nonlocal done
        while time.perf_counter() < end:
            player = f"{rng.randrange(options.size):012d}"
            receipt = await board.submit(player, rng.randrange(SCORE_MAX))
            assert receipt.standings
            assert not receipt.stale
            done += 1

    await asyncio.gather(*(submitter() for _ in range(options.submitters)))
    taken = time.perf_counter() - begin
    return {"rate": done / taken, "commits": await commits_of(boards) - commits}


async def commits_of(boards: Any) -> int:
    """How many batches the journal has committed."""
    return sum((await boards.figures()).commits.rows.counts)


if __name__ == "__main__":
    asyncio.run(main())
