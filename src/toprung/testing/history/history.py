"""What was written and what was answered, each with the times of its call and of its answer.

All times are of one monotonic clock. Every player is written by one writer at a time, so its
results are a chain; a write took effect at some moment between its call and its answer, and one
that was acknowledged before the index had it (`stale`) at any moment after its call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from toprung.testing.history.questions import Question
from toprung.testing.history.state import LadderState, Result, Rules


@dataclass(eq=False)
class Write:
    """One link of a player's chain: what the player has from then on, and where it counts."""

    result: Result | None
    """None: on no ladder."""
    scopes: frozenset[str]
    """Beside `global`."""
    called: float
    answered: float = inf
    """When it was known to be visible; never, as long as that is unknown."""

    def on(self, scope: str) -> Result | None:
        """The player's result on the ladder of a scope."""
        return self.result if scope == "global" or scope in self.scopes else None


@dataclass(frozen=True, eq=False)
class Read:
    """A question and its answer."""

    question: Question
    called: float
    answered: float
    answer: Any
    by: str = ""
    """Who asked, for people."""
    lag: float = 0.0
    """How many seconds old the answer may be, by the documentation."""
    pinned: Mapping[str, range] = field(default_factory=dict)
    """Versions that these players may have in the state that explains it."""


class Receipt(NamedTuple):
    """What a submission was told of one ladder."""

    rank: int | None
    previous_rank: int | None
    total: int
    score: int
    previous_score: int | None


@dataclass(frozen=True)
class RankAfter(Question):
    """The rank and the total that a submission was told."""

    player: str

    def answer(self, state: LadderState) -> tuple[int, int]:
        """Both, of one state."""
        return state.rank(self.player, self.ranking), state.total


@dataclass(frozen=True)
class RankBefore(Question):
    """The rank that a player had before a submission."""

    player: str

    def answer(self, state: LadderState) -> int | None:
        """None if there was none."""
        return state.rank(self.player, self.ranking) if self.player in state.results else None


class History:
    """Chains of writes, and reads."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.chains: dict[str, list[Write]] = {}
        self.reads: list[Read] = []
        self.faults: list[str] = []
        """Answers that no state at all can explain."""

    def version(self, player: str) -> int:
        """How many links the player's chain has."""
        return len(self.chains.get(player, ()))

    def newest(self, player: str) -> Write:
        """The last link; before the first there is nothing."""
        chain = self.chains.get(player)
        return chain[-1] if chain else Write(None, frozenset(), -inf, -inf)

    def write(
        self, player: str, result: Result | None, scopes: frozenset[str], called: float
    ) -> Write:
        """Add a link; the caller sets `answered`. What changes nothing is no link."""
        newest = self.newest(player)
        if (newest.result, newest.scopes) == (result, scopes):
            return newest
        made = Write(result, scopes, called)
        self.chains.setdefault(player, []).append(made)
        return made

    def settled(self, answered: float) -> None:
        """Everything that was written is visible by now."""
        for chain in self.chains.values():
            for write in chain:
                write.answered = min(write.answered, answered)

    def receipt(
        self,
        player: str,
        versions: tuple[int, int],
        told: Receipt,
        span: tuple[float, float],
        *,
        by: str = "",
        may_forget: bool = False,
        is_loose: bool = False,
    ) -> None:
        """Note what a submission was told that led from one version of the player to another.

        Without `may_forget`, a previous rank is null only for who had none. If it `is_loose`, ranks
        may be of any version before and of any version since: writers that share a player may have
        several submissions in one commit, and ranks are those before and after the commit.
        """
        before, after = (self._result(player, version) for version in versions)
        scores = None if before is None else before.score, None if after is None else after.score
        if (told.previous_score, told.score) != scores:
            self.faults.append(f"{by}: {player} was told {told}, but had scores {scores}")
        end = self.version(player) if is_loose else versions[1]
        later = {player: range(versions[1], end + 1)}
        rank = told.rank, told.total
        self.reads.append(Read(RankAfter(player), *span, rank, by, pinned=later))
        if told.previous_rank is not None or not may_forget:
            earlier = {player: range(0 if is_loose else versions[0], versions[0] + 1)}
            rank_before = told.previous_rank
            self.reads.append(Read(RankBefore(player), *span, rank_before, by, pinned=earlier))

    def _result(self, player: str, version: int) -> Result | None:
        return self.chains[player][version - 1].result if version else None

    @property
    def is_sequential(self) -> bool:
        """Whether no write began before the one before it had ended."""
        writes = sorted((w for chain in self.chains.values() for w in chain), key=_called)
        return all(one.answered <= next_.called for one, next_ in pairwise(writes))


def _called(write: Write) -> float:
    return write.called
