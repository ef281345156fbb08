"""How long does it take to find a random player's rank, one call at a time?

Against sortedcontainers' SortedList.index on the same order (the player's tuple is looked up in
a dict first, as its user would) and against one redis-py ZREVRANK round trip over loopback TCP.
"""

from __future__ import annotations

import argparse
import random

from sortedcontainers import SortedList

from benchmarks import harness, library, servers

CALLS = 20_000
ROUND_TRIPS = 2_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("rank_one_by_one")
    with library.redis_ladders(options.size, 1) as (client, (key,)):
        harness.print_header(
            "Rank of a random player, one call at a time",
            players=options.size,
            redis=servers.describe(client),
        )
        ours = harness.native_ladder(options.size)
        entries = {
            player: (*harness.words(key), player)
            for player, key in harness.filled_keys(options.size, harness.SEED)
        }
        theirs = SortedList(entries.values())
        some = harness.sample(random.Random(harness.SEED), options.size, CALLS)
        assert [ours.offset(p) for p in some[:99]] == [theirs.index(entries[p]) for p in some[:99]]
        medians = harness.interleave(
            options.rounds,
            {
                "toprung": lambda: harness.each(ours.offset, some),
                "SortedList.index": lambda: harness.each(
                    lambda player: theirs.index(entries[player]), some
                ),
                "ZREVRANK round trip": lambda: harness.each(
                    lambda player: client.zrevrank(key, player), some[:ROUND_TRIPS]
                ),
            },
        )
    report.add_medians("rank", medians)
    report.add_bar("rank-sortedlist", medians["SortedList.index"] / medians["toprung"])
    report.add_bar("rank-redis", medians["ZREVRANK round trip"] / medians["toprung"])
    return report


if __name__ == "__main__":
    harness.main(run)
