"""How periods end: which are closed, which are settled, and what is due next.

A period ends twice. Until its `grace` is over it takes late scores; then it is *closed*. Until its
`review_time` is over it can be corrected; then it is *settled*, and changes no more. Both are facts
that a journal records and that decide; clocks only say when it is time to record them.

The periods of a window are closed and settled in their order, so a board knows them by two marks
per window: when the last of them ended (`Board.closed`, `Board.settled`).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.events import PeriodName
from toprung.domain.instant import SECOND
from toprung.domain.ladder import named_period
from toprung.domain.window import Window
from toprung.errors import Invalid, NotYet


class EndedPeriod(NamedTuple):
    """A period that can be closed or settled."""

    window: Window
    period: Period
    ended_at: int

    @property
    def name(self) -> PeriodName:
        """What events call it."""
        return self.window.name, self.period.id

    @property
    def key(self) -> tuple[str, Period]:
        """What a board is asked about it by."""
        return self.window.name, self.period

    @property
    def closes_at(self) -> float:
        """When its grace is over; never, if it is not to be closed."""
        grace = self.window.grace
        return inf if grace is None else self.ended_at + grace * SECOND

    @property
    def settles_at(self) -> float:
        """When it can no longer be corrected."""
        return self.closes_at + self.window.review_time * SECOND


def is_settled(board: Board, name: PeriodName) -> bool:
    """Whether a period that is known by its name changes no more."""
    window, period_id = name
    if window not in board.settled:
        return False
    period = board.calendar(board.window(window)).period(period_id)
    return period is not None and board.is_settled(window, period)


def is_closed(board: Board, name: PeriodName) -> bool:
    """Whether late scores do not count any more in a period that is known by its name."""
    window, period_id = name
    if window not in board.closed:
        return False
    period = board.calendar(board.window(window)).period(period_id)
    return period is not None and board.is_closed(window, period)


def ended_period(board: Board, window: str, period_id: str, now: int) -> EndedPeriod:
    """The period of this name, which must have ended and be one that is closed some day."""
    found = board.window(window)
    if found.grace is None:
        raise Invalid("window", f"{window!r} never closes its periods: set a grace first")
    period = named_period(board, found, period_id)
    if period.closes_at is None or period.closes_at > now:
        raise NotYet("period", f"{period_id!r} has not ended")
    return EndedPeriod(found, period, period.closes_at)


def ended_periods(board: Board, names: Iterable[PeriodName], now: int) -> list[EndedPeriod]:
    """Those of the periods that have ended and are to be closed or settled, in order of their ends.

    What is not retained any more is not among them.
    """
    found = [
        ended
        for ended in past_periods(board, {*names, *_closed_last(board)}, now)
        if not board.is_settled(*ended.key) and board.retains(ended.window, ended.period, now)
    ]
    return sorted(found, key=_order)


def _closed_last(board: Board) -> Iterable[PeriodName]:
    """The last period of each window that was closed: nobody may be left there, or know of it."""
    for window in board.windows:
        mark = board.closed.get(window.name)
        period = None if mark is None else board.calendar(window).period_at(mark - 1)
        if period is not None:
            yield window.name, period.id


def past_periods(board: Board, names: Iterable[PeriodName], now: int) -> list[EndedPeriod]:
    """Those of the periods that have ended, and that are closed some day."""
    windows = {window.name: window for window in board.windows if window.grace is not None}
    found = []
    for name, period_id in set(names):
        window = windows.get(name)
        period = None if window is None else board.calendar(window).period(period_id)
        if window is None or period is None or period.closes_at is None:
            continue
        if period.closes_at <= now:
            found.append(EndedPeriod(window, period, period.closes_at))
    return found


def unarchived_periods(board: Board, names: Iterable[PeriodName], now: int) -> list[EndedPeriod]:
    """Those of the periods that are settled and wait for their archive, in order of their ends."""
    found = [
        ended
        for ended in past_periods(board, names, now)
        if ended.window.keep != 0
        and board.is_settled(*ended.key)
        and not board.is_archived(*ended.key)
    ]
    return sorted(found, key=_order)


def may_have_unarchived(board: Board, window: Window) -> bool:
    """Whether a period may be settled that waits for its archive, as far as the board tells."""
    settled, archived = board.settled.get(window.name, 0), board.archived.get(window.name, 0)
    return window.keep != 0 and settled > archived


def _order(ended: EndedPeriod) -> tuple[int, str]:
    return ended.ended_at, ended.window.name


def was_closed_last(board: Board, ended: EndedPeriod) -> bool:
    """Whether a period is the last of its window that was closed; then it has been, itself."""
    return board.closed.get(ended.window.name) == ended.ended_at


def next_ending(board: Board, now: int) -> float:
    """When a period that has not ended yet is to be closed; infinite if none is.

    >>> from toprung.domain.instant import parse_instant
    >>> board = Board.parse("blitz", {"windows": ["all-time", "daily", "weekly"]})
    >>> noon = parse_instant("2026-11-15T12:00:00Z", "now")
    >>> (next_ending(board, noon) - noon) / SECOND / 3600
    13.0
    """
    found = inf
    for window in board.windows:
        if window.grace is None:
            continue
        calendar = board.calendar(window)
        for period in {calendar.period_at(now), *calendar.retained(now)[:1]}:
            if period is not None and period.closes_at is not None and period.closes_at > now:
                found = min(found, EndedPeriod(window, period, period.closes_at).closes_at)
    return found
