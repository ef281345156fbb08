"""Finding the route of a submission: which is nearly always the route of the one before."""

from __future__ import annotations

from toprung.domain.board import Board
from toprung.domain.ladder import Skipped
from toprung.domain.window import Period, Window
from toprung.indexes.sheets import Routed

_ROUTES_REMEMBERED = 4096


class Router:
    """Finds the route of a submission for one version of one board; remembers the usual ones."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.opens = self.closes = 0
        """Within this span of `at` and of now, the current route is the answer."""
        self._is_idle = False
        """Whether no window has a period now: all are seasons, over or yet to come."""
        self._routes: dict[tuple[object, ...], tuple[Routed, Skipped]] = {}

    def covers(self, first: int, last: int, now: int) -> bool:
        """Whether all moments from first to last take the current periods."""
        if self._is_idle:
            return False
        return self.opens <= first and last < self.closes and self.opens <= now < self.closes

    def roll(self, now: int) -> None:
        """Find the span around `now` in which no window turns."""
        opens, closes = 0, 1 << 62
        periods = {
            window: self.board.calendar(window).period_at(now) for window in self.board.windows
        }
        self._is_idle = not any(periods.values())
        for window, period in periods.items():
            for edge in _edges(window, period):
                if edge <= now:
                    opens = max(opens, edge)
                else:
                    closes = min(closes, edge)
        self.opens, self.closes = opens, closes
        self._routes.clear()

    def remembered(self, name: tuple[object, ...]) -> tuple[Routed, Skipped] | None:
        """A route found earlier under this name."""
        return self._routes.get(name)

    def remember(self, name: tuple[object, ...], found: tuple[Routed, Skipped]) -> None:
        """Keep a route for the next submission like this one."""
        if len(self._routes) >= _ROUTES_REMEMBERED:
            self._routes.clear()
        self._routes[name] = found


def _edges(window: Window, period: Period | None) -> list[int]:
    """The moments at which the window turns, before and after."""
    edges = [window.starts, window.ends] if period is None else [period.opens_at, period.closes_at]
    return [edge for edge in edges if edge is not None]
