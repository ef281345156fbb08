"""How long does it take to rank friends: the first 20 of 50, 500 and 5,000?

Ranks among friends and in the whole board. Against redis-py's ZINTERSTORE of the board with the
player's friend set and a ZREVRANGE of 20, in one pipeline, and a join in PostgreSQL: both tell
ranks among friends only. The bar is for 500.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor

from benchmarks import harness, library, peers
from benchmarks.peers.postgres import PostgresTable
from benchmarks.peers.redis_zset import RedisZset
from benchmarks.peers.toprung_board import ToprungBoard

COUNTS = {50: 10, 500: 5, 5_000: 1}  # friends, and how many players have so many
CALLS = 200
THREADS = 32


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("friends")
    harness.print_header("Friends board, first 20", players=options.size)
    with peers.opened(options.size, "toprung", "Redis", "PostgreSQL") as boards:
        first = 0
        for count, owners_max in COUNTS.items():
            owners = max(1, min(owners_max, options.size // 20_000))
            if count > options.size // 2:
                print(f"  {count} friends: too few players")
                continue
            numbers = range(first, first + owners)
            first += owners
            names = [harness.player_id(number).decode() for number in numbers]
            for name in names:
                _befriend(boards, name, _drawn(options.size, name, count))
            asked = names * (CALLS // owners)
            medians = peers.compare(options, boards, "friends", asked)
            report.add_latencies(f"20 of {count} friends", medians)
            if count == 500:
                report.add_bar("friends", medians["Redis"].mean / medians["toprung"].mean)
    return report


def _drawn(size: int, owner: str, count: int) -> list[str]:
    """Random others, none of whom owns a list: those start at the front."""
    owners = sum(COUNTS.values())
    drawn = library.names(size, 3 * count, harness.SEED + int(owner))
    return [name for name in dict.fromkeys(drawn) if int(name) >= owners][:count]


def _befriend(boards: dict[str, peers.Peer], owner: str, friends: list[str]) -> None:
    ours, redis, postgres = (boards[name] for name in ("toprung", "Redis", "PostgreSQL"))
    assert isinstance(ours, ToprungBoard)
    assert isinstance(redis, RedisZset)
    assert isinstance(postgres, PostgresTable)
    with ThreadPoolExecutor(THREADS) as threads:  # they share commits
        list(threads.map(lambda friend: ours.boards.befriend(owner, friend), friends))
    redis.client.sadd(f"friends:{owner}", owner, *friends)
    postgres.befriend(owner, [owner, *friends])


if __name__ == "__main__":
    harness.main(run)
