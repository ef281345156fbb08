"""Answers of the HTTP API that are not simply a value of the library.

The service encodes them, the client decodes them, and the OpenAPI document describes them. All
other answers are the structs that the library returns. Scores are numbers, exact to the last digit,
or strings where a caller asks for `numbers=string`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from toprung.domain.calendar import PeriodState
from toprung.domain.standing import (
    ArchivedPeriod,
    ReadablePeriod,
    RecentSubmission,
    ScopeSize,
    Score,
    ShownMovement,
    SkipReason,
    Whole,
    WindowStanding,
)
from toprung.domain.trust.names import NameReview
from toprung.domain.webhooks import WebhookInfo

ReadyWord = Literal["ready", "degraded", "not-ready"]


class ListAnswer(Struct):
    """An answer that holds what the library returns as a list, under its only name."""


class StandingRow(Struct, omit_defaults=True, gc=False):
    """One row of a list."""

    rank: int
    player: str
    score: Score
    achieved_at: datetime
    subscore: Whole | None = None
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    global_rank: int | None = None
    percentile: float | None = None
    """The percentage of players that are strictly worse; with `include=percentile`, like
    `top_percent`."""
    top_percent: float | None = None
    movement: ShownMovement | UnsetType = UNSET
    """With `include=movement`: since the newest snapshot of the ladder; "new" if the player was not
    on it then, null if there is none. Among friends, of `global_rank`."""


class StandingAnswer(Struct, omit_defaults=True, gc=False):
    """A player's standing on one ladder."""

    rank: int
    player: str
    score: Score
    total: int
    percentile: float
    top_percent: float
    achieved_at: datetime
    window: str
    period: str
    scope: str
    state: PeriodState
    subscore: Whole | None = None
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    board: str | None = None
    movement: ShownMovement | UnsetType = UNSET
    """With `include=movement`: since the newest snapshot of the ladder; "new" if the player was not
    on it then, null if there is none."""


class PageAnswer(Struct):
    """Consecutive standings of one ladder, with cursors to the next and previous page."""

    board: str
    window: str
    period: str
    scope: str
    state: PeriodState
    total: int
    standings: list[StandingRow]
    next: str | None = None
    prev: str | None = None


class SubmitAnswer(Struct, omit_defaults=True):
    """The result of a submission."""

    submission: Whole
    status: Literal["accepted", "unchanged", "pending"]
    skipped: dict[str, SkipReason]
    """Windows in which it does not count, and why: closed or not yet open at its time, or that
    period is no longer retained."""
    standings: dict[str, WindowStanding]
    stale: bool = False
    """True if the submission is recorded, but its ranks are currently unknown."""
    reasons: tuple[str, ...] = ()
    """Why it is pending: `top`, `anomaly`, `own-anomaly`, `first-by`, `restricted`."""


class RejectedRow(Struct):
    """A rejected row, and why."""

    pointer: str
    detail: str


class BatchAnswer(Struct):
    """The result of a batch."""

    accepted: int
    unchanged: int
    duplicates: int
    rejected: list[RejectedRow]
    pending: int | UnsetType = UNSET
    """How many wait for a verdict; only if any do."""


class LookupAnswer(Struct):
    """The standings of many players, and the players without one."""

    standings: list[StandingRow]
    missing: tuple[str, ...]
    total: int | None = None
    """Players on the ladder; null, like the members below, if none of the players was found."""
    window: str | None = None
    period: str | None = None
    scope: str | None = None
    state: PeriodState | None = None


class PeriodsAnswer(Struct):
    """The periods of a window that can be read, newest first."""

    window: str
    periods: list[ReadablePeriod]


class ArchivesAnswer(ListAnswer):
    """The archives of a board, newest first."""

    archives: list[ArchivedPeriod]


class ScopesAnswer(ListAnswer):
    """The scopes that have players."""

    scopes: list[ScopeSize]


