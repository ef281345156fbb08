"""Velocity: how fast a player's entry may improve."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from toprung.domain.instant import SECOND
from toprung.domain.score import parse_score
from toprung.domain.trust.rates import SECONDS_MAX, require_members
from toprung.domain.values import bounded
from toprung.errors import Invalid


class MaxPer(msgspec.Struct, frozen=True):
    """At most so much improvement per so many seconds.

    An improvement is set against the time since the entry that it improves was achieved, pro rata:
    gain / amount may not exceed elapsed / seconds. So whatever steps somebody takes, the entry
    stays below a straight line from where it began; nothing else has to be remembered.
    """

    amount: int
    seconds: int

    @classmethod
    def parse(cls, value: object, decimals: int) -> MaxPer | None:
        """The rule from its JSON form; None: there is none.

        >>> MaxPer.parse({"amount": "2.5", "seconds": 60}, 1)
        MaxPer(amount=25, seconds=60)
        """
        if value is None:
            return None
        members = require_members(value, ("amount", "seconds"), "max_per")
        if "amount" not in members:
            raise Invalid("max_per/amount", "is missing")
        amount = parse_score(members["amount"], decimals, "max_per/amount")
        if amount <= 0:
            raise Invalid("max_per/amount", "must be greater than 0")
        return cls(amount, bounded(members.get("seconds"), SECONDS_MAX, "max_per/seconds"))

    def to_json(self, shown: Callable[[int], int | Decimal]) -> dict[str, Any]:
        """The JSON form; `shown` turns a score into what people see."""
        return {"amount": shown(self.amount), "seconds": self.seconds}

    def allows(self, gain: int, elapsed: int) -> bool:
        """Whether an entry may improve by `gain` after so many microseconds.

        >>> rule = MaxPer(amount=100, seconds=10)
        >>> rule.allows(50, 5_000_000), rule.allows(51, 5_000_000), rule.allows(1, 0)
        (True, False, False)
        """
        return gain <= 0 or gain * self.seconds * SECOND <= self.amount * max(elapsed, 0)
