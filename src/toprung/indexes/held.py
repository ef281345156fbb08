"""Which times a fold is complete for: what clocks may say before something has to be loaded again.

A fold lets go of ladders that are certainly obsolete. A clock that was believed although it was
wrong, or one that starts in 1970, is earlier than that certainty. What such a clock retains is
loaded again, but not all that lies between it and the present: so a fold holds everything from its
`horizon` on and, perhaps, a *span* of time long before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from toprung.domain.board import Board
from toprung.domain.instant import DAY, EARLIEST
from toprung.domain.ladder import Ladder, is_kept
from toprung.domain.timekeeping import OFF_MAX, Moment

NEAR = 32 * DAY
"""How far ahead (microseconds) of an early clock ladders are complete, at least."""


class Held(NamedTuple):
    """What a fold holds.

    >>> held = Held(1_000 * DAY)
    >>> [held.covers(day * DAY) for day in (999, 1_000, 9_999)]
    [False, True, True]
    >>> Held(1_000 * DAY, 10 * DAY, 99 * DAY).covers(20 * DAY)
    True
    """

    horizon: int = EARLIEST
    """Ladders of periods that were obsolete at this moment may be missing."""
    first: int = EARLIEST
    """Those that were not obsolete then are here as well,"""
    last: int = EARLIEST
    """if they open before this moment."""

    def has(self, board: Board, ladder: Ladder) -> bool:
        """Whether the ladder is complete, by these rules of its board."""
        return is_kept(board, ladder, self.horizon) or (
            self.last > self.first and is_kept(board, ladder, self.first, self.last)
        )

    def covers(self, now: int) -> bool:
        """Whether everything is here that a clock needs that says this."""
        return now >= self.horizon or self.first <= now <= self.last - NEAR

    def lacks(self, moment: Moment) -> bool:
        """Whether something may be missing at this moment."""
        return not (self.covers(_a_little_before(moment.now))) or not (
            self.covers(_a_little_before(moment.expected))
        )

    def reaching(self, moment: Moment) -> Held:
        """What has to be held so that nothing is missing at this moment."""
        times = map(_a_little_before, (moment.now, moment.expected))
        missing = [each for each in times if not self.covers(each)]
        if not missing:
            return self
        first = max(EARLIEST, min(missing) - DAY)
        last = max(missing) + 2 * NEAR
        return Held(first) if last >= self.horizon else Held(self.horizon, first, last)

    def without(self, horizon: int) -> Held:
        """What is held when all that was obsolete at that moment has been let go of."""
        return Held(max(self.horizon, horizon), max(self.first, horizon), self.last)

    def admit(self, moment: Moment) -> Moment:
        """The moment, taking late scores only for ladders that are complete.

        While the expected time is long before the clock, what lies in between is missing.
        """
        if moment.expected < self.horizon <= moment.now:
            return moment._replace(lenient=max(moment.lenient, self.horizon))
        return moment


class Holding:
    """Which ladders a replay must fill: those that any rules the board ever had would keep.

    Rules that keep more may come later in the journal than the submissions.
    """

    def __init__(self, boards: Iterable[Board], held: Held) -> None:
        self._boards: dict[str, list[Board]] = {}
        for board in boards:
            self._boards.setdefault(board.id, []).append(board)
        self._held = held
        self._known: dict[Ladder, bool] = {}

    def has(self, ladder: Ladder) -> bool:
        """Whether the ladder is one of them."""
        known = self._known.get(ladder)
        if known is None:
            boards = self._boards.get(ladder.board, ())
            known = any(self._held.has(board, ladder) for board in boards)
            self._known[ladder] = known
        return known


def _a_little_before(now: int) -> int:
    """What a clock may say that is put back a little."""
    return max(EARLIEST, now - OFF_MAX)
