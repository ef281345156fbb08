"""What we answer: one struct per answer, and how the library's values become them.

These types encode answers and describe them in the OpenAPI document. Scores are numbers, exact
to the last digit, or strings where a caller asks for `numbers=string`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from toprung.domain.board import Board
from toprung.domain.standing import (
    BatchResult,
    Distribution,
    Page,
    PastSubmissions,
    ReadablePeriod,
    Standing,
    SubmitResult,
)

Shown = Annotated[
    Any,
    Meta(
        description="An exact number; as text when asked for with numbers=string.",
        extra_json_schema={"type": ["number", "string", "null"]},
    ),
]
"""A score in an answer, or null where there is none."""


class StandingRow(Struct, omit_defaults=True, gc=False):
    """One line of a list."""

    rank: int
    player: str
    score: Shown
    achieved_at: datetime
    subscore: int | str | None = None
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    global_rank: int | None = None


class StandingAnswer(Struct, omit_defaults=True, gc=False):
    """Where a player stands on one ladder."""

    rank: int
    player: str
    score: Shown
    total: int
    percentile: float
    top_percent: float
    achieved_at: datetime
    window: str
    period: str
    scope: str
    subscore: int | str | None = None
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    board: str | None = None


class PageAnswer(Struct):
    """Consecutive standings of one ladder, and cursors to those beside them."""

    board: str
    window: str
    period: str
    scope: str
    total: int
    standings: list[StandingRow]
    next: str | None = None
    prev: str | None = None


class WindowAnswer(Struct, gc=False):
    """What a submission did in one window, in the global scope."""

    period: str
    score: Shown
    rank: int | None
    previous_score: Shown
    previous_rank: int | None
    total: int


class SubmitAnswer(Struct, omit_defaults=True):
    """What became of a submission."""

    submission: int | str
    status: Literal["accepted", "unchanged"]
    skipped: tuple[str, ...]
    standings: dict[str, WindowAnswer]
    stale: bool = False
    """True when the ranks are not known at the moment; the submission is recorded."""


class RejectedRow(Struct):
    """A row that was refused, and why."""

    pointer: str
    detail: str


class BatchAnswer(Struct):
    """What became of the rows of a batch."""

    accepted: int
    unchanged: int
    duplicates: int
    rejected: list[RejectedRow]


class LookupAnswer(Struct):
    """The standings of many players, and who has none."""

    standings: list[StandingRow]
    missing: tuple[str, ...]
    total: int | None = None


class BucketAnswer(Struct, rename={"low": "from", "high": "to"}):
    """How many players have a score from `from` to `to`, both included."""

    low: Shown
    high: Shown
    count: int


class DistributionAnswer(Struct):
    """How the scores of a ladder spread."""

    total: int
    buckets: list[BucketAnswer]


class SubmissionAnswer(Struct, omit_defaults=True):
    """A submission as it was recorded."""

    submission: int | str
    player: str
    score: Shown
    at: datetime
    recorded_at: datetime
    status: str
    subscore: int | str | None = None
    details: Any = None


class SubmissionsAnswer(Struct):
    """Submissions, newest first."""

    submissions: list[SubmissionAnswer]
    next: str | None = None


class PeriodAnswer(Struct):
    """A period that can be read; null is unbounded."""

    period: str
    opens_at: datetime | None
    closes_at: datetime | None


class PeriodsAnswer(Struct):
    """The retained periods of a window, newest first."""

    window: str
    periods: list[PeriodAnswer]


class ScopeAnswer(Struct):
    """A scope and how many players it has."""

    scope: str
    total: int


class ScopesAnswer(Struct):
    """The scopes that have players."""

    scopes: list[ScopeAnswer]


class BoardAnswer(Struct, omit_defaults=True):
    """A board: its rules and, where one board was asked for, each window's current period."""

    id: str
    title: str
    order: str
    policy: str
    decimals: int
    subscore: str | None
    tie_break: str
    ranking: str
    windows: list[str | dict[str, Any]]
    timezone: str
    scopes: list[str]
    public: bool
    score_min: Shown
    score_max: Shown
    max_increase: Shown
    periods: dict[str, PeriodAnswer] = {}


class BoardsAnswer(Struct):
    """Boards in the order of their ids."""

    boards: list[BoardAnswer]
    next: str | None = None


