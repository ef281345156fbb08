"""Rates that processes share: one number per caller in Redis, which vanishes by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Final

from toprung.domain.trust.rates import Rate
from toprung.errors import Unavailable
from toprung.indexes.redis_client import ScriptClient
from toprung.ports.rates import RateLimits

CALLERS_AT_ONCE: Final = 500
"""That one call of the script counts: less than two milliseconds."""


class RedisRates:
    """The rates of a cluster; while Redis is away, everybody passes."""

    def __init__(self, client: ScriptClient, prefix: str = "toprung:") -> None:
        self._client = client
        self._prefix = prefix
        self.skipped = 0

    async def take(
        self, group: str, rate: Rate, callers: Sequence[str], now: int
    ) -> dict[int, int]:
        """Count submissions of callers, some callers at a time. O(k)."""
        key = f"{self._prefix}{{rate.{group}}}:epoch"
        wanted = list(Counter(callers).items())
        short: dict[str, list[int]] = {}
        """By caller whom not all may pass: how many may, and when another one may."""
        for start in range(0, len(wanted), CALLERS_AT_ONCE):
            some = wanted[start : start + CALLERS_AT_ONCE]
            arguments = chain.from_iterable(some)
            try:
                told = await self._client.run(
                    "rates", key, now, rate.interval, rate.burst, *arguments
                )
            except Unavailable:
                self.skipped += sum(count for _, count in some)
                continue
            for at, (name, count) in enumerate(some):
                if told[3 * at] < count:
                    short[name] = [told[3 * at], int(told[3 * at + 2])]
        refused: dict[int, int] = {}
        for at, name in enumerate(callers if short else ()):
            if name in short:
                if short[name][0] > 0:
                    short[name][0] -= 1
                else:
                    refused[at] = short[name][1]
        return refused


_: type[RateLimits] = RedisRates
