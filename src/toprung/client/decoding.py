"""From the interface's answers to the library's values: the same that a database here gives.

Scores are asked for as text (`numbers=string`), so none of them is ever a float.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

from msgspec.structs import replace

from toprung.contract import (
    ActivityAnswer,
    BatchAnswer,
    BoardAnswer,
    DistributionAnswer,
    KeyAnswer,
    LookupAnswer,
    PageAnswer,
    PeriodAnswer,
    ProfileAnswer,
    RecentSubmissionAnswer,
    StandingAnswer,
    StandingRow,
    SubmissionsAnswer,
    SubmitAnswer,
)
from toprung.domain.access import AccessKey, parse_verbs
from toprung.domain.board import Board
from toprung.domain.board_rules import BoardRules, shown_rules
from toprung.domain.calendar import PeriodState
from toprung.domain.instant import parse_instant
from toprung.domain.ranking import Counts, counts_along, shares
from toprung.domain.standing import (
    Activity,
    Bucket,
    Distribution,
    Lookup,
    Page,
    PastSubmission,
    PastSubmissions,
    ReadablePeriod,
    RecentSubmission,
    Rejected,
    Standing,
    SubmitResult,
    WindowStanding,
)
from toprung.errors import ServiceFailed
from toprung.ports import PlayerProfile

_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,9})?", re.ASCII)


class LadderName(NamedTuple):
    """What the rows of a list have in common."""

    total: int
    board: str
    window: str
    period: str
    scope: str
    state: PeriodState


def exact(text: Any) -> Any:
    """A score as the library gives it: an int, or a Decimal on a board with decimals.

    >>> exact("9007199254740993"), exact("12.50"), exact(None)
    (9007199254740993, Decimal('12.50'), None)
    """
    if text is None:
        return None
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise ServiceFailed(200, f"the service sent something other than a number: {text!r:.40}")
    return Decimal(text) if "." in text else int(text)


def standing_of(answer: StandingAnswer, board: str, *, names: bool) -> Standing:
    """A standing by itself."""
    return Standing(
        answer.rank,
        answer.player,
        exact(answer.score),
        exact(answer.subscore),
        answer.achieved_at,
        answer.total,
        answer.percentile,
        answer.top_percent,
        board,
        answer.window,
        answer.period,
        answer.scope,
        answer.state,
        answer.name if names else None,
        answer.avatar_url if names else None,
        answer.details,
    )


def page_of(answer: PageAnswer, *, names: bool) -> Page:
    """A page of standings."""
    ladder = LadderName(
        answer.total, answer.board, answer.window, answer.period, answer.scope, answer.state
    )
    standings = tuple([_row(row, ladder, names=names) for row in answer.standings])
    return Page(*ladder[1:], answer.total, standings, answer.next, answer.prev)


def top_of(rows: list[StandingRow], ladder: LadderName, worse: int) -> tuple[Standing, ...]:
    """The first places of a ladder; percentiles follow from who is tied with whom."""
    standings: list[Standing] = []
    ties = [(row.score, row.subscore) for row in rows]
    along = counts_along(Counts(0, 0, 0), ties, ladder.total - worse)
    for row, counts in zip(rows, along, strict=True):
        percentile, top_percent = shares(ladder.total, counts.tied_before, counts.tied_until)
        standing = _row(row, ladder, names=True)
        standings.append(replace(standing, percentile=percentile, top_percent=top_percent))
    return tuple(standings)


def lookup_of(answer: LookupAnswer, board: str, *, names: bool) -> Lookup:
    """The standings of many."""
    ladder = LadderName(
        answer.total or 0,
        board,
        answer.window or "",
        answer.period or "",
        answer.scope or "",
        answer.state or "open",
    )
    standings = tuple([_row(row, ladder, names=names) for row in answer.standings])
    return Lookup(standings, answer.missing)


def _row(row: StandingRow, ladder: LadderName, *, names: bool) -> Standing:
    return Standing(
        row.rank,
        row.player,
        exact(row.score),
        exact(row.subscore),
        row.achieved_at,
        ladder.total,
        row.percentile or 0.0,
        row.top_percent or 0.0,
        *ladder[1:],
        row.name if names else None,
        row.avatar_url if names else None,
        row.details,
        row.global_rank,
    )


def submit_result(answer: SubmitAnswer, *, replayed: bool) -> SubmitResult:
    """What became of a submission."""
    standings = {
        window: WindowStanding(
            each.period,
            exact(each.score),
            each.rank,
            exact(each.previous_score),
            each.previous_rank,
            each.total,
        )
        for window, each in answer.standings.items()
    }
    return SubmitResult(
        exact(answer.submission), answer.status, answer.skipped, standings, replayed, answer.stale
    )


def rejected_rows(answer: BatchAnswer, sent: list[int]) -> list[Rejected]:
    """The rows that were refused, numbered as the caller numbers them."""
    found = []
    for row in answer.rejected:
        at, _, field = row.pointer.removeprefix("/").partition("/")
        if not at.isdecimal() or int(at) >= len(sent):
            raise ServiceFailed(
                200, f"the service refused a row that was not sent: {row.pointer!r}"
            )
        found.append(Rejected(sent[int(at)], field, row.detail))
    return found


def distribution_of(answer: DistributionAnswer) -> Distribution:
    """A spread of scores."""
    buckets = [Bucket(exact(each.low), exact(each.high), each.count) for each in answer.buckets]
    return Distribution(answer.total, tuple(buckets))


def submissions_of(answer: SubmissionsAnswer) -> PastSubmissions:
    """A player's past submissions."""
    found = [
        PastSubmission(
            exact(each.submission),
            each.player,
            exact(each.score),
            exact(each.subscore),
            each.at,
            each.recorded_at,
            each.status,
            each.details,
        )
        for each in answer.submissions
    ]
    return PastSubmissions(tuple(found), answer.next)


def activity_of(answer: ActivityAnswer) -> Activity:
    """What has happened on a board."""
    return Activity(tuple(map(recent_of, answer.submissions)), answer.next)


def recent_of(answer: RecentSubmissionAnswer) -> RecentSubmission:
    """A line of it."""
    return RecentSubmission(
        exact(answer.submission),
        answer.player,
        exact(answer.score),
        exact(answer.subscore),
        answer.at,
        answer.recorded_at,
        answer.name,
        answer.avatar_url,
    )


def board_of(answer: BoardAnswer) -> BoardRules:
    """A board's rules; the journal positions that set them are not told."""
    rules = {name: getattr(answer, name) for name in answer.__struct_fields__}
    del rules["id"], rules["periods"]
    return shown_rules(Board.parse(answer.id, rules))


def period_of(answer: PeriodAnswer) -> ReadablePeriod:
    """A period."""
    return ReadablePeriod(answer.period, answer.opens_at, answer.closes_at, answer.state)


def profile_of(answer: ProfileAnswer) -> PlayerProfile:
    """A player's profile."""
    return PlayerProfile(answer.player, answer.name, answer.avatar_url, answer.attributes)


def access_key_of(answer: KeyAnswer) -> AccessKey:
    """A key; its digest is not told."""
    used = None if answer.last_used_at is None else parse_instant(answer.last_used_at)
    created = parse_instant(answer.created_at)
    verbs = parse_verbs(answer.verbs)
    return AccessKey(answer.id, answer.name, answer.owner, verbs, answer.boards, b"", created, used)
