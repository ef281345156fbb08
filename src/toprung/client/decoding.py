"""Answers that are not simply values of the library, as what a database here would return.

Scores are asked for as text (`numbers=string`), so none of them is ever a float.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from toprung.contract import (
    BatchAnswer,
    BoardAnswer,
    KeyAnswer,
    LookupAnswer,
    PageAnswer,
    StandingAnswer,
    StandingRow,
    SubmitAnswer,
)
from toprung.domain.access import AccessKey, parse_verbs
from toprung.domain.board import Board
from toprung.domain.board_rules import BoardRules, shown_rules
from toprung.domain.calendar import PeriodState
from toprung.domain.instant import parse_instant
from toprung.domain.ranking import Counts, counts_along, shares
from toprung.domain.standing import Lookup, Page, Rejected, Standing, SubmitResult
from toprung.errors import ServiceFailed
from toprung.operations.wire import numbers_in

T = TypeVar("T")


def exactly_decoded(text: bytes | str, kind: type[T]) -> T:
    """A value in which numbers are text, as they were asked for; ValidationError if one is none.

    >>> from toprung.domain.standing import Bucket
    >>> exactly_decoded(b'{"from":"12.50","to":"13","count":1}', Bucket)
    Bucket(low=Decimal('12.50'), high=13, count=1)
    >>> exactly_decoded(b'{"from":"nan","to":"13","count":1}', Bucket)
    Traceback (most recent call last):
    msgspec.ValidationError: NaN is not a score
    """
    found = msgspec.json.decode(text, type=kind, strict=False)
    for number in numbers_in(found):
        if isinstance(number, Decimal) and not number.is_finite():
            raise msgspec.ValidationError(f"{number} is not a score")
    return found


class LadderName(NamedTuple):
    """What the rows of a list have in common."""

    total: int
    board: str
    window: str
    period: str
    scope: str
    state: PeriodState


def standing_of(answer: StandingAnswer, board: str, *, names: bool) -> Standing:
    """A standing by itself."""
    ladder = LadderName(
        answer.total, board, answer.window, answer.period, answer.scope, answer.state
    )
    return _standing(answer, ladder, names=names)


def page_of(answer: PageAnswer, *, names: bool) -> Page:
    """A page of standings."""
    ladder = LadderName(
        answer.total, answer.board, answer.window, answer.period, answer.scope, answer.state
    )
    standings = tuple([_standing(row, ladder, names=names) for row in answer.standings])
    return Page(*ladder[1:], answer.total, standings, answer.next, answer.prev)


def top_of(rows: list[StandingRow], ladder: LadderName, worse: int) -> tuple[Standing, ...]:
    """The first places of a ladder; percentiles follow from who is tied with whom."""
    standings: list[Standing] = []
    ties = [(row.score, row.subscore) for row in rows]
    along = counts_along(Counts(0, 0, 0), ties, ladder.total - worse)
    for row, counts in zip(rows, along, strict=True):
        percentile, top_percent = shares(ladder.total, counts.tied_before, counts.tied_until)
        standing = _standing(row, ladder, names=True)
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
    standings = tuple([_standing(row, ladder, names=names) for row in answer.standings])
    return Lookup(standings, answer.missing)


def _standing(row: StandingRow | StandingAnswer, ladder: LadderName, *, names: bool) -> Standing:
    return Standing(
        row.rank,
        row.player,
        row.score,
        row.subscore,
        row.achieved_at,
        ladder.total,
        row.percentile or 0.0,
        row.top_percent or 0.0,
        *ladder[1:],
        row.name if names else None,
        row.avatar_url if names else None,
        row.details,
        getattr(row, "global_rank", None),
        None if row.movement is UNSET else row.movement,
    )


def submit_result(answer: SubmitAnswer, *, replayed: bool) -> SubmitResult:
    """What became of a submission."""
    told = (answer.submission, answer.status, answer.skipped, answer.standings)
    return SubmitResult(*told, replayed, answer.stale, answer.reasons)


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


def board_of(answer: BoardAnswer) -> BoardRules:
    """A board's rules; the journal positions that set them are not told."""
    rules: dict[str, Any] = {name: getattr(answer, name) for name in answer.__struct_fields__}
    del rules["id"], rules["periods"]
    rules = {name: None if rule is UNSET else rule for name, rule in rules.items()}
    shown = shown_rules(Board.parse(answer.id, rules))
    # As the service says them: what is usual for archives there is not known here.
    return msgspec.structs.replace(shown, windows=tuple(answer.windows))


def access_key_of(answer: KeyAnswer) -> AccessKey:
    """A key; its digest is not told."""
    used = None if answer.last_used_at is None else parse_instant(answer.last_used_at)
    created = parse_instant(answer.created_at)
    verbs = parse_verbs(answer.verbs)
    ends = None if answer.expires_at is None else parse_instant(answer.expires_at)
    known = (answer.id, answer.name, answer.owner, verbs, answer.boards, b"", created, used)
    return AccessKey(*known, expires_at=ends, addresses=answer.addresses)
