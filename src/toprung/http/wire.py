"""How the library's values become the answers of the interface."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from msgspec import Raw

from toprung.contract import (
    ActivityAnswer,
    BatchAnswer,
    BoardAnswer,
    BucketAnswer,
    DistributionAnswer,
    PageAnswer,
    PeriodAnswer,
    RecentSubmissionAnswer,
    RejectedRow,
    StandingAnswer,
    StandingRow,
    SubmissionAnswer,
    SubmissionsAnswer,
    SubmitAnswer,
    WindowAnswer,
)
from toprung.domain.board_rules import BoardRules
from toprung.domain.score import number_text
from toprung.domain.standing import (
    Activity,
    BatchResult,
    Distribution,
    Page,
    PastSubmissions,
    ReadablePeriod,
    RecentSubmission,
    Standing,
    SubmitResult,
)
from toprung.waiting.pace import LongWork

Show = Callable[[Any], Any]

_EXPONENT_SHOWN_BELOW = -6
"""Decimals whose first digit stands further behind the point are written with an exponent."""


def text_of(number: Any) -> Any:
    """A number as text; None stays None.

    >>> text_of(Decimal("1E-9")), text_of(2**53 + 1)
    ('0.000000001', '9007199254740993')
    """
    return None if number is None else number_text(number)


def number_of(number: Any) -> Any:
    """A number as JSON shows it: digits, never with an exponent; None stays None.

    >>> import msgspec
    >>> msgspec.json.encode([number_of(Decimal("1E-9")), number_of(Decimal("0E-7")), number_of(5)])
    b'[0.000000001,0.0000000,5]'
    """
    if type(number) is Decimal and number.adjusted() < _EXPONENT_SHOWN_BELOW:
        return Raw(number_text(number).encode())
    return number


def shows(numbers: str) -> Show:
    """How numbers are shown."""
    return text_of if numbers == "string" else number_of


def row(standing: Standing, show: Show = number_of, *, percentile: bool = False) -> StandingRow:
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
    standing: Standing, show: Show = number_of, *, board: bool = False
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
        standing.state,
        show(standing.subscore),
        standing.name,
        standing.avatar_url,
        standing.details,
        standing.board if board else None,
    )


def page_answer(page: Page, show: Show = number_of, *, percentile: bool = False) -> PageAnswer:
    """A page of standings."""
    return PageAnswer(
        page.board,
        page.window,
        page.period,
        page.scope,
        page.state,
        page.total,
        [row(standing, show, percentile=percentile) for standing in page.standings],
        page.next,
        page.prev,
    )


def submit_answer(result: SubmitResult, show: Show = number_of) -> SubmitAnswer:
    """What became of a submission."""
    standings: Any = result.standings
    first = next(iter(standings.values()), None)
    if show is not number_of or (first is not None and type(first.score) is Decimal):
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


async def batch_answer(result: BatchResult) -> BatchAnswer:
    """What became of a batch."""
    rejected: list[RejectedRow] = []
    async with LongWork() as work:
        for row in result.rejected:
            pointer = f"/{row.index}/{row.field}" if row.field else f"/{row.index}"
            rejected.append(RejectedRow(pointer, row.detail))
            if work.is_due():
                await work.rest()
    return BatchAnswer(result.accepted, result.unchanged, result.duplicates, rejected)


def board_answer(
    board: BoardRules, show: Show = number_of, periods: dict[str, ReadablePeriod] | None = None
) -> BoardAnswer:
    """A board and its rules."""
    rules = dict(board) | {"windows": list(board.windows), "scopes": list(board.scopes)}
    for limit in ("score_min", "score_max", "max_increase"):
        rules[limit] = show(rules[limit])
    current = {name: period_answer(period) for name, period in (periods or {}).items()}
    return BoardAnswer(id=board.id, **rules, periods=current)


def period_answer(period: ReadablePeriod) -> PeriodAnswer:
    """A period."""
    return PeriodAnswer(period.period, period.opens_at, period.closes_at, period.state)


def distribution_answer(spread: Distribution, show: Show = number_of) -> DistributionAnswer:
    """A spread of scores."""
    buckets = [BucketAnswer(show(b.low), show(b.high), b.count) for b in spread.buckets]
    return DistributionAnswer(spread.total, buckets)


def submissions_answer(found: PastSubmissions, show: Show = number_of) -> SubmissionsAnswer:
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


def activity_answer(found: Activity, show: Show = number_of) -> ActivityAnswer:
    """What has happened on a board."""
    return ActivityAnswer([recent_answer(each, show) for each in found.submissions], found.next)


def recent_answer(recent: RecentSubmission, show: Show = number_of) -> RecentSubmissionAnswer:
    """A line of it."""
    return RecentSubmissionAnswer(
        show(recent.submission),
        recent.player,
        show(recent.score),
        recent.at,
        recent.recorded_at,
        show(recent.subscore),
        recent.name,
        recent.avatar_url,
    )
