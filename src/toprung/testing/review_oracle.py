"""What a board with a review should show: everything that counts is folded anew for each question.

One board of windows "all-time" and "daily" (without grace, settled an hour after its day). Its
oracle keeps lists: submissions in the order of their ids, what waits, what was settled when. Which
submissions wait is judged with sorted lists and fractions, not with limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from toprung.domain.instant import DAY, SECOND

REVIEW_TIME = 3600 * SECOND
EXPIRES = 7200
Policy = Literal["best", "latest", "sum"]


@dataclass
class Sent:
    """A submission."""

    id: int
    player: str
    score: int
    at: int
    waits: bool
    expires_at: int = 0
    counts: bool = False
    waited: bool = False
    days: bool = True
    """Whether it counts in its day; one that is accepted too late does not."""


@dataclass
class ReviewOracle:
    """All that was ever sent."""

    policy: Policy
    top: int | None
    anomaly: Fraction | None
    first_by: Fraction | None
    otherwise: Literal["accept", "reject"]
    sent: list[Sent] = field(default_factory=list)
    settled: dict[int, dict[str, tuple[int, int]]] = field(default_factory=dict)
    """By day, what stands there for good."""

    # --- what counts -----------------------------------------------------------------------------

    def entries(self, day: int | None = None) -> dict[str, tuple[int, int]]:
        """By player (score, at), of all time or of a day."""
        if day in self.settled:
            return self.settled[day]
        found: dict[str, tuple[int, int]] = {}
        for each in self.sent:
            if each.counts and (day is None or (each.at // DAY == day and each.days)):
                found[each.player] = self._folded(found.get(each.player), each.score, each.at)
        return found

    def _folded(self, old: tuple[int, int] | None, score: int, at: int) -> tuple[int, int]:
        if old is None:
            return score, at
        if self.policy == "best":
            return max(old, (score, at), key=lambda each: (each[0], -each[1]))
        if self.policy == "latest":
            return (score, at) if at >= old[1] else old
        return old[0] + score, max(old[1], at)

    def order(self, day: int | None = None) -> list[tuple[str, int]]:
        """(player, score), best first."""
        rows = [(-score, at, player) for player, (score, at) in self.entries(day).items()]
        return [(player, -worse) for worse, _, player in sorted(rows)]

    # --- what waits ------------------------------------------------------------------------------

    def waits(self, player: str, score: int, at: int) -> bool:
        """Whether a submission has to wait now."""
        entries = self.entries()
        old = entries.get(player)
        new = self._folded(old, score, at)[0]
        if old is not None and new <= old[0]:
            return False
        scores = sorted((each[0] for each in entries.values()), reverse=True)
        if self.top is not None and (len(scores) < self.top or new >= scores[self.top - 1]):
            return True
        lead = new - scores[0] if scores else 0
        if self.first_by is not None and lead > 0 and lead >= self.first_by * abs(scores[0]):
            return True
        if self.anomaly is None:
            return False
        if _is_outlier(scores, new, self.anomaly):
            return True
        if self.policy == "sum" or old is None or score <= _median(list(map(Fraction, scores))):
            return False
        own = [each.score for each in self.sent if each.player == player and not each.waited]
        return _is_outlier(sorted(own[-20:], reverse=True), score, self.anomaly)

    def submit(self, id: int, player: str, score: int, at: int) -> bool:
        """Take a submission; whether it waits."""
        waits = self.waits(player, score, at)
        self.sent.append(
            Sent(
                id, player, score, at, waits, at + EXPIRES * SECOND, counts=not waits, waited=waits
            )
        )
        return waits

    @property
    def waiting(self) -> list[Sent]:
        """What waits, oldest first."""
        return [each for each in self.sent if each.waits]

    def decide(self, sent: Sent, verdict: str) -> None:
        """Accept or reject."""
        sent.waits = False
        sent.counts = verdict == "accept"
        sent.days = sent.at // DAY not in self.settled

    def pass_time(self, now: int) -> None:
        """What becomes of it all by a moment: expiries first, then days in their order."""
        for each in self.waiting:
            if each.expires_at <= now:
                self.decide(each, self.otherwise)
        days = sorted({each.at // DAY for each in self.sent if each.counts and each.days})
        for day in days:
            if day not in self.settled and (day + 1) * DAY + REVIEW_TIME <= now:
                for each in self.waiting:
                    if each.at // DAY == day:
                        self.decide(each, self.otherwise)
                self.settled[day] = self.entries(day)


def _is_outlier(scores: Sequence[int], new: int, limit: Fraction) -> bool:
    if len(scores) < 10:
        return False
    median = _median([Fraction(each) for each in scores])
    mad = _median([abs(each - median) for each in scores])
    if mad:
        return Fraction(6745, 10_000) * (new - median) / mad > limit
    count = len(scores)
    spread = scores[-(-count // 10) - 1] - scores[-(-count * 9 // 10) - 1]
    if not spread:
        return False
    return (new - median) * Fraction(2563, 1000) / spread > limit


def _median(values: list[Fraction]) -> Fraction:
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
