"""One ladder in one state, as a sorted list: what every read would answer if nothing moved.

It shares no code with indexes and services: ranks are counted along the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from toprung.domain.ranking import Ranking


class Result(NamedTuple):
    """What a player has on a ladder: a score, and the microsecond it was achieved at."""

    score: int
    at: int


class Rules(NamedTuple):
    """What decides the order of a ladder."""

    order: str = "desc"
    tie_break: str = "first"
    ranking: Ranking = "competition"

    def merit(self, result: Result) -> int:
        """Smaller is better; equal means tied."""
        return -result.score if self.order == "desc" else result.score

    def place(self, player: str, result: Result) -> tuple[int, int, bytes]:
        """What a ladder is sorted by."""
        when = {"first": result.at, "last": -result.at, "player": 0}[self.tie_break]
        return self.merit(result), when, player.encode()


class Shown(NamedTuple):
    """One standing of an answer."""

    player: str
    score: int
    at: int
    rank: int
    total: int
    percentile: float
    top_percent: float
    global_rank: int | None = None

    @property
    def result(self) -> Result:
        """The entry it shows."""
        return Result(self.score, self.at)


class LadderState:
    """Who is on a ladder, best first.

    >>> state = LadderState(Rules(), {"ann": Result(5, 1), "bob": Result(7, 2), "cy": Result(5, 3)})
    >>> state.players
    ['bob', 'ann', 'cy']
    >>> [state.rank("cy", ranking) for ranking in ("ordinal", "competition", "dense")]
    [3, 2, 2]
    >>> state.shown("ann").percentile
    0.0
    """

    def __init__(self, rules: Rules, results: Mapping[str, Result]) -> None:
        self.rules = rules
        self.results = results
        self.players = sorted(results, key=lambda player: rules.place(player, results[player]))

    @cached_property
    def _merits(self) -> list[int]:
        return [self.rules.merit(self.results[player]) for player in self.players]

    @cached_property
    def _offsets(self) -> dict[str, int]:
        return {player: offset for offset, player in enumerate(self.players)}

    @property
    def total(self) -> int:
        """How many players it has."""
        return len(self.players)

    def offset(self, player: str) -> int:
        """How many come before the player."""
        return self._offsets[player]

    def rank(self, player: str, ranking: Ranking | None = None) -> int:
        """The player's rank, by the board's ranking unless another is asked for."""
        offset = self._offsets[player]
        ranking = ranking or self.rules.ranking
        if ranking == "ordinal":
            return offset + 1
        own = self._merits[offset]
        better = [merit for merit in self._merits if merit < own]
        return 1 + len(better if ranking == "competition" else set(better))

    def shown(self, player: str, ranking: Ranking | None = None) -> Shown:
        """The player's standing."""
        own, total = self.rules.merit(self.results[player]), self.total
        better = sum(merit < own for merit in self._merits)
        worse = sum(merit > own for merit in self._merits)
        return Shown(
            player,
            *self.results[player],
            self.rank(player, ranking),
            total,
            100 * worse / total,
            100 * (better + 1) / total,
        )

    def page(self, start: int, stop: int, ranking: Ranking | None = None) -> list[Shown]:
        """The standings at offsets [start, stop), as far as there are any."""
        return [self.shown(player, ranking) for player in self.players[max(0, start) : stop]]

    def full_page(self, start: int, length: int, ranking: Ranking | None) -> list[Shown]:
        """A page that is shifted at the ends, so that it stays full."""
        start = max(0, min(start, self.total - length))
        return self.page(start, start + length, ranking)

    def count_better(self, score: int) -> int:
        """How many have a better score."""
        own = self.rules.merit(Result(score, 0))
        return sum(merit < own for merit in self._merits)

    def among(self, players: Iterable[str]) -> LadderState:
        """The same ladder, if only these players were on it."""
        kept = {player: self.results[player] for player in players if player in self.results}
        return LadderState(self.rules, kept)
