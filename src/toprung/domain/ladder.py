"""Ladders: which ordered lists a submission counts on.

A ladder is board x scope x period, ONE ordered list. A submission's *route* is where it counts:
the periods its time falls into, one per window, each with the scopes its player belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Self, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.player import GLOBAL
from toprung.domain.standing import SkipReason
from toprung.domain.trust.restriction import restriction_on, twinned
from toprung.domain.window import Window
from toprung.errors import TooLate, UnknownPeriod, UnknownScope

Skipped: TypeAlias = tuple[tuple[str, SkipReason], ...]
"""The windows in which a submission does not count, and why."""

_WHY: Final[dict[SkipReason, str]] = {
    "closed": "is closed",
    "not-open": "had not opened",
    "not-retained": "no longer retains it",
    "settled": "is settled",
}
_WINDOWS_NAMED: Final = 8
"""How many windows a refusal tells about: a batch can have thousands of refusals."""


class Ladder(NamedTuple):
    """The name of one ordered list: the unit of ordering and expiry."""

    board: str
    window: str
    period: str
    scope: str


class UndenseLadder(Ladder):
    """The same ladder, read by somebody who does not ask for distinct results before an entry.

    Equal to the ladder itself. An index that has to count them one by one may answer 0 instead.
    """

    __slots__ = ()


class PastLadder(Ladder):
    """A ladder of a period that is no longer retained, of the board that was created then.

    It names that board because an archive outlives a board that is deleted and created again.
    """

    generation: int

    def __new__(cls, board: Board, window: str, period: str, scope: str) -> Self:
        """The ladder of a board."""
        ladder = super().__new__(cls, board.id, window, period, scope)
        ladder.generation = board.generation
        return ladder


ERASED: Final = "\0"
"""What the player of a row of a past ladder ends with who was erased; no id does."""


class Stop(NamedTuple):
    """One period of a route, with the scopes it counts in there (global first)."""

    window: str
    period: str
    scopes: tuple[str, ...]


class Route(msgspec.Struct, frozen=True):
    """Where a submission counts; recorded with it, so that replay never asks the calendar."""

    stops: tuple[Stop, ...]
    """One per window that counts, the guard window first."""

    def ladders(self, board_id: str) -> Iterator[Ladder]:
        """Every ladder of the route, window by window."""
        for window, period, scopes in self.stops:
            for scope in scopes:
                yield Ladder(board_id, window, period, scope)


def scopes_of(board: Board, attributes: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes of a player with these attributes: hidden ones, if it is restricted there.

    >>> board = Board.parse("blitz", {"scopes": ["global", "country"]})
    >>> scopes_of(board, {"country": "US", "platform": "pc"})
    ('global', 'country:US')
    >>> scopes_of(board, {"country": "US", "~": "hidden *"})
    ('~global', '~country:US')
    """
    named = (name for name in board.scopes[1:] if name in attributes)
    scopes = (GLOBAL, *(f"{name}:{attributes[name]}" for name in named))
    if restriction_on(board.id, attributes) is None:
        return scopes
    return twinned(scopes, hidden=True)


def periods_of(
    board: Board, at: int, now: int, since: int | None = None
) -> tuple[list[tuple[Window, Period]], Skipped]:
    """The periods that `at` falls into, guard window first; and the skipped windows.

    Periods count that are retained and not closed. `since` is an earlier moment: what was retained
    then counts as well.
    """
    periods: list[tuple[Window, Period]] = []
    skipped: list[tuple[str, SkipReason]] = []
    for window in sorted(board.windows, key=lambda w: w is not board.guard_window):
        period = board.calendar(window).retained_at(at, now, since)
        if period is None:
            skipped.append((window.name, _skip_reason(window, at)))
        elif board.is_closed(window.name, period):
            skipped.append((window.name, "closed"))
        else:
            periods.append((window, period))
    return periods, tuple(skipped)


def _skip_reason(window: Window, at: int) -> SkipReason:
    """Why a submission of this time falls into no retained period of a window."""
    if window.starts is None:
        return "not-retained"
    return "not-open" if at < window.starts else "closed"


def nowhere(board: Board, skipped: Skipped) -> TooLate:
    """The refusal of a submission that is skipped by all windows.

    >>> season = {"name": "s1", "starts": "2026-11-16T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}
    >>> board = Board.parse("cup", {"windows": [season, "daily"]})
    >>> str(nowhere(board, (("s1", "not-open"), ("daily", "not-retained"))))
    "at: counts in no window of board 'cup': s1 had not opened, daily no longer retains it"
    """
    why = [f"{window} {_WHY[reason]}" for window, reason in skipped[:_WINDOWS_NAMED]]
    if (others := len(skipped) - len(why)) > 0:
        why.append(f"and {others} more")
    return TooLate("at", f"counts in no window of board {board.id!r}: {', '.join(why)}")


