"""How the library's values become the answers of the interface."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from toprung.contract import (
    BatchAnswer,
    BoardAnswer,
    BucketAnswer,
    DistributionAnswer,
    PageAnswer,
    PeriodAnswer,
    RejectedRow,
    StandingAnswer,
    StandingRow,
    SubmissionAnswer,
    SubmissionsAnswer,
    SubmitAnswer,
    WindowAnswer,
)
from toprung.domain.board_rules import BoardRules
from toprung.domain.standing import (
    BatchResult,
    Distribution,
    Page,
    PastSubmissions,
    ReadablePeriod,
    Standing,
    SubmitResult,
)

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


def row(standing: Standing, show: Show = _as_is, *, percentile: bool = False) -> StandingRow:
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
        standing.percentile if percentile else None,
        standing.top_percent if percentile else None,
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


def page_answer(page: Page, show: Show = _as_is, *, percentile: bool = False) -> PageAnswer:
    """A page of standings."""
    return PageAnswer(
        page.board,
        page.window,
        page.period,
        page.scope,
        page.total,
        [row(standing, show, percentile=percentile) for standing in page.standings],
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
    board: BoardRules, show: Show = _as_is, periods: dict[str, ReadablePeriod] | None = None
) -> BoardAnswer:
    """A board and its rules."""
    rules = dict(board) | {"windows": list(board.windows), "scopes": list(board.scopes)}
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
