"""What moderation must lead to, found the slow way: by folding all that remains, each time.

It knows nothing of ladders, twins or events. It remembers every submission with the periods in
which it counted, and derives what others see from those that were not revoked, of players that are
not restricted. Settled periods are what was seen when they were settled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toprung.domain.board import Board
from toprung.domain.entry import Entry, decide
from toprung.domain.events import PeriodName
from toprung.domain.submission import Submission
from toprung.domain.trust.restriction import Restriction

Seen = dict[str, tuple[int, str | None]]
"""By player: the score of the entry, and the country that it counts in."""


@dataclass
class Sent:
    """A submission that counted."""

    position: int
    player: str
    score: int
    at: int
    periods: tuple[PeriodName, ...]
    is_revoked: bool = False


@dataclass
class ModerationOracle:
    """One board."""

    board: Board
    sent: list[Sent] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)
    """By player: the position before which nothing counts any more."""
    countries: dict[str, str] = field(default_factory=dict)
    placed: dict[tuple[str, PeriodName], str | None] = field(default_factory=dict)
    """The country of each entry, which it keeps when the period has ended."""
    restrictions: dict[str, tuple[Restriction, int | None]] = field(default_factory=dict)
    """With the time at which each ends."""
    settled: dict[PeriodName, Seen] = field(default_factory=dict)

    def submit(self, sent: Sent) -> None:
        """A submission counted."""
        for period in sent.periods:
            if self.entry(sent.player, period) is None:
                self.placed[sent.player, period] = self.countries.get(sent.player)
        self.sent.append(sent)

    def move(self, player: str, country: str | None, ended: set[PeriodName]) -> None:
        """A player has another country; entries of periods that have ended stay."""
        self.countries.pop(player, None)
        if country is not None:
            self.countries[player] = country
        for who, period in self.placed:
            if who == player and period not in ended:
                self.placed[who, period] = country

    def remove(self, player: str, position: int) -> None:
        """A player was taken off the board."""
        self.removed[player] = position

    def revoke(self, position: int) -> None:
        """A submission counts no more."""
        for sent in self.sent:
            sent.is_revoked |= sent.position == position

    def is_hidden(self, player: str) -> bool:
        """Whether others do not see a player."""
        found = self.restrictions.get(player)
        return found is not None and found[0].covers(self.board.id)

    def expire(self, now: int) -> None:
        """Lift what has ended."""
        kept = self.restrictions.items()
        self.restrictions = {p: r for p, r in kept if r[1] is None or r[1] > now}

    @property
    def periods(self) -> set[PeriodName]:
        """Those in which anything ever counted."""
        return {period for sent in self.sent for period in sent.periods}

    def entry(self, player: str, period: PeriodName) -> Entry | None:
        """What remains of a player's submissions in a period, folded."""
        entry = None
        for sent in self.sent:
            if sent.player != player or sent.is_revoked or period not in sent.periods:
                continue
            if sent.position > self.removed.get(player, 0):
                submission = Submission(player, sent.score, sent.at)
                entry = decide(self.board, entry, submission, sent.position)
        return entry

    def seen(self, period: PeriodName, viewer: str | None = None) -> Seen:
        """What is shown of a period, to somebody who is shown itself or to nobody in particular."""
        if period in self.settled:
            return self.settled[period]
        found: Seen = {}
        for player in {sent.player for sent in self.sent}:
            entry = self.entry(player, period)
            if entry is not None and (player == viewer or not self.is_hidden(player)):
                found[player] = (entry.score, self.placed[player, period])
        return found