def guard_ladder(board: Board, now: int) -> Ladder | None:
    """The ladder with the entries that `max_increase` is judged by, wherever a submission counts.

    It is everybody's ladder of the guard window's current period. When that window has none now
    (a season that is over or yet to come), it is the first ladder of the submission's own route.

    >>> from toprung.domain.instant import parse_instant
    >>> board = Board.parse("blitz", {"windows": ["daily", "weekly"]})
    >>> guard_ladder(board, parse_instant("2026-11-15T12:00:00Z", "now"))
    Ladder(board='blitz', window='daily', period='2026-11-15', scope='global')
    """
    window = board.guard_window
    period = board.calendar(window).period_at(now)
    return None if period is None else Ladder(board.id, window.name, period.id, GLOBAL)


def not_ended(board: Board, names: Iterable[tuple[str, str]], now: int) -> list[tuple[str, str]]:
    """Those of the (window, period) pairs that the board has and that have not ended.

    >>> from toprung.domain.instant import parse_instant
    >>> board = Board.parse("blitz", {"windows": ["all-time", "daily"]})
    >>> names = [("all-time", "all"), ("daily", "2026-11-15"), ("daily", "2026-11-16"), ("x", "y")]
    >>> not_ended(board, names, parse_instant("2026-11-16T00:00:00Z", "now"))
    [('all-time', 'all'), ('daily', '2026-11-16')]
    """
    calendars = {window.name: board.calendar(window) for window in board.windows}
    found = []
    for window, name in names:
        period = calendars[window].period(name) if window in calendars else None
        if period is not None and (period.closes_at is None or period.closes_at > now):
            found.append((window, name))
    return found


def route_of(
    board: Board,
    at: int,
    now: int,
    scopes: tuple[str, ...],
    kept_scopes: Callable[[str, str], tuple[str, ...] | None] | None = None,
    since: int | None = None,
) -> tuple[Route, Skipped]:
    """Where a submission made at `at` counts, and which windows it missed.

    Late submissions count wherever their period is still retained (or was at `since`) and is not
    closed, and are refused only when none is. `scopes` are the player's present ones;
    `kept_scopes(window, period)` tells those of an entry that the player already has there, for an
    entry keeps its scopes: a change of attributes has moved those of periods that had not ended.
    """
    periods, skipped = periods_of(board, at, now, since)
    if not periods:
        raise nowhere(board, skipped)
    stops = []
    for window, period in periods:
        kept = kept_scopes(window.name, period.id) if kept_scopes else None
        stops.append(Stop(window.name, period.id, kept or scopes))
    return Route(tuple(stops)), skipped


def is_retained(board: Board, ladder: Ladder, now: int) -> bool:
    """Whether the board has the ladder's window and still retains its period.

    One that is to be archived is retained until it is.
    """
    for window in board.windows:
        if window.name == ladder.window:
            period = board.calendar(window).period(ladder.period)
            return period is not None and board.retains(window, period, now)
    return False


def is_kept(board: Board, ladder: Ladder, now: int, until: int | None = None) -> bool:
    """Whether the ladder's period is retained, or yet to come (and opens before `until`)."""
    for window in board.windows:
        if window.name == ladder.window:
            period = board.calendar(window).period(ladder.period)
            if period is None:
                return False
            if period.opens_at is not None and period.opens_at > now:
                return until is None or period.opens_at < until
            return board.retains(window, period, now)
    return False


def check_scope(board: Board, scope: str) -> str:
    """The scope, if the board has ladders for it."""
    name, colon, value = scope.partition(":")
    if scope == GLOBAL or (colon and value and name in board.scopes[1:]):
        return scope
    known = ", ".join([GLOBAL, *(f"{name}:<value>" for name in board.scopes[1:])])
    raise UnknownScope(f"board {board.id!r} has no scope {scope!r}; it has: {known}")


def named_period(board: Board, window: Window, period_id: str) -> Period:
    """The period with this id, retained or not."""
    period = board.calendar(window).period(period_id)
    if period is None:
        raise UnknownPeriod(f"window {window.name!r} has no period {period_id!r}")
    return period