class BoardAnswer(Struct, omit_defaults=True):
    """A board's rules; the response for a single board includes each window's current period."""

    id: str
    title: str
    order: str
    policy: str
    decimals: int
    subscore: str | None
    tie_break: str
    ranking: str
    windows: list[str | dict[str, Any]]
    default_window: str | None
    timezone: str
    scopes: list[str]
    public: bool
    score_min: Score | None
    score_max: Score | None
    max_increase: Score | None
    history: dict[str, Any] | None = None
    """How often snapshots of its ladders are taken, `every`, and how many are kept, `keep`."""
    trust: str = "server"
    run: dict[str, int] | None = None
    """How long runs may take, `min_seconds` and `max_seconds`; null: up to an hour."""
    rate: dict[str, Any] | UnsetType | None = UNSET
    """How many `submissions` each player may send in so many `seconds`; only if it is limited."""
    max_per: dict[str, Any] | UnsetType | None = UNSET
    """By which `amount` entries may improve in so many `seconds`; only if it is limited."""
    review: dict[str, Any] | UnsetType | None = UNSET
    """Which submissions wait for a verdict; only if any do."""
    periods: dict[str, ReadablePeriod] = {}


class BoardsAnswer(Struct):
    """Boards, sorted by id."""

    boards: list[BoardAnswer]
    next: str | None = None


class NameReviewsAnswer(ListAnswer):
    """Names that wait for a moderator, sorted by player."""

    names: list[NameReview]


class FriendsAnswer(ListAnswer):
    """A player's friends, sorted by id."""

    friends: list[str]


class PlayerStandingsAnswer(ListAnswer):
    """A player's current standings on all boards and windows."""

    standings: list[StandingAnswer]


class KeyAnswer(Struct, omit_defaults=True):
    """A key; its text, `key`, is shown only when it is created or rotated."""

    id: str
    name: str
    verbs: tuple[str, ...]
    boards: tuple[str, ...]
    owner: str
    """The key's owner; keys of one owner share their idempotency keys."""
    created_at: datetime
    last_used_at: datetime | None = None
    key: str | None = None
    expires_at: datetime | None = None
    addresses: tuple[str, ...] = ()


class KeysAnswer(ListAnswer):
    """All keys, oldest first."""

    keys: list[KeyAnswer]


class WebhooksAnswer(ListAnswer):
    """All webhooks that the key may manage, by id."""

    webhooks: list[WebhookInfo]


class SecurityEvent(Struct, frozen=True):
    """Something that was refused."""

    at: datetime
    kind: str
    """`unauthorized`, `forbidden`, `too-many-requests`, …: the problem that was answered."""
    client: str
    """The address that it came from; empty where it is unknown."""
    detail: str
    """The sentence that was answered."""
    key: str | None = None
    """The id of the key that was shown, if it was a valid one."""


class SecurityAnswer(Struct, frozen=True):
    """What a process has refused lately."""

    since: datetime
    """When it began to count."""
    counts: dict[str, int]
    """By kind."""
    events: list[SecurityEvent]
    """The newest first, at most 1,000."""


class HealthAnswer(Struct):
    """The health of the process."""

    status: str


class ReadyAnswer(Struct):
    """What the service is ready for, and what is wrong, if anything."""

    status: ReadyWord
    """`ready`; `degraded` if only a part or only background work fails; `not-ready`."""
    checks: dict[str, str]
    """`ok` or what is wrong, by check."""


# --- errors ---------------------------------------------------------------------------------------


class InputError(Struct, frozen=True):
    """One error in the input."""

    pointer: str
    """A JSON pointer into the body, or `/` and the name of a parameter of the path or query."""
    detail: str


class Problem(Struct, frozen=True, omit_defaults=True):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = ""
    errors: list[InputError] = []
    request: str = ""
    """The request's id, as in the log."""


# --- live -----------------------------------------------------------------------------------------


class TopPart(Struct):
    """The first places of a ladder."""

    token: str
    period: str
    state: PeriodState
    total: int
    worse: int
    """The number of players strictly worse than the last of these."""
    standings: list[StandingRow]


class RankPart(Struct):
    """The watched player's standing; null if not on the ladder."""

    token: str
    standing: StandingAnswer | None


class ScorePart(Struct):
    """A player's score changed; null means no entry."""

    token: str
    player: str
    score: Score | None
    previous_score: Score | None


class ActivityPart(Struct):
    """Submissions since the message before, newest first; at most as many as were asked for."""

    token: str
    submissions: list[RecentSubmission]


class PeriodPart(Struct):
    """The window moved to a new period, or its season opened or ended; a snapshot follows."""

    token: str
    period: str
    previous_period: str
    state: PeriodState


class ErrorPart(Struct):
    """A subscription was refused or has ended."""

    token: str | None
    problem: Problem
