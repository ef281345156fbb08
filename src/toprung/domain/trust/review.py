"""Review: which submissions wait for a verdict before they count, and what becomes of them then.

A submission that meets the board's rule `review` is *pending*: it is recorded, and counts nowhere.
It is in the journal like any other, with a status of its own; beside it is a document of the kind
`review` as long as it waits, and one of the kind `verdict` from then on.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from toprung.domain.documents import Document, declare, read_document
from toprung.domain.entry import Entry, decide
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.score import INT64_MAX, INT64_MIN, number_text, parse_score, score_value
from toprung.domain.sortkey import Direction
from toprung.domain.standing import SkipReason
from toprung.domain.trust.anomaly import Guard, lead_from, outlier_from
from toprung.domain.trust.rates import require_members
from toprung.domain.values import bounded, parse_choice, parse_flag
from toprung.errors import Invalid, NotPending

if TYPE_CHECKING:
    from toprung.domain.board import Board
    from toprung.domain.submission import Submission

Otherwise = Literal["accept", "reject"]
Order = Literal["impact", "oldest", "expiry"]
"""In which submissions that wait are listed: what stands out most, the oldest, or what expires
first is first."""
Decided = Literal["accepted", "rejected"]
Reason = Literal["top", "anomaly", "own-anomaly", "first-by", "restricted"]

TOP_MAX: Final = 100_000
ANOMALY_MAX: Final = 100_000
"""In hundredths."""
SHARE_MAX: Final = 10_000_000
"""In hundredths of a percent."""
EXPIRES: Final = 7 * 86_400
EXPIRES_MIN, EXPIRES_MAX = 60, 90 * 86_400
WAITING_MAX: Final = 1_000
"""Submissions of one board that wait at a time. Others that would have to wait are refused."""

_SHARE: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,2})?)%", re.ASCII)


class ReviewRule(msgspec.Struct, frozen=True, kw_only=True):
    """Which submissions wait, and what is decided if nobody does."""

    top: int | None = None
    """Those that would be among so many of the best."""
    anomaly: int | None = None
    """Those whose modified z-score exceeds this, in hundredths."""
    first_by: int | None = None
    """Those that would lead by this share of the present best, in hundredths of a percent."""
    restricted: bool = False
    """Those of players who are restricted."""
    otherwise: Otherwise = "accept"
    expires: int = EXPIRES
    """Seconds."""

    @classmethod
    def parse(cls, value: object) -> ReviewRule | None:
        """The rule from its JSON form; None: nothing waits.

        >>> rule = ReviewRule.parse({"when": {"anomaly": 3.5, "first_by": "20%"}, "else": "reject"})
        >>> rule.anomaly, rule.first_by, rule.otherwise, rule.expires
        (350, 2000, 'reject', 604800)
        """
        if value is None:
            return None
        members = require_members(value, ("when", "else", "expires"), "review")
        names = ("top", "anomaly", "first_by", "restricted")
        when = require_members(members.get("when"), names, "review/when")
        when = {name: each for name, each in when.items() if each is not None}
        if all(each is False for each in when.values()):
            raise Invalid("review/when", f"must say when: one of {', '.join(names)}")
        top = when.get("top")
        return cls(
            top=None if top is None else bounded(top, TOP_MAX, "review/when/top"),
            anomaly=_anomaly(when.get("anomaly")),
            first_by=_share(when.get("first_by")),
            restricted=parse_flag(when.get("restricted", False), "review/when/restricted"),
            otherwise=parse_choice(
                members.get("else", "accept"), ("accept", "reject"), "review/else"
            ),
            expires=bounded(
                members.get("expires", EXPIRES), EXPIRES_MAX, "review/expires", EXPIRES_MIN
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        when: dict[str, Any] = {}
        if self.top is not None:
            when["top"] = self.top
        if self.anomaly is not None:
            when["anomaly"] = _plain(self.anomaly)
        if self.first_by is not None:
            when["first_by"] = f"{number_text(_plain(self.first_by))}%"
        if self.restricted:
            when["restricted"] = True
        return {"when": when, "else": self.otherwise, "expires": self.expires}


def _anomaly(value: object) -> int | None:
    if value is None:
        return None
    limit = parse_score(value, 2, "review/when/anomaly")
    if not 0 < limit <= ANOMALY_MAX:
        raise Invalid("review/when/anomaly", "must be greater than 0, and at most 1000")
    return limit


def _share(value: object) -> int | None:
    if value is None:
        return None
    found = _SHARE.fullmatch(value) if isinstance(value, str) else None
    share = 0 if found is None else parse_score(found[1], 2, "review/when/first_by")
    if not 0 < share <= SHARE_MAX:
        raise Invalid(
            "review/when/first_by", 'must be a percentage greater than 0% as text, such as "20%"'
        )
    return share


def _plain(hundredths: int) -> int | Decimal:
    """A number with no more decimals than it needs."""
    whole, rest = divmod(hundredths, 100)
    if not rest:
        return whole
    return score_value(hundredths // 10, 1) if hundredths % 10 == 0 else score_value(hundredths, 2)


class Limit(NamedTuple):
    """From which score on a submission waits, and why."""

    reason: Reason
    least: int
    """The least good score that waits."""


def limits_of(board: Board, guard: Guard, own: int | None = None) -> tuple[Limit, ...]:
    """What a board's rule comes to, given what is typical of its guard ladder.

    `own` is the least good score that is an outlier among the player's own.
    """
    rule = board.review
    if rule is None:
        return ()
    order, found = board.order, list[Limit]()
    if rule.top is not None:
        found.append(Limit("top", _worst(order) if guard.top is None else guard.top))
    if rule.anomaly is not None:
        outlier = outlier_from(guard, order, rule.anomaly)
        if outlier is not None:
            found.append(Limit("anomaly", outlier))
    if own is not None:
        found.append(Limit("own-anomaly", own))
    if rule.first_by is not None:
        lead = lead_from(guard, order, rule.first_by)
        if lead is not None:
            found.append(Limit("first-by", lead))
    return tuple(each for each in found if INT64_MIN <= each.least <= INT64_MAX)


def always(board: Board, reason: Reason) -> Limit:
    """Whatever the score is, it waits."""
    return Limit(reason, _worst(board.order))


def lowest(limits: tuple[Limit, ...], order: Direction) -> int | None:
    """The least good score that waits for any reason; None: none does."""
    scores = [each.least for each in limits]
    if not scores:
        return None
    return min(scores) if order == "desc" else max(scores)


def reasons_for(limits: tuple[Limit, ...], order: Direction, score: int) -> tuple[Reason, ...]:
    """Why a score waits.

    >>> limits = (Limit("top", 90), Limit("first-by", 120))
    >>> reasons_for(limits, "desc", 100), reasons_for(limits, "desc", 80)
    (('top',), ())
    """
    if order == "desc":
        return tuple(each.reason for each in limits if score >= each.least)
    return tuple(each.reason for each in limits if score <= each.least)


def _worst(order: Direction) -> int:
    return INT64_MIN if order == "desc" else INT64_MAX


# --- what is remembered ---------------------------------------------------------------------------

REVIEW: Final = "review"
VERDICT: Final = "verdict"
"""Kinds of documents."""


class WaitingSubmission(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A submission that waits for a verdict, and everything that made it wait."""

    submission: int
    """Its id: its position in the journal."""
    board: str
    generation: int
    player: PlayerNumber
    score: int
    subscore: int | None = None
    at: int
    recorded_at: int
    stops: tuple[tuple[str, str], ...]
    """The windows and periods in which it would count."""
    reasons: tuple[Reason, ...]
    guard: Guard
    """What was typical of the guard ladder when it was judged."""
    impact: int
    """How much it stands out: see `impact_of`."""
    otherwise: Otherwise
    """What is decided if nobody does, until then:"""
    expires_at: int
    claimed_by: str = ""
    claim: str = ""
    """The digest of the token that whoever has claimed it knows."""
    claimed_until: int = 0

    def is_claimed(self, now: int) -> bool:
        """Whether somebody decides it at the moment."""
        return now < self.claimed_until


