"""Views: which ladder a caller reads and with which ranking, and entries seen through it.

Every rank of every read is made here, by `View.rank`, from the counts the index gave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from toprung.domain.board import Board
from toprung.domain.calendar import Period, PeriodState
from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import Ladder, PastLadder, UndenseLadder, check_scope, named_period
from toprung.domain.player import GLOBAL, parse_scope_value
from toprung.domain.ranking import (
    BEFORE,
    DISTINCT_MAX,
    RANKINGS,
    Counts,
    Places,
    Ranking,
    TieCounts,
    places_along,
    places_of,
    shares,
)
from toprung.domain.score import score_value
from toprung.domain.sortkey import RecordShape
from toprung.domain.standing import ReadablePeriod, ShownMovement, Standing
from toprung.domain.values import parse_choice, parse_text
from toprung.domain.window import Window
from toprung.errors import DenseNotDeclared, UnknownPeriod
from toprung.ports import NAMELESS, LadderIndex, NameAndAvatar
from toprung.ports.records import record_reader


class Indexes(NamedTuple):
    """Where ladders are."""

    live: LadderIndex
    """Those of periods that are retained."""
    past: LadderIndex
    """Those that are in archives."""


class View:
    """One ladder as one caller reads it."""

    __slots__ = ("_before", "_before_max", "_read", "board", "index", "ladder", "ranking", "state")

    def __init__(
        self,
        board: Board,
        ladder: Ladder,
        state: PeriodState,
        ranking: Ranking,
        index: LadderIndex,
    ) -> None:
        self.board = board
        self.index = index
        """Where the ladder is: in the index of what is retained, or in an archive."""
        self.ladder = ladder
        self.state = state
        """Of the ladder's period."""
        self.ranking = ranking
        self._read = reader_of(board.shape)
        self._before = BEFORE[ranking]
        is_bounded = ranking == "dense" != board.ranking
        self._before_max: float = DISTINCT_MAX if is_bounded else math.inf

    def rank(self, counts: Counts) -> int:
        """The rank that people see."""
        return self._bounded(self._before(counts)) + 1

    def places(self, counts: Sequence[TieCounts], total: int) -> Places:
        """What is shown of the places of entries."""
        places = places_of(self.ranking, counts, total)
        self._bounded(max(places.ranks, default=1) - 1)
        return places

    def places_along(
        self, first: Counts, records: Sequence[bytes], tied_until: int, total: int
    ) -> Places:
        """`places` of consecutive entries, given `tied_until` of the last."""
        width = 8 * self.board.shape.tied
        ties = [record[:width] for record in records]
        places = places_along(self.ranking, first, ties, tied_until, total)
        if ties:
            self._bounded(places.ranks[-1] - 1)
        return places

    def _bounded(self, before: int) -> int:
        """Refuse a rank for which more would have to be counted than an index may."""
        if before > self._before_max:
            raise DenseNotDeclared(
                "ranking",
                f"a dense rank beyond {DISTINCT_MAX:,} distinct results needs a board with "
                'ranking "dense"',
            )
        return before

    def standing(
        self,
        player: str,
        record: bytes,
        counts: TieCounts,
        total: int,
        global_rank: int | None = None,
        shown: NameAndAvatar | None = None,
        details: Any = None,
    ) -> Standing:
        """The standing of an entry."""
        score, subscore, achieved_at, _ = self._read(record)
        decimals = self.board.decimals
        board_id, window, period, scope = self.ladder
        name, avatar_url = shown or NAMELESS
        percentile, top_percent = shares(total, counts.tied_before, counts.tied_until)
        return Standing(
            self.rank(counts),
            player,
            score_value(score, decimals) if decimals else score,
            subscore,
            achieved_at,
            total,
            percentile,
            top_percent,
            board_id,
            window,
            period,
            scope,
            self.state,
            name,
            avatar_url,
            details,
            global_rank,
        )

    def standings(
        self,
        players: Iterable[str],
        records: Iterable[bytes],
        places: Places,
        total: int,
        global_ranks: Iterable[int | None],
        names: Mapping[str, NameAndAvatar],
        details: Mapping[str, Any],
        moved: Iterable[ShownMovement],
    ) -> tuple[Standing, ...]:
        """`standing` of each entry; what is the same for all is looked up once."""
        read, state, name_of, detail_of = self._read, self.state, names.get, details.get
        decimals = self.board.decimals
        board_id, window, period, scope = self.ladder
        standings = []
        for player, record, rank, percentile, top_percent, global_rank, movement in zip(
            players, records, *places, global_ranks, moved, strict=False
        ):
            score, subscore, achieved_at, _ = read(record)
            name, avatar_url = name_of(player, NAMELESS)
            standings.append(
                Standing(
                    rank,
                    player,
                    score_value(score, decimals) if decimals else score,
                    subscore,
                    achieved_at,
                    total,
                    percentile,
                    top_percent,
                    board_id,
                    window,
                    period,
                    scope,
                    state,
                    name,
                    avatar_url,
                    detail_of(player),
                    global_rank,
                    movement,
                )
            )
        return tuple(standings)


