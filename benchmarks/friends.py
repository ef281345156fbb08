"""How long does the friends board take: the first 20 of 500 friends?

Ranks among friends and in the whole board. Against redis-py's ZINTERSTORE of the board with the
player's friend set and a ZREVRANGE of 20, in one pipeline: ranks among friends only.
"""

from __future__ import annotations

import argparse

import redis

from benchmarks import harness, library, servers
from toprung.blocking import Leaderboards

FRIENDS = 500
SHOWN = 20
OWNERS = 20
CALLS = 200


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("friends")
    with servers.redis_server() as client:
        harness.print_header(
            f"Friends board, first {SHOWN} of {FRIENDS}",
            players=options.size,
            redis=servers.describe(client),
        )
        library.add_scores(client, "board", options.size)
        owners = [harness.player_id(number).decode() for number in range(OWNERS)]
        with library.database(options.size, "best") as (_, boards, board):
            _befriend(boards, client, owners, options.size)
            asked = owners * (CALLS // OWNERS)
            medians = harness.interleave(
                options.rounds,
                {
                    "toprung": lambda: harness.each(
                        lambda player: board.friends(player, limit=SHOWN, names=False), asked
                    ),
                    "ZINTERSTORE": lambda: harness.each(
                        lambda player: _intersect(client, player), asked
                    ),
                },
            )
    for name, median in medians.items():
        report.add_figure(f"friends board, {name}", median)
    report.add_bar("friends", medians["ZINTERSTORE"] / medians["toprung"])
    return report


def _befriend(boards: Leaderboards, client: redis.Redis, owners: list[str], size: int) -> None:
    for number, owner in enumerate(owners):
        drawn = library.names(size, FRIENDS + 50, harness.SEED + number)
        friends = [name for name in dict.fromkeys(drawn) if name not in owners][:FRIENDS]
        for friend in friends:
            boards.befriend(owner, friend)
        client.sadd(f"friends:{owner}", owner, *friends)


def _intersect(client: redis.Redis, player: str) -> object:
    pipeline = client.pipeline(transaction=False)
    pipeline.zinterstore(f"among:{player}", {"board": 1, f"friends:{player}": 0}, aggregate="SUM")
    pipeline.zrevrange(f"among:{player}", 0, SHOWN - 1, withscores=True)
    return pipeline.execute()


if __name__ == "__main__":
    harness.main(run)
