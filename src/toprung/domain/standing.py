"""What reads and submissions return: immutable values.

Scores are ints, or Decimals when the board has decimals; times are aware datetimes in UTC;
ranks are 1-based.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from toprung.domain.calendar import PeriodState
from toprung.domain.player import PlayerProfile
from toprung.domain.ranking import Ranking

NUMBER: Final = "number"
"""Marks members of answers that callers may ask for as text, so that no digit is lost."""

Score: TypeAlias = Annotated[int | Decimal, NUMBER]
Whole: TypeAlias = Annotated[int, NUMBER]
"""A subscore, or the id of a submission."""

SkipReason: TypeAlias = Literal["closed", "not-open", "not-retained", "settled"]
"""Why a submission does not count in a window: at its time the window was over or not yet open,
that period is no longer retained, or it was settled before the submission was accepted."""


class Movement(msgspec.Struct, frozen=True, gc=False):
    """How a player has moved since the newest snapshot of the ladder."""

    since: datetime
    """When the snapshot was taken."""
    rank: int
    """The rank then, in the ranking of this read."""
    delta: int
    """The rank then less the rank now: positive if the player has gone up."""


NEW: Final = "new"
ShownMovement: TypeAlias = Movement | Literal["new"] | None
"""`new`: the player was not on the ladder then; None: there is no snapshot of the ladder."""


class Standing(msgspec.Struct, frozen=True, gc=False):
    """A player's entry on one ladder, with its rank."""

    rank: int
    player: str
    score: Score
    subscore: Whole | None
    achieved_at: datetime
    total: int
    """The number of players on the ladder."""
    percentile: float
    """The percentage of players that are strictly worse: 100 * worse / total."""
    top_percent: float
    """The player is in the top this many percent: 100 * competition rank / total."""
    board: str
    window: str
    period: str
    scope: str
    state: PeriodState
    """The state of the period: `upcoming`, `open`, `ended`, `closed` or `settled`."""
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    global_rank: int | None = None
    """Among friends: the rank on the whole ladder."""
    movement: ShownMovement = None
    """With `movement`: since the newest snapshot; among friends, of `global_rank`."""


class Page(msgspec.Struct, frozen=True):
    """Consecutive standings of one ladder, and cursors to those after and before them."""

    board: str
    window: str
    period: str
    scope: str
    state: PeriodState
    total: int
    standings: tuple[Standing, ...]
    next: str | None = None
    prev: str | None = None


class Lookup(msgspec.Struct, frozen=True):
    """The standings of many players, in the requested order, and the players without one."""

    standings: tuple[Standing, ...]
    missing: tuple[str, ...]


class Bucket(msgspec.Struct, frozen=True, gc=False, rename={"low": "from", "high": "to"}):
    """How many players have a score from `low` to `high`, both inclusive."""

    low: Score
    high: Score
    count: int


class Distribution(msgspec.Struct, frozen=True):
    """How the scores of a ladder are distributed, lowest bucket first."""

    total: int
    buckets: tuple[Bucket, ...]


class WindowStanding(msgspec.Struct, frozen=True, gc=False):
    """The effect of a submission in one window: score and rank, after and before."""

    period: str
    score: Score
    rank: int | None
    """1 is the best; null if the player is no longer on the ladder."""
    previous_score: Score | None
    previous_rank: int | None
    total: int


class SubmitResult(msgspec.Struct, frozen=True, gc=False):
    """The result of a submission."""

    submission: Whole
    """Its id."""
    status: Literal["accepted", "unchanged", "pending"]
    """`pending`: it counts once it has been accepted by a verdict."""
    skipped: dict[str, SkipReason]
    """The windows in which it does not count, and why."""
    standings: dict[str, WindowStanding]
    """By window, in the global scope."""
    replayed: bool
    """Whether the key was already used: this is the first submission's result."""
    stale: bool = False
    """Recorded, but the index could not be reached: ranks are unknown for now."""
    reasons: tuple[str, ...] = ()
    """Why it is pending: `top`, `anomaly`, `own-anomaly`, `first-by`, `restricted`."""


class Rejected(msgspec.Struct, frozen=True, gc=False):
    """A rejected row of a batch, and why."""

    index: int
    field: str
    detail: str


class BatchResult(msgspec.Struct, frozen=True):
    """The result of a batch."""

    accepted: int
    unchanged: int
    duplicates: int
    rejected: tuple[Rejected, ...]
    pending: int = 0
    """Of those that wait for a verdict."""


