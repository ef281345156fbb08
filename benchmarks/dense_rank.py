"""How long does a dense rank take at the top, in the middle and at the bottom?

Ours on a board that declares dense ranking. Against the common script for Redis, which looks at
every member above the player, and count(DISTINCT) in PostgreSQL.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import toprung
from benchmarks import harness, library, peers
from benchmarks.peers.redis_zset import RedisZset
from benchmarks.peers.toprung_board import ToprungBoard

PLACES = {"top": 0.0, "middle": 0.5, "bottom": 0.999}
PLAYERS = 20


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("dense_rank")
    harness.print_header("Dense rank", players=options.size)
    with peers.opened(options.size, "Redis", "PostgreSQL") as theirs, _ours(options.size) as ours:
        boards = {"toprung": ours, **theirs}
        redis = theirs["Redis"]
        assert isinstance(redis, RedisZset)
        for place, share in PLACES.items():
            first = int(share * options.size)
            found: Any = redis.client.zrevrange(redis.key, first, first + PLAYERS - 1)
            players = [player.decode() for player in found]
            assert ours.dense_rank(players[0]) == redis.dense_rank(players[0])
            medians = peers.compare(options, boards, "dense_rank", players * 50)
            report.add_latencies(f"dense rank at the {place}", medians)
    return report


@contextmanager
def _ours(size: int) -> Iterator[ToprungBoard]:
    with toprung.open("memory:") as boards:
        board = boards.create("board", ranking="dense", windows=["all-time"])
        library.load(board, size)
        yield ToprungBoard(boards, board)


if __name__ == "__main__":
    harness.main(run)
