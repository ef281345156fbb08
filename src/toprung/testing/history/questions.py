"""Questions about one ladder: what each would be answered in one state, and what it gives away.

An answer is None where the library raises NotRanked, a number, or a list of `Shown`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from toprung.domain.ranking import Ranking
from toprung.testing.history.state import LadderState, Result, Shown


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which ladder is meant, and how its ranks are counted."""

    scope: str = "global"
    ranking: Ranking | None = None

    def answer(self, state: LadderState) -> Any:
        """What the ladder answers in this state."""
        raise NotImplementedError

    def absent(self, answer: Any) -> Iterable[str]:  # noqa: ARG002 -- what some give away
        """Players who are not on the ladder, by this answer."""
        return ()


@dataclass(frozen=True)
class StandingOf(Question):
    """The standing of one player."""

    player: str

    def answer(self, state: LadderState) -> list[Shown] | None:
        """A list of one; None if the player is not on the ladder."""
        known = self.player in state.results
        return [state.shown(self.player, self.ranking)] if known else None

    def absent(self, answer: Any) -> Iterable[str]:
        """The player, where there was none."""
        return (self.player,) if answer is None else ()


@dataclass(frozen=True)
class Lookup(Question):
    """The standings of some players, in this order; the others are missing."""

    players: tuple[str, ...]

    def answer(self, state: LadderState) -> list[Shown]:
        """Those who are on the ladder."""
        return [state.shown(p, self.ranking) for p in self.players if p in state.results]

    def absent(self, answer: Any) -> Iterable[str]:
        """Those who are not in the answer."""
        return set(self.players) - {shown.player for shown in answer}


@dataclass(frozen=True)
class Top(Question):
    """A page from a place on."""

    limit: int
    from_rank: int = 1

    def answer(self, state: LadderState) -> list[Shown]:
        """The page."""
        start = self.from_rank - 1
        return state.page(start, start + self.limit, self.ranking)


@dataclass(frozen=True)
class ScoreRange(Question):
    """The best of those with a score from `low` to `high`."""

    limit: int
    low: int
    high: int

    def answer(self, state: LadderState) -> list[Shown]:
        """The page, with the ranks of the whole ladder."""
        fitting = [p for p in state.players if self.low <= state.results[p].score <= self.high]
        return [state.shown(player, self.ranking) for player in fitting[: self.limit]]


@dataclass(frozen=True)
class PageAfter(Question):
    """The page after this player, who had this result on the page before."""

    limit: int
    player: str
    result: Result

    def answer(self, state: LadderState) -> list[Shown]:
        """Those who come after what was the last row."""
        edge = state.rules.place(self.player, self.result)
        after = [p for p in state.players if state.rules.place(p, state.results[p]) > edge]
        return [state.shown(player, self.ranking) for player in after[: self.limit]]


@dataclass(frozen=True)
class Around(Question):
    """The player with neighbours."""

    player: str
    above: int
    below: int

    def answer(self, state: LadderState) -> list[Shown] | None:
        """The page; None if the player is not on the ladder."""
        if self.player not in state.results:
            return None
        start = state.offset(self.player) - self.above
        return state.full_page(start, self.above + self.below + 1, self.ranking)

    def absent(self, answer: Any) -> Iterable[str]:
        """The player, where there was none."""
        return (self.player,) if answer is None else ()


@dataclass(frozen=True)
class AroundScore(Question):
    """The neighbours of a score."""

    score: int
    above: int
    below: int

    def answer(self, state: LadderState) -> list[Shown]:
        """The page."""
        start = state.count_better(self.score) - self.above
        return state.full_page(start, self.above + self.below, self.ranking)


@dataclass(frozen=True)
class Friends(Question):
    """A player among friends, whose friendships do not change meanwhile."""

    player: str
    friends: tuple[str, ...]
    limit: int

    def answer(self, state: LadderState) -> list[Shown]:
        """Ranks and percentiles among them, and the rank of each on the whole ladder."""
        among = state.among((self.player, *self.friends))
        return [
            shown._replace(global_rank=state.rank(shown.player, self.ranking))
            for shown in among.page(0, self.limit, self.ranking)
        ]

    def absent(self, answer: Any) -> Iterable[str]:
        """Those whom a page that is not full does not show."""
        if len(answer) == self.limit:
            return ()
        return {self.player, *self.friends} - {shown.player for shown in answer}


@dataclass(frozen=True)
class Total(Question):
    """The number of players."""

    def answer(self, state: LadderState) -> int:
        """That number."""
        return state.total


@dataclass(frozen=True)
class Spread(Question):
    """How scores are distributed: the answer is a list of (low, high, count).

    Where buckets begin was found out before they were counted. The documentation promises that the
    counts are exact, so they must be those of one state; the ends may be of another one.
    """

    buckets: int

    def edges(self, low: int, high: int) -> list[int]:
        """Where buckets begin, and where the last one ends (exclusive)."""
        span = high - low + 1
        width = -(-span // self.buckets)
        return [low + width * number for number in range(-(-span // width) + 1)]

    def answer(self, state: LadderState) -> list[tuple[int, int, int]]:
        """Everything at one moment."""
        if not state.total:
            return []
        scores = [result.score for result in state.results.values()]
        edges = self.edges(min(scores), max(scores))
        return self.counted(edges, scores)

    @staticmethod
    def counted(edges: list[int], scores: list[int]) -> list[tuple[int, int, int]]:
        """These buckets, with counts of these scores."""
        return [
            (low, high - 1, sum(low <= score < high for score in scores))
            for low, high in pairwise(edges)
        ]