class ShownVerdict(msgspec.Struct, frozen=True):
    """What was decided of a submission that was pending."""

    verdict: Literal["accepted", "rejected"]
    by: str
    """Who decided: a name that the caller gave, or `review` if nobody did in time."""
    reason: str
    decided_at: datetime
    skipped: dict[str, SkipReason]
    """The windows in which it would have counted and does not: it was accepted too late."""


class PastSubmission(msgspec.Struct, frozen=True, omit_defaults=True):
    """A submission as it was recorded."""

    submission: Whole
    player: str
    score: Score
    at: datetime
    recorded_at: datetime
    status: str
    """`accepted`, `unchanged`, `pending` or `rejected`."""
    subscore: Whole | None = None
    details: Any = None
    revoked_at: datetime | None = None
    """When it was revoked: it does not count."""
    reason: str | None = None
    """Why it was revoked."""
    reasons: tuple[str, ...] = ()
    """Why it is or was pending."""
    provisional_rank: int | None = None
    """While it is pending: the rank in the board's default window that it would lead to now."""
    verdict: ShownVerdict | None = None
    """What was decided of it, if it was pending."""


class PendingSubmission(msgspec.Struct, frozen=True, omit_defaults=True):
    """A submission that waits for a verdict, and why."""

    submission: Whole
    board: str
    player: str
    score: Score
    at: datetime
    recorded_at: datetime
    reasons: tuple[str, ...]
    """`top`, `anomaly`, `own-anomaly`, `first-by`, `restricted`."""
    impact: int
    """How much it stands out among the board's entries: its modified z-score in thousandths."""
    expires_at: datetime
    """When it is decided without anybody's verdict."""
    otherwise: Literal["accept", "reject"]
    """How it is decided then."""
    entries: int
    """On the ladder that it was compared with."""
    subscore: Whole | None = None
    best: Score | None = None
    """The best score on that ladder."""
    provisional_rank: int | None = None
    """The rank in the board's default window that it would lead to now."""
    details: Any = None
    name: str | None = None
    claimed_by: str | None = None
    claimed_until: datetime | None = None


class ReviewQueue(msgspec.Struct, frozen=True):
    """Submissions that wait for a verdict, and a cursor to more."""

    submissions: tuple[PendingSubmission, ...]
    next: str | None = None


class ReviewClaim(msgspec.Struct, frozen=True):
    """A submission that nobody else decides until the claim ends; nothing if none waits."""

    submission: PendingSubmission | None = None
    claim: str | None = None
    """The token that the verdict has to come with."""
    claimed_until: datetime | None = None


class SubmissionDecision(msgspec.Struct, frozen=True):
    """A verdict, and what came of it."""

    submission: Whole
    board: str
    player: str
    verdict: Literal["accepted", "rejected"]
    by: str
    reason: str
    decided_at: datetime
    changed: bool
    """Whether an entry changed."""
    skipped: dict[str, SkipReason]
    """The windows in which it would have counted and does not: it was accepted too late."""


class PastSubmissions(msgspec.Struct, frozen=True):
    """A player's submissions on one board, newest first, and a cursor to older ones."""

    submissions: tuple[PastSubmission, ...]
    next: str | None = None


class RecentSubmission(msgspec.Struct, frozen=True, omit_defaults=True):
    """A submission that changed something on its board, with what is shown of its player."""

    submission: Whole
    player: str
    score: Score
    at: datetime
    recorded_at: datetime
    subscore: Whole | None = None
    name: str | None = None
    avatar_url: str | None = None


class Activity(msgspec.Struct, frozen=True):
    """The newest submissions of a board, newest first, and a cursor to older ones."""

    submissions: tuple[RecentSubmission, ...]
    next: str | None = None


class ReadablePeriod(msgspec.Struct, frozen=True):
    """An available period; None means unbounded."""

    period: str
    opens_at: datetime | None
    closes_at: datetime | None
    state: PeriodState
    """`upcoming`, `open`, `ended`, `closed` or `settled`."""


class PeriodEnding(msgspec.Struct, frozen=True):
    """A period that was closed or settled, or would be, and what it holds."""

    board: str
    window: str
    period: str
    state: PeriodState
    players: int
    """On everybody's ladder."""
    entries: int
    """On all ladders."""
    digest: str
    """Of all entries, in 64 hexadecimal digits: what is recorded when the period is settled."""
    dry_run: bool = False
    """Whether nothing was recorded."""


