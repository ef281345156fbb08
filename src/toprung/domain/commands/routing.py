"""Where the submissions of one board count: for nearly all of them, where the one before did.

Routes are found here, for both profiles; journals give them numbers, each in its own way.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Generic, TypeVar

from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.ladder import Route, Skipped, route_of
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.domain.window import Window

ROUTES_REMEMBERED: Final = 4096

N = TypeVar("N")
"""A route as a journal has numbered it."""


class Router(Generic[N]):
    """Finds routes for one version of one board; remembers the numbered ones until a window turns.

    The *usual* route leads to the current periods.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.opens = self.closes = 0
        """Within this span of `at` and of now, the usual route is the answer."""
        self._is_idle = False
        """Whether nothing counts now: there are only seasons, over or yet to come, or the clock has
        come back to periods that are closed."""
        self._now = 0
        self._numbered: dict[Hashable, N] = {}

    def roll(self, now: int) -> bool:
        """Find the span around `now` in which no window turns; whether it is another one."""
        if self.opens <= now < self.closes:
            return False
        opens, closes = 0, 1 << 62
        periods = {
            window: self.board.calendar(window).period_at(now) for window in self.board.windows
        }
        self._is_idle = all(
            period is None or self.board.is_closed(window.name, period)
            for window, period in periods.items()
        )
        for window, period in periods.items():
            for edge in _edges(window, period):
                if edge <= now:
                    opens = max(opens, edge)
                else:
                    closes = min(closes, edge)
        self.opens, self.closes, self._now = opens, closes, now
        self._numbered.clear()
        return True

    def covers(self, first: int, last: int) -> bool:
        """Whether all moments from first to last take the current periods."""
        return not self._is_idle and self.opens <= first and last < self.closes

    def covers_all(self, submissions: Sequence[Submission]) -> bool:
        """Whether all submissions, of which there is one, take the current periods."""
        times = [submission.at for submission in submissions]
        return self.covers(min(times), max(times))

    def usual(self, scopes: tuple[str, ...]) -> tuple[Route, Skipped]:
        """Where a submission of a player in these scopes counts in the current periods."""
        return route_of(self.board, self._now, self._now, scopes)

    def check_time(self, at: int, moment: Moment) -> None:
        """Raise TooLate if a submission of this time counts in no window."""
        if not self.covers(at, at):
            route_of(self.board, at, moment.now, (), since=moment.lenient)

    def remembered(self, name: Hashable) -> N | None:
        """A numbered route by whatever name its journal knows it."""
        return self._numbered.get(name)

    def remember(self, name: Hashable, numbered: N) -> None:
        """Keep a numbered route for the next submission like this one."""
        if len(self._numbered) >= ROUTES_REMEMBERED:
            self._numbered.clear()
        self._numbered[name] = numbered

    def forget(self) -> None:
        """Remember nothing: numbers were taken back."""
        self._numbered.clear()


def _edges(window: Window, period: Period | None) -> list[int]:
    """The moments at which the window turns, before and after."""
    edges = [window.starts, window.ends] if period is None else [period.opens_at, period.closes_at]
    return [edge for edge in edges if edge is not None]
