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
from benchmarks.kept import is_on, kept
from toprung.blocking import Leaderboard, Leaderboards

KEPT_MAX = 10_000_000  # players of a Redis that is kept; larger ones are filled once
WINDOWS = ("all-time", "daily", "weekly", "monthly")
_SEASON = {"starts": "2000-01-01T00:00:00Z", "ends": "2100-01-01T00:00:00Z"}
LADDERS: dict[int, list[object]] = {
    1: ["all-time"],
    4: list(WINDOWS),
    8: [*WINDOWS, "yearly", *({"name": name, **_SEASON} for name in ("one", "two", "three"))],
}
"""The windows of a board on which each submission changes so many ladders."""


@contextmanager
def database(
    size: int, policy: str, ladders: int = 4
) -> Iterator[tuple[Path, Leaderboards, Leaderboard]]:
    """A file database with one board that every player is on; four windows unless told."""
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        path = Path(folder) / "scores.db"
        with kept(f"{policy}-{ladders}-{size}", path.parent) as is_filled:
            if not is_filled:
                with toprung.open(str(path), synchronous="normal") as boards:
                    load(boards.create("board", policy=policy, windows=LADDERS[ladders]), size)
        with toprung.open(str(path)) as boards:
            yield path, boards, boards["board"]


def load(board: Leaderboard, size: int) -> None:
    """Submit every player's score once, in random order."""
    entries = harness.filled_keys(size, harness.SEED)
    board.submit_many((player.decode(), score) for player, (score, _) in entries)


@contextmanager
def redis_ladders(size: int, ladders: int = 4) -> Iterator[tuple[redis.Redis, list[str]]]:
    """A Redis with the same scores as one plain ZSET per window, and the keys of these."""
    keys = [f"board:{number}" for number in range(ladders)]
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        if is_on() and size <= KEPT_MAX:
            with kept(f"redis-{size}", Path(folder)) as is_filled:
                if not is_filled:
                    with servers.redis_server(folder) as client:
                        add_scores(client, keys[0], size)
                        client.save()
        with servers.redis_server(folder) as client:
            if not client.exists(keys[0]):
                add_scores(client, keys[0], size)
            for key in keys[1:]:
                client.copy(keys[0], key)
            yield client, keys


def add_scores(client: redis.Redis, key: str, size: int) -> None:
    """Fill a ZSET with every player's score."""
    servers.add_members(client, key, harness.filled_keys(size, harness.SEED))


def names(size: int, count: int, seed: int) -> list[str]:
    """`count` random players, as text."""
    return [player.decode() for player in harness.sample(random.Random(seed), size, count)]
