"""What became of submissions that were pending, for whoever reads what a player has submitted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toprung.domain.board import Board
from toprung.domain.instant import instant_datetime
from toprung.domain.standing import PastSubmission, ShownVerdict
from toprung.domain.trust.review import (
    REVIEW,
    VERDICT,
    SubmissionVerdict,
    WaitingSubmission,
    review_key,
)
from toprung.ports import Journal
from toprung.service.reviewing import Reviews


async def with_verdicts(
    journal: Journal, reviews: Reviews, board: Board, past: Sequence[PastSubmission]
) -> tuple[PastSubmission, ...]:
    """The submissions; those that were recorded as pending say what they are now."""
    return tuple(
        [
            each if each.status != "pending" else await _told(journal, reviews, board, each)
            for each in past
        ]
    )


async def _told(
    journal: Journal, reviews: Reviews, board: Board, past: PastSubmission
) -> PastSubmission:
    replace, key = msgspec.structs.replace, review_key(past.submission)
    found = await journal.document(REVIEW, key)
    if found is not None and isinstance(found.value, WaitingSubmission):
        rank = await reviews.provisional_rank(board, past.player, found.value)
        return replace(past, reasons=tuple(found.value.reasons), provisional_rank=rank)
    found = await journal.document(VERDICT, key)
    if found is None or not isinstance(found.value, SubmissionVerdict):
        return past
    verdict = found.value
    status = "rejected"
    if verdict.verdict == "accepted":
        status = "accepted" if verdict.changed else "unchanged"
    told = ShownVerdict(
        verdict.verdict,
        verdict.by,
        verdict.reason,
        instant_datetime(verdict.decided_at),
        dict(verdict.skipped),
    )
    return replace(past, status=status, reasons=tuple(verdict.reasons), verdict=told)