@lru_cache(maxsize=32)
def reader_of(shape: RecordShape) -> Callable[[bytes], tuple[int, int | None, datetime, int]]:
    """Tells score, subscore, time and version behind a record: `shape.values` with a datetime.

    Every standing of every answer begins with it, so it is native: in Python it took longer
    than finding the entry.
    """
    return record_reader(shape).read


def view_of(
    board: Board,
    now: int,
    indexes: Indexes,
    window: str | None = None,
    period: str | None = None,
    scope: str = GLOBAL,
    ranking: Ranking | None = None,
) -> View:
    """The view that these options name."""
    chosen = board.window(window)
    if period is None:
        read = current_period(board, chosen, now)
    else:
        read = readable_period(board, chosen, period, now)
    if scope != GLOBAL:
        require_scope(board, scope)
    if ranking is None:
        ranking = board.ranking
    else:
        parse_choice(ranking, RANKINGS, "ranking")
    state = board.state_of(chosen.name, read, now)
    is_current = chosen.kind == "season" and not board.has_left(chosen.name, read)
    if not board.retains(chosen, read, now) and not is_current:
        past = PastLadder(board, chosen.name, read.id, scope)
        return View(board, past, state, ranking, indexes.past)
    name = Ladder if ranking == "dense" else UndenseLadder
    ladder = name(board.id, chosen.name, read.id, scope)
    return View(board, ladder, state, ranking, indexes.live)


def current_period(board: Board, window: Window, now: int) -> Period:
    """The period of now; a season that has not begun, or is over, is its window's only one."""
    calendar = board.calendar(window)
    return calendar.period_at(now) or calendar.retained(now)[0]


def shown_period(board: Board, window: Window, period: Period, now: int) -> ReadablePeriod:
    """The period as it is shown to people."""
    opens_at, closes_at = period.opens_at, period.closes_at
    return ReadablePeriod(
        period.id,
        None if opens_at is None else instant_datetime(opens_at),
        None if closes_at is None else instant_datetime(closes_at),
        board.state_of(window.name, period, now),
    )


def readable_period(board: Board, window: Window, period_id: object, now: int) -> Period:
    """The named period, if it has begun; it may be in an archive."""
    period = named_period(board, window, parse_text(period_id, "period"))
    if window.kind == "season":
        return period
    if period.opens_at is not None and period.opens_at > now:
        raise UnknownPeriod(f"period {period_id!r} of window {window.name!r} has not begun")
    return period


def require_scope(board: Board, scope: object) -> None:
    """Refuse what can be no scope of this board."""
    _, _, value = check_scope(board, parse_text(scope, "scope")).partition(":")
    parse_scope_value(value, "scope")
