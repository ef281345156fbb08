"""How many ranks of random players per second, in batches?

Against the server's own ceiling: redis-benchmark -P 32 with ZREVRANK of random members, all of
which exist. Ours are asked for by id, in batches of 1,000; by number is printed beside it, and
so is what redis-py reaches with pipelines of 1,000.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from collections.abc import Callable

import redis

from benchmarks import harness, library, servers

BATCH = 1_000
BATCHES = harness.amount(200, smoke=5)
PIPELINED = 20
REQUESTS = 500_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("ranks_batched")
    with library.redis_ladders(options.size, 1) as (client, (key,)):
        harness.print_header(
            "Ranks of random players, batched", players=options.size, redis=servers.describe(client)
        )
        ours = harness.native_ladder(options.size)
        rng = random.Random(harness.SEED)
        by_id = [harness.sample(rng, options.size, BATCH) for _ in range(BATCHES)]
        by_number = [harness.numbers_of(ours.players.numbers(ids), "I") for ids in by_id]
        port = servers.port_of(client)
        medians = harness.interleave(
            options.rounds,
            {
                "toprung, by id": lambda: _rate(lambda: [ours.offsets(ids) for ids in by_id]),
                "toprung, by number": lambda: _rate(lambda: [ours.offsets(n) for n in by_number]),
                "redis-benchmark -P 32": lambda: _ceiling(port, options.size, key),
                "redis-py pipelined": lambda: _rate(
                    lambda: [_pipelined(client, key, ids) for ids in by_id[:PIPELINED]], PIPELINED
                ),
            },
        )
    report.add_medians("ranks per second", medians, "/s")
    report.add_bar("ranks-batched", medians["toprung, by id"] / medians["redis-benchmark -P 32"])
    return report


def _rate(work: Callable[[], object], batches: int = BATCHES) -> float:
    return BATCH * batches / harness.timed(work)


def _pipelined(client: redis.Redis, key: str, ids: list[bytes]) -> object:
    pipeline = client.pipeline(transaction=False)
    for player in ids:
        pipeline.zrevrank(key, player)
    return pipeline.execute()


def _ceiling(port: int, size: int, key: str) -> float:
    """Requests per second that redis-benchmark reports."""
    requests = min(REQUESTS, 50 * size)
    command = ["redis-benchmark", "-p", str(port), "-P", "32", "-n", str(requests)]
    command += ["-r", str(size), "--csv", "ZREVRANK", key, "__rand_int__"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(output.strip().splitlines()[-1].split(",")[1].strip('"'))


if __name__ == "__main__":
    harness.main(run)
