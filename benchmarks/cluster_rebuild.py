"""How fast is an empty Redis rebuilt from PostgreSQL?

Ours reads every card from PostgreSQL, puts it by its version and opens the shard. Against bare
variadic ZADD and HSET of the same members and fields, 1,000 at a time, from memory: whatever the
index holds when it is complete, by players, so that members come in a random order.
"""

from __future__ import annotations

import argparse
from typing import Any

import redis

from benchmarks import cluster, harness

CHUNK = 1_000
AT_ONCE = 5_000

Key = tuple[Any, list[Any]]
"""A key, and its fields with their values or its members with their scores."""


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_rebuild")
    with cluster.opened(report, size=options.size) as opened:
        harness.print_header("Rebuild of Redis from PostgreSQL", players=options.size)
        board, _ = opened.create("blitz")
        opened.fill(board, options.size)
        opened.run(opened.profile.catch_up.close())  # it would rebuild what bare has flushed
        with redis.Redis(port=opened.nodes[0].port) as client:
            hashes, ladders = _contents(client)

            def ours() -> None:
                client.flushall()
                assert opened.run(opened.profile.rebuilder.rebuild(board))

            def bare() -> None:
                client.flushall()
                for at in range(0, options.size, CHUNK):
                    for key, members in ladders:
                        if some := dict(members[at : at + CHUNK]):
                            client.zadd(b"bare:" + key, some)
                    for key, fields in hashes:
                        if some := dict(fields[at : at + CHUNK]):
                            client.hset(b"bare:" + key, mapping=some)

            medians = harness.interleave(
                options.rounds,
                {
                    "toprung": lambda: options.size / harness.timed(ours),
                    "bare ZADD and HSET": lambda: options.size / harness.timed(bare),
                },
                is_warm=True,
            )
    report.add_medians("players per second", medians, "/s")
    report.add_bar("cluster-rebuild", medians["toprung"] / medians["bare ZADD and HSET"])
    return report


def _contents(client: redis.Redis) -> tuple[list[Key], list[Key]]:
    """Every HASH and every ZSET; members in the order of their ends, which are the players.

    Little by little, for the process has calls under way that do not wait for long.
    """
    hashes = [
        (key, list(client.hscan_iter(key, count=AT_ONCE))) for key in client.scan_iter(_type="hash")
    ]
    ladders = [
        (key, sorted(client.zscan_iter(key, count=AT_ONCE), key=lambda member: member[0][::-1]))
        for key in client.scan_iter(_type="zset")
    ]
    return hashes, ladders


if __name__ == "__main__":
    harness.main(run)
