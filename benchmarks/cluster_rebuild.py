"""How fast is an empty Redis rebuilt from PostgreSQL?

Ours reads every card from PostgreSQL, puts it by its version and opens the shard. Against bare
variadic ZADD and HSET of the same members and cards, 1,000 at a time, from memory.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import cluster, harness
from toprung.indexes.redis import shard_key

CHUNK = 1_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_rebuild")
    with cluster.opened() as opened:
        harness.print_header("Rebuild of Redis from PostgreSQL", players=options.size)
        board, _ = opened.create("blitz")
        opened.fill(board, options.size)
        opened.run(opened.profile.catch_up.close())  # it would rebuild what bare has flushed
        base = shard_key("toprung:", board.generation).removesuffix("epoch")
        ladders, cards = opened.run(_contents(opened.client, base))

        async def ours() -> None:
            await opened.client.flushall()
            assert await opened.profile.rebuilder.rebuild(board)

        async def bare() -> None:
            await opened.client.flushall()
            for at in range(0, len(cards), CHUNK):
                for key, members in ladders.items():
                    some = dict.fromkeys(members[at : at + CHUNK], 0)
                    await opened.client.zadd(b"bare:" + key, some)
                await opened.client.hset("bare:cards", mapping=dict(cards[at : at + CHUNK]))

        medians = harness.interleave(
            options.rounds,
            {
                "toprung": lambda: len(cards) / harness.timed(lambda: opened.run(ours())),
                "bare ZADD and HSET": lambda: (
                    len(cards) / harness.timed(lambda: opened.run(bare()))
                ),
            },
        )
    report.add_medians("players per second", medians, "/s")
    report.add_bar("cluster-rebuild", medians["toprung"] / medians["bare ZADD and HSET"])
    return report


async def _contents(client: Any, base: str) -> tuple[dict[bytes, list[bytes]], list[Any]]:
    """The members of every ladder, in random order, and the cards."""
    keys = [key async for key in client.scan_iter(match=f"{base}z:*", count=1000)]
    cards = list((await client.hgetall(f"{base}cards")).items())
    ladders = {}
    for key in keys:
        members = await client.zrange(key, 0, -1)
        ladders[key] = sorted(members, key=lambda member: member[16:])
    return ladders, cards


if __name__ == "__main__":
    harness.main(run, size=20_000)
