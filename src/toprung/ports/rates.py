"""Rates: how many submissions of somebody have passed lately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toprung.domain.trust.rates import Rate


class RateLimits(Protocol):
    """Remembers how far ahead of their rate callers are; forgets who is not.

    Processes of a cluster share it. Where it cannot be reached, everybody passes, and `skipped`
    says how often that happened: submissions are worth more than their limits.
    """

    skipped: int

    async def take(
        self, group: str, rate: Rate, callers: Sequence[str], now: int
    ) -> dict[int, int]:
        """Count a submission for each of the callers, in order, within a group.

        By index, those that may not pass, and the microseconds after which another one may.
        """
        ...
