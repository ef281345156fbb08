"""The responses of the HTTP API: one struct each.

The service encodes them, the client decodes them, and the OpenAPI document describes them.
Scores are numbers, exact to the last digit, or strings where a caller asks for `numbers=string`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from toprung.domain.calendar import PeriodState
from toprung.domain.standing import SkipReason

ShownScore = Annotated[
    Any,
    Meta(
        description="An exact number; a string with numbers=string.",
        extra_json_schema={"type": ["number", "string", "null"]},
    ),
]
"""A score in an answer, or null where there is none."""


class StandingRow(Struct, omit_defaults=True, gc=False):
    """One row of a list."""

    rank: int
    player: str
    score: ShownScore
    achieved_at: datetime
    subscore: int | str | None = None
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    global_rank: int | None = None
    percentile: float | None = None
    """With `include=percentile`, like `top_percent`."""
    top_percent: float | None = None


class StandingAnswer(Struct, omit_defaults=True, gc=False):
    """A player's standing on one ladder."""

    rank: int
    player: str
    score: ShownScore
    total: int
    percentile: float
    top_percent: float
    achieved_at: datetime
    window: str
    period: str
    scope: str
    state: PeriodState
    subscore: int | str | None = None
    name: str | None = None
    avatar_url: str | None = None
    details: Any = None
    board: str | None = None


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


class WindowAnswer(Struct, gc=False):
    """The effect of a submission in one window, in the global scope."""

    period: str
    score: ShownScore
    rank: int | None
    previous_score: ShownScore
    previous_rank: int | None
    total: int


class SubmitAnswer(Struct, omit_defaults=True):
    """The result of a submission."""

    submission: int | str
    status: Literal["accepted", "unchanged"]
    skipped: dict[str, SkipReason]
    """Windows in which it does not count, and why: closed or not yet open at its time, or that
    period is no longer retained."""
    standings: dict[str, WindowAnswer]
    stale: bool = False
    """True if the submission is recorded, but its ranks are currently unknown."""


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


class BucketAnswer(Struct, rename={"low": "from", "high": "to"}):
    """How many players have a score from `from` to `to`, both inclusive."""

    low: ShownScore
    high: ShownScore
    count: int


class DistributionAnswer(Struct):
    """How the scores of a ladder are distributed."""

    total: int
    buckets: list[BucketAnswer]


class SubmissionAnswer(Struct, omit_defaults=True):
    """A submission as it was recorded."""

    submission: int | str
    player: str
    score: ShownScore
    at: datetime
    recorded_at: datetime
    status: str
    subscore: int | str | None = None
    details: Any = None


class SubmissionsAnswer(Struct):
    """Submissions, newest first."""

    submissions: list[SubmissionAnswer]
    next: str | None = None


class RecentSubmissionAnswer(Struct, omit_defaults=True):
    """A submission that changed something, with what is shown of its player."""

    submission: int | str
    player: str
    score: ShownScore
    at: datetime
    recorded_at: datetime
    subscore: int | str | None = None
    name: str | None = None
    avatar_url: str | None = None


class ActivityAnswer(Struct):
    """The newest submissions of a board, newest first."""

    submissions: list[RecentSubmissionAnswer]
    next: str | None = None


class PeriodAnswer(Struct):
    """An available period; null means unbounded."""

    period: str
    opens_at: datetime | None
    closes_at: datetime | None
    state: PeriodState


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
    score_min: ShownScore
    score_max: ShownScore
    max_increase: ShownScore
    periods: dict[str, PeriodAnswer] = {}


class BoardsAnswer(Struct):
    """Boards, sorted by id."""

    boards: list[BoardAnswer]
    next: str | None = None


class ProfileAnswer(Struct):
    """A player's profile."""

    player: str
    name: str | None
    avatar_url: str | None
    attributes: dict[str, str]


class FriendsAnswer(Struct):
    """A player's friends, sorted by id."""

    friends: list[str]


class PlayerStandingsAnswer(Struct):
    """A player's current standings on all boards and windows."""

    standings: list[StandingAnswer]


class KeyAnswer(Struct, omit_defaults=True):
    """A key; its text, `key`, is shown only when it is created."""

    id: str
    name: str
    verbs: tuple[str, ...]
    boards: tuple[str, ...]
    owner: str
    """The key's owner; keys of one owner share their idempotency keys."""
    created_at: datetime
    last_used_at: datetime | None = None
    key: str | None = None


class KeysAnswer(Struct):
    """All keys, oldest first."""

    keys: list[KeyAnswer]


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
    score: ShownScore
    previous_score: ShownScore


class ActivityPart(Struct):
    """Submissions since the message before, newest first; at most as many as were asked for."""

    token: str
    submissions: list[RecentSubmissionAnswer]


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