class SubmissionVerdict(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What was decided of a submission that waited."""

    submission: int
    board: str
    generation: int
    player: PlayerNumber
    reasons: tuple[Reason, ...]
    verdict: Decided
    by: str
    reason: str
    decided_at: int
    changed: bool = False
    """Whether an entry changed."""
    skipped: tuple[tuple[str, SkipReason], ...] = ()
    """The windows in which it would have counted, and does not after all."""


declare(REVIEW, WaitingSubmission)
declare(VERDICT, SubmissionVerdict)


def require_waiting(document: Document | None, submission: int) -> WaitingSubmission:
    """A submission that waits, or NotPending."""
    if document is None:
        raise NotPending("submission", f"{submission} does not wait for a verdict (any more)")
    assert isinstance(document.value, WaitingSubmission), "so it was declared"
    return document.value


def merged(board: Board, current: Entry | None, submission: Submission, version: int) -> Entry:
    """The entry after a submission that was accepted late: as if it had counted in its place.

    Where a result is exactly as good, and as old, as the present one, the one that was recorded
    earlier stays.
    """
    new = decide(board, current, submission, version)
    if current is None or board.policy == "sum":
        first = 0 if current is None else current.version
        return msgspec.structs.replace(new, version=max(version, first))
    if board.policy == "latest":
        is_older = current.achieved_at == submission.at and version < current.version
        return current if is_older else new
    result = (submission.score, submission.subscore, submission.at)
    present = (current.score, current.subscore, current.achieved_at)
    if result == present and version < current.version:
        return msgspec.structs.replace(current, version=version)
    return new


def read_waiting(text: str) -> WaitingSubmission:
    """A document of the kind `review` as a journal keeps it."""
    value = read_document(REVIEW, 0, text).value
    assert isinstance(value, WaitingSubmission), "so it was declared"
    return value


def place_in(order: Order, waiting: WaitingSubmission) -> tuple[int, str]:
    """Where a submission comes in an order: lists go on after it."""
    key = review_key(waiting.submission)
    if order == "oldest":
        return 0, key
    return (-waiting.impact if order == "impact" else waiting.expires_at), key


FIRST: Final = (-(1 << 62), "")
"""Before all of them, in any order."""


def review_key(submission: int) -> str:
    """The key of the documents of a submission; keys sort like submissions.

    >>> review_key(42)
    '0000000000000000042'
    """
    return f"{submission:019d}"
