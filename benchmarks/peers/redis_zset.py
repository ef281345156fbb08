"""Redis as the common recipes use it: a ZSET per window, asked by redis-py over loopback TCP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import redis

from benchmarks import harness, library

AMOUNT = 5
WEEK_SECONDS = 7 * 24 * 3600

# The distinct scores above one, counted by looking at every member above it.
DENSE_RANK = """
local above = redis.call('ZRANGE', KEYS[1], '+inf', ARGV[1], 'BYSCORE', 'REV', 'WITHSCORES')
local seen, distinct = {}, 0
for i = 2, #above, 2 do
  if not seen[above[i]] then
    seen[above[i]] = true
    distinct = distinct + 1
  end
end
return distinct
"""


class RedisZset:
    """Plain ZSETs: the score is the score, the member is the player."""

    def __init__(self, client: redis.Redis, keys: Sequence[str]) -> None:
        self.client = client
        self.keys = keys
        self.key = keys[0]

    def times(self, question: str, asked: Sequence[Any], seconds: float) -> list[float]:
        """Microseconds of each call."""
        return harness.times(getattr(self, question), asked, seconds)

    def standing(self, player: str) -> object:
        """Rank, score and total in one pipeline."""
        pipeline = self.client.pipeline(transaction=False)
        pipeline.zrevrank(self.key, player)
        pipeline.zscore(self.key, player)
        pipeline.zcard(self.key)
        return pipeline.execute()

    def top(self, count: int) -> object:
        """One round trip."""
        return self.client.zrevrange(self.key, 0, count - 1, withscores=True)

    def around(self, player: str) -> object:
        """Two round trips: where the player is, then who is near."""
        rank = self.client.zrevrank(self.key, player)
        assert isinstance(rank, int)
        return self.client.zrevrange(self.key, max(0, rank - 5), rank + 5, withscores=True)

    def dense_rank(self, player: str) -> int:
        """The score, then a script that walks over everybody above it."""
        score = self.client.zscore(self.key, player)
        return int(self.client.eval(DENSE_RANK, 1, self.key, f"({score}")) + 1

    def friends(self, player: str) -> object:
        """The board cut with the player's set of friends, then the first 20 of that."""
        among = f"among:{player}"
        pipeline = self.client.pipeline(transaction=False)
        pipeline.zinterstore(among, {self.key: 1, f"friends:{player}": 0}, aggregate="SUM")
        pipeline.zrevrange(among, 0, 19, withscores=True)
        return pipeline.execute()

    def submit(self, player: str) -> object:
        """Every window in one MULTI, their lifetimes too, then the rank."""
        pipeline = self.client.pipeline(transaction=True)
        for key in self.keys:
            pipeline.zincrby(key, AMOUNT, player)
        for key in self.keys[1:]:
            pipeline.expire(key, WEEK_SECONDS)
        pipeline.zrevrank(self.key, player)
        return pipeline.execute()


@contextmanager
def opened(size: int, ladders: int = 4) -> Iterator[RedisZset]:
    """Filled ZSETs."""
    with library.redis_ladders(size, ladders) as (client, keys):
        yield RedisZset(client, keys)
