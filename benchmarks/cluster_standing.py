"""How long does it take to read a random player's standing in a cluster, one call at a time?

Against one redis-py pipeline of ZRANK, HGET and ZCARD on the same keys, with the same client.
"""

from __future__ import annotations

import argparse

from benchmarks import cluster, harness
from toprung.domain.ladder import Ladder
from toprung.indexes.redis import ladder_name, shard_key

CALLS = 500


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_standing")
    with cluster.opened(report, size=options.size) as opened:
        harness.print_header("Standing of a random player in a cluster", players=options.size)
        board, leaderboard = opened.create("blitz")
        opened.fill(board, options.size)
        base = shard_key("toprung:", board.generation).removesuffix("epoch")
        key = f"{base}z:{ladder_name(Ladder('blitz', 'all-time', 'all', 'global'))}"
        members = opened.run(opened.client.zrange(key, 0, -1))
        some = opened.rng.sample(members, CALLS)
        width = 8 * board.shape.order

        async def ours() -> None:
            for member in some:
                await leaderboard.standing(member[width:].decode())

        async def bare() -> None:
            for member in some:
                pipeline = opened.client.pipeline(transaction=False)
                pipeline.zrank(key, member)
                pipeline.hget(f"{base}cards", member[width:])
                pipeline.zcard(key)
                await pipeline.execute()

        medians = harness.interleave(
            options.rounds,
            {
                "toprung": lambda: 1e6 * harness.timed(lambda: opened.run(ours())) / CALLS,
                "pipeline": lambda: 1e6 * harness.timed(lambda: opened.run(bare())) / CALLS,
            },
        )
    report.add_medians("standing", medians)
    report.add_bar("cluster-standing", medians["pipeline"] / medians["toprung"])
    return report


if __name__ == "__main__":
    harness.main(run, size=20_000)