class AmendedStanding(msgspec.Struct, frozen=True, gc=False):
    """A player whose place on everybody's ladder an amendment changes."""

    player: str
    rank: int | None
    """Null if the player is taken out."""
    score: Score | None
    previous_rank: int
    previous_score: Score


class PeriodAmendment(msgspec.Struct, frozen=True):
    """A settled period that was amended, or would be, and what it holds then."""

    board: str
    window: str
    period: str
    reason: str
    players: int
    """On everybody's ladder."""
    entries: int
    """On all ladders."""
    digest: str
    """Of all entries, in 64 hexadecimal digits."""
    previous_digest: str
    """Of the period until then."""
    amended: int
    """How often the period has been amended, with this time."""
    moves: tuple[AmendedStanding, ...]
    """At most 100: those who are amended, then others among the first places, by rank."""
    dry_run: bool = False
    """Whether nothing was recorded."""


class ArchivedPeriod(msgspec.Struct, frozen=True):
    """The archive of a settled period."""

    board: str
    window: str
    period: str
    opens_at: datetime | None
    closes_at: datetime
    players: int
    """On everybody's ladder, when the period was settled."""
    entries: int
    """On all ladders, when the period was settled."""
    digest: str
    """Of all entries, as it was recorded when the period was settled."""
    file: str
    """The name of the Parquet file in the store of archives."""
    bytes: int
    """Of the file and its index together."""


class ArchiveCheck(msgspec.Struct, frozen=True):
    """What was found when an archive was read whole."""

    board: str
    window: str
    period: str
    problem: str | None
    """What is wrong with it; null if nothing is."""


class ScopeSize(msgspec.Struct, frozen=True):
    """A scope that has players, and how many."""

    scope: str
    total: int


class HistoryPoint(msgspec.Struct, frozen=True, gc=False):
    """Where a player stood when a snapshot was taken."""

    snapshot: str
    """The boundary that it was due at, such as 2026-11-15."""
    at: datetime
    """When it was taken."""
    period: str
    """The period of the window that was open then."""
    rank: int
    total: int
    """The number of players on the ladder then."""
    score: Score | None
    """Null if it was not kept."""


class RankHistory(msgspec.Struct, frozen=True):
    """Where a player stood on ladders of a window, newest snapshot first."""

    board: str
    window: str
    scope: str
    player: str
    ranking: Ranking
    points: tuple[HistoryPoint, ...]
    """Only of snapshots that have the player."""


class ExportedEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player's entry on one ladder of a board."""

    window: str
    period: str
    scope: str
    state: PeriodState
    rank: int
    total: int
    """The number of players on the ladder."""
    score: Score
    achieved_at: datetime
    subscore: Whole | None = None


class ExportedBoard(msgspec.Struct, frozen=True):
    """Some of what is recorded of a player on one board."""

    board: str
    entries: tuple[ExportedEntry, ...] = ()
    """On every ladder, in periods that are retained and in archives; ranks by the board's rule."""
    submissions: tuple[PastSubmission, ...] = ()
    """Newest first."""
    history: tuple[RankHistory, ...] = ()
    """Ranks over time, by window and scope."""
    unreadable: tuple[str, ...] = ()
    """Archives whose files are gone or damaged, as window/period: what they hold is missing."""


class PlayerExport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page of everything that is recorded of a player."""

    player: str
    boards: tuple[ExportedBoard, ...]
    """By id. A board goes on on the next page where it does not fit on one."""
    next: str | None
    """A cursor to the next page; null on the last."""
    profile: PlayerProfile | None = None
    """Only on the first page."""
    friends: tuple[str, ...] | None = None
    """Sorted by id; only on the first page."""

    @property
    def rows(self) -> int:
        """How many rows the page has."""
        return len(self.friends or ()) + sum(
            len(each.entries) + len(each.submissions) + sum(len(one.points) for one in each.history)
            for each in self.boards
        )


class PlayerRestriction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player who is hidden from others."""

    player: str
    kind: str
    """`hidden`, `shadow` or `banned`."""
    boards: tuple[str, ...]
    """Where it applies: ids of boards, in which * matches any characters."""
    reason: str
    at: datetime
    """When it was set."""
    until: datetime | None = None
    """When it ends by itself."""
    by: str | None = None
    """Who set it."""


class Restrictions(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page of restricted players, and where the next one begins."""

    restrictions: tuple[PlayerRestriction, ...]
    next: str | None = None
