"""What benchmarks of the library share: a board of random players in a file database."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

import toprung
from benchmarks import harness, servers
from toprung.blocking import Leaderboard, Leaderboards

WINDOWS = ("all-time", "daily", "weekly", "monthly")
LOAD_ROWS = 10_000


@contextmanager
def database(size: int, policy: str) -> Iterator[tuple[Path, Leaderboards, Leaderboard]]:
    """A file database with one board of four windows that every player is on."""
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        path = Path(folder) / "scores.db"
        with toprung.open(str(path)) as boards:
            board = boards.create("board", policy=policy, windows=list(WINDOWS))
            load(board, size)
            yield path, boards, board


def load(board: Leaderboard, size: int) -> None:
    """Submit every player's score once, in random order."""
    entries = harness.filled_keys(size, harness.SEED)
    board.submit_many((player.decode(), score) for player, (score, _) in entries)


def ladder_keys(client: redis.Redis, size: int) -> list[str]:
    """The same scores as one plain ZSET per window, as the common recipe has it."""
    keys = [f"board:{window}" for window in WINDOWS]
    for key in keys:
        add_scores(client, key, size)
    return keys


def add_scores(client: redis.Redis, key: str, size: int) -> None:
    """Fill a ZSET with every player's score."""
    servers.add_members(client, key, harness.filled_keys(size, harness.SEED))


def names(size: int, count: int, seed: int) -> list[str]:
    """`count` random players, as text."""
    return [player.decode() for player in harness.sample(random.Random(seed), size, count)]