class ProfileAnswer(Struct):
    """A player's profile."""

    player: str
    name: str | None
    avatar_url: str | None
    attributes: dict[str, str]


class FriendsAnswer(Struct):
    """A player's friends in the order of their ids."""

    friends: list[str]


class PlayerStandingsAnswer(Struct):
    """Where a player stands now, on every board and in every window."""

    standings: list[StandingAnswer]


# --- from the library's values to ours -----------------------------------------------------------

Show = Callable[[Any], Any]


def text_of(number: Any) -> Any:
    """A number as text; None stays None.

    >>> text_of(Decimal("1E-9")), text_of(2**53 + 1)
    ('0.000000001', '9007199254740993')
    """
    return (
        None if number is None else format(number, "f") if type(number) is Decimal else str(number)
    )


def _as_is(number: Any) -> Any:
    return number


def shows(numbers: str) -> Show:
    """How numbers are shown."""
    return text_of if numbers == "string" else _as_is


def row(standing: Standing, show: Show = _as_is) -> StandingRow:
    """A line of a list."""
    return StandingRow(
        standing.rank,
        standing.player,
        show(standing.score),
        standing.achieved_at,
        show(standing.subscore),
        standing.name,
        standing.avatar_url,
        standing.details,
        standing.global_rank,
    )


def standing_answer(
    standing: Standing, show: Show = _as_is, *, board: bool = False
) -> StandingAnswer:
    """A standing by itself."""
    return StandingAnswer(
        standing.rank,
        standing.player,
        show(standing.score),
        standing.total,
        standing.percentile,
        standing.top_percent,
        standing.achieved_at,
        standing.window,
        standing.period,
        standing.scope,
        show(standing.subscore),
        standing.name,
        standing.avatar_url,
        standing.details,
        standing.board if board else None,
    )


def page_answer(page: Page, show: Show = _as_is) -> PageAnswer:
    """A page of standings."""
    return PageAnswer(
        page.board,
        page.window,
        page.period,
        page.scope,
        page.total,
        [row(standing, show) for standing in page.standings],
        page.next,
        page.prev,
    )


def submit_answer(result: SubmitResult, show: Show = _as_is) -> SubmitAnswer:
    """What became of a submission."""
    standings: Any = result.standings
    if show is not _as_is:
        standings = {
            window: WindowAnswer(
                each.period,
                show(each.score),
                each.rank,
                show(each.previous_score),
                each.previous_rank,
                each.total,
            )
            for window, each in standings.items()
        }
    return SubmitAnswer(
        show(result.submission),
        result.status,
        result.skipped,
        standings,
        getattr(result, "stale", False),
    )


def batch_answer(result: BatchResult) -> BatchAnswer:
    """What became of a batch."""
    rejected = [
        RejectedRow(f"/{row.index}/{row.field}" if row.field else f"/{row.index}", row.detail)
        for row in result.rejected
    ]
    return BatchAnswer(result.accepted, result.unchanged, result.duplicates, rejected)


def board_answer(
    board: Board, show: Show = _as_is, periods: dict[str, ReadablePeriod] | None = None
) -> BoardAnswer:
    """A board and its rules."""
    rules = board.rules()
    for limit in ("score_min", "score_max", "max_increase"):
        rules[limit] = show(rules[limit])
    current = {name: period_answer(period) for name, period in (periods or {}).items()}
    return BoardAnswer(id=board.id, **rules, periods=current)


def period_answer(period: ReadablePeriod) -> PeriodAnswer:
    """A period."""
    return PeriodAnswer(period.period, period.opens_at, period.closes_at)


def distribution_answer(spread: Distribution, show: Show = _as_is) -> DistributionAnswer:
    """A spread of scores."""
    buckets = [BucketAnswer(show(b.low), show(b.high), b.count) for b in spread.buckets]
    return DistributionAnswer(spread.total, buckets)


def submissions_answer(found: PastSubmissions, show: Show = _as_is) -> SubmissionsAnswer:
    """A player's past submissions."""
    rows = [
        SubmissionAnswer(
            show(past.submission),
            past.player,
            show(past.score),
            past.at,
            past.recorded_at,
            past.status,
            show(past.subscore),
            past.details,
        )
        for past in found.submissions
    ]
    return SubmissionsAnswer(rows, found.next)
