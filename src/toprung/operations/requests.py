"""What callers send: one struct per body and per query string.

These types describe requests in the OpenAPI document and name their members. What a member may be
is for the domain to say, in the same words as to callers of the library; only what HTTP adds to it
is checked here. Bodies of hot routes are decoded with their types, which is quicker.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from toprung.domain.access import EVERY_BOARD, OVERLAP_SECONDS, OVERLAP_SECONDS_MAX, VERBS
from toprung.domain.amendment import PLAYERS_MAX, REASON_MAX
from toprung.domain.health import BOTH
from toprung.domain.history import KEPT, KEPT_MAX, Every
from toprung.domain.player import GLOBAL, NAME_BYTES_MAX
from toprung.domain.ranking import Ranking
from toprung.domain.trust.log import SIZE_MAX
from toprung.domain.trust.rates import SECONDS_MAX, SUBMISSIONS_MAX
from toprung.domain.trust.restriction import Kind
from toprung.domain.trust.review import EXPIRES, EXPIRES_MAX, EXPIRES_MIN
from toprung.domain.trust.review import TOP_MAX as PENDING_TOP_MAX
from toprung.domain.trust.run_rule import RUN_SECONDS, RUN_SECONDS_MAX
from toprung.domain.values import parse_choice
from toprung.errors import Invalid
from toprung.service.distribution import BUCKETS_MAX
from toprung.service.options import ListOptions
from toprung.service.pages import LIMIT_MAX, RANK_MAX
from toprung.service.read import AROUND_MAX, FOUND_MAX
from toprung.service.reviewing import BY_BYTES_MAX, CLAIM_SECONDS_MAX, REASON_BYTES_MAX
from toprung.service.reviewing import LISTED_MAX as REVIEWED_MAX
from toprung.service.webhooks.service import LISTED_MAX as MESSAGES_MAX

SentScore = Annotated[
    Any,
    Meta(
        extra_json_schema={"type": ["number", "string"]},
        examples=[1500],
    ),
]
SentScoreOrNull = Annotated[
    Any,
    Meta(
        extra_json_schema={"type": ["number", "string", "null"]},
    ),
]

ScoreText = Annotated[str, Meta(extra={"score": True})]
"""A score as it stands in a query string."""

TOP_MAX: Final = 100
"""Places that a live connection follows."""
ACTIVITY_MAX: Final = 50
"""Submissions that it is told of at once."""

NUMBERS: Final = ("number", "string")
Include = Literal[
    "details",
    "percentile",
    "movement",
    "details,percentile",
    "details,movement",
    "percentile,movement",
    "details,percentile,movement",
]
INCLUDES: Final = get_args(Include)
LiveInclude = Literal["movement"]
"""What live messages can include."""
LIVE_INCLUDES: Final = get_args(LiveInclude)

# --- what callers send ----------------------------------------------------------------------------


class SubmissionBody(Struct, forbid_unknown_fields=True):
    """A score to submit."""

    player: str
    score: SentScore
    at: str | UnsetType | None = UNSET
    """When it was achieved (RFC 3339 with offset); default: now."""
    subscore: SentScoreOrNull | UnsetType = UNSET
    details: msgspec.Raw | UnsetType = UNSET
    """Any JSON of at most 1 KiB."""
    key: str | UnsetType | None = UNSET
    """An idempotency key: a repeated submission counts once."""
    run: str | UnsetType | None = UNSET
    """The run that the score was made in, which counts once like a key."""
    signature: str | UnsetType | None = UNSET
    """The score's signature with the key of its run, in hexadecimal digits."""

    @property
    def is_plain(self) -> bool:
        """Whether it says player and score alone, as most do."""
        first = self.at is self.subscore is self.details is UNSET
        return first and self.key is self.run is self.signature is UNSET


class RunBody(Struct, forbid_unknown_fields=True):
    """Whose run is started."""

    player: str | UnsetType = UNSET
    """By default that of the token that comes with the request."""


class WindowBody(Struct, forbid_unknown_fields=True):
    """A window: built-in with another `retain`, custom with `cron`, or a season."""

    name: str
    retain: int | UnsetType = UNSET
    cron: str | UnsetType = UNSET
    starts: str | UnsetType = UNSET
    ends: str | UnsetType = UNSET


class HistoryBody(Struct, forbid_unknown_fields=True):
    """When snapshots of a board's ladders are taken."""

    every: Every = "day"
    """At the beginning of which spans of time, in the board's zone."""
    keep: Annotated[int, Meta(ge=1, le=KEPT_MAX)] = KEPT
    """How many of them are kept."""


class RunRuleBody(Struct, forbid_unknown_fields=True):
    """How long runs on a board may take, by the clock of the service."""

    min_seconds: Annotated[int, Meta(ge=0, le=RUN_SECONDS_MAX)] = 0
    """The least time from a run's start to its score."""
    max_seconds: Annotated[int, Meta(ge=1, le=RUN_SECONDS_MAX)] = RUN_SECONDS
    """The longest; then the run expires."""


class RateBody(Struct, forbid_unknown_fields=True):
    """How many submissions each player may send."""

    submissions: Annotated[int, Meta(ge=1, le=SUBMISSIONS_MAX)]
    """So many at once, and then one whenever its share of the time has passed."""
    seconds: Annotated[int, Meta(ge=1, le=SECONDS_MAX)]


class MaxPerBody(Struct, forbid_unknown_fields=True):
    """How fast an entry may improve, pro rata to the time since it was achieved."""

    amount: SentScore
    """By how much."""
    seconds: Annotated[int, Meta(ge=1, le=SECONDS_MAX)]
    """In how many seconds."""


class ReviewWhenBody(Struct, forbid_unknown_fields=True):
    """Which submissions wait: those to which any of these applies."""

    top: Annotated[int, Meta(ge=1, le=PENDING_TOP_MAX)] | UnsetType | None = UNSET
    """They would be among so many of the best."""
    anomaly: SentScoreOrNull | UnsetType = UNSET
    """Their modified z-score exceeds this."""
    first_by: str | UnsetType | None = UNSET
    """They would lead by this share of the present best, such as "20%"."""
    restricted: bool | UnsetType | None = UNSET
    """Their player is restricted."""


class ReviewBody(Struct, forbid_unknown_fields=True, rename={"otherwise": "else"}):
    """Which submissions wait for a verdict, and what becomes of them if nobody decides."""

    when: ReviewWhenBody
    otherwise: Literal["accept", "reject"] = "accept"
    """What is decided of those that nobody decides in time."""
    expires: Annotated[int, Meta(ge=EXPIRES_MIN, le=EXPIRES_MAX)] = EXPIRES
    """For how many seconds they wait."""


class BoardBody(Struct, forbid_unknown_fields=True):
    """The rules of a board; omitted rules take their defaults.

    A board that was read can be sent back: `id` must match, `periods` is ignored.
    """

    id: Annotated[str, Meta(extra_json_schema={"readOnly": True})] | UnsetType = UNSET
    periods: Annotated[Any, Meta(extra_json_schema={"readOnly": True})] | UnsetType = UNSET

    title: str | UnsetType | None = UNSET
    order: Literal["desc", "asc"] | UnsetType | None = UNSET
    policy: Literal["best", "latest", "sum"] | UnsetType | None = UNSET
    decimals: Annotated[int, Meta(ge=0, le=9)] | UnsetType | None = UNSET
    subscore: Literal["asc", "desc"] | UnsetType | None = UNSET
    tie_break: Literal["first", "last", "player"] | UnsetType | None = UNSET
    ranking: Ranking | UnsetType | None = UNSET
    windows: list[str | WindowBody] | UnsetType | None = UNSET
    default_window: str | UnsetType | None = UNSET
    """The default window of reads and of the web page."""
    timezone: str | UnsetType | None = UNSET
    scopes: list[str] | UnsetType | None = UNSET
    public: bool | UnsetType | None = UNSET
    score_min: SentScoreOrNull | UnsetType = UNSET
    score_max: SentScoreOrNull | UnsetType = UNSET
    max_increase: SentScoreOrNull | UnsetType = UNSET
    history: HistoryBody | UnsetType | None = UNSET
    """Snapshots of its ladders, for movement and history; null: none."""
    trust: Literal["server", "player", "signed"] | UnsetType | None = UNSET
    run: RunRuleBody | UnsetType | None = UNSET
    """How long runs may take; null: up to an hour."""
    rate: RateBody | UnsetType | None = UNSET
    """How many submissions each player may send; null: any number."""
    max_per: MaxPerBody | UnsetType | None = UNSET
    """How fast entries may improve; null: at any pace."""
    review: ReviewBody | UnsetType | None = UNSET
    """Which submissions wait for a verdict; null: none."""


def rules_in(body: dict[str, Any], board_id: str) -> dict[str, Any]:
    """The rules in a `BoardBody` for this board, as the library's mapping."""
    if body.get("id", board_id) != board_id:
        raise Invalid("id", f"must be {board_id!r}, the board in the URL")
    return {name: rule for name, rule in body.items() if name not in ("id", "periods")}


class ProfileBody(Struct, forbid_unknown_fields=True):
    """A player's whole profile: what is omitted is removed."""

    name: str | None = None
    avatar_url: str | None = None
    attributes: dict[str, str] | None = None


class ProfilePatchBody(Struct, forbid_unknown_fields=True):
    """Changes to a player's profile: what is omitted stays, null removes it."""

    name: str | UnsetType | None = UNSET
    avatar_url: str | UnsetType | None = UNSET
    attributes: dict[str, str | None] | UnsetType | None = UNSET
    """Attributes to change: those omitted stay, null removes one."""


class NameVerdictBody(Struct, forbid_unknown_fields=True):
    """What becomes of a name that waits."""

    name: str
    """The name that was judged."""
    accept: bool
    """Whether it is shown from now on; else the old one stays."""


class LookupBody(Struct, forbid_unknown_fields=True):
    """The players to look up."""

    players: Annotated[list[str], Meta(max_length=LIMIT_MAX)]


class KeyBody(Struct, forbid_unknown_fields=True):
    """A key to create."""

    name: str
    verbs: tuple[str, ...] = VERBS
    """What the key allows: read, write, moderate, admin."""
    boards: tuple[str, ...] = (EVERY_BOARD,)
    """Patterns of board ids, in which * stands for any characters."""
    owner: str | None = None
    """Keys of one owner share their idempotency keys; the default owner is the key's own id."""
    expires_at: str | None = None
    """When it ends to be valid (RFC 3339 with offset); by default never."""
    addresses: tuple[str, ...] = ()
    """IP addresses and networks that it may be used from; by default all."""


class KeyPatchBody(Struct, forbid_unknown_fields=True):
    """Changes to a key: what is omitted stays."""

    name: str | UnsetType = UNSET
    verbs: tuple[str, ...] | UnsetType = UNSET
    boards: tuple[str, ...] | UnsetType = UNSET
    """Patterns of board ids, in which * stands for any characters."""
    expires_at: str | UnsetType | None = UNSET
    """When it ends to be valid (RFC 3339 with offset); null: never."""
    addresses: tuple[str, ...] | UnsetType = UNSET
    """IP addresses and networks that it may be used from; an empty list: all."""


class RotationBody(Struct, forbid_unknown_fields=True):
    """How a key is replaced."""

    overlap_seconds: Annotated[int, Meta(ge=0, le=OVERLAP_SECONDS_MAX)] = OVERLAP_SECONDS
    """For how long the old key can still be used."""


class WebhookBody(Struct, forbid_unknown_fields=True):
    """A webhook to set."""

    url: str
    """Where requests go: http or https, without user and fragment."""
    events: tuple[str, ...]
    """Types of events: board.changed, leader.changed, period.closed, period.settled,
    period.amended, player.erased, submission.pending, submission.decided; * for all."""
    boards: tuple[str, ...] = (EVERY_BOARD,)
    """Patterns of board ids, in which * stands for any characters."""
    secret: str | None = None
    """What requests are signed with: whsec_ and 24 to 64 bytes in base64. Without one, a webhook
    keeps its secret, and a new one gets one."""


class CorrectionBody(Struct, forbid_unknown_fields=True):
    """The score that a player's entry of a settled period should have."""

    player: str
    score: SentScore
    subscore: SentScoreOrNull | UnsetType = UNSET
    """By default it stays as it is."""


class AmendmentBody(Struct, forbid_unknown_fields=True):
    """How a settled period is changed: at most 100 players, who have an entry there."""

    reason: Annotated[str, Meta(min_length=1, max_length=REASON_MAX)]
    """Why; it is kept for good, and should name nobody."""
    remove: Annotated[list[str], Meta(max_length=PLAYERS_MAX)] = []
    """Players who are taken out of the period."""
    set: Annotated[list[CorrectionBody], Meta(max_length=PLAYERS_MAX)] = []
    """Scores that are corrected."""


class RestrictionBody(Struct, forbid_unknown_fields=True):
    """How a player is hidden from others."""

    kind: Kind
    """`hidden`: nobody sees its entries, and it has no rank. `shadow`: the same, but reads with
    `viewer` answer it as if it were not restricted. `banned`: hidden, and its submissions are
    refused."""
    reason: Annotated[str, Meta(min_length=1, max_length=REASON_MAX)]
    """Why; it is kept for good, and should name nobody."""
    boards: list[str] = msgspec.field(default_factory=lambda: [EVERY_BOARD])
    """Where it applies: ids of boards, in which * matches any characters."""
    until: str | None = None
    """When it ends by itself (RFC 3339 with offset); null: never."""


class RevokingBody(Struct, forbid_unknown_fields=True):
    """Why a submission is revoked."""

    reason: Annotated[str, Meta(min_length=1, max_length=REASON_MAX)]
    """Why; it is kept for good, and should name nobody."""


class ClaimBody(Struct, forbid_unknown_fields=True):
    """Which submission is claimed, by whom, and for how long."""

    by: Annotated[str, Meta(min_length=1, max_length=BY_BYTES_MAX)]
    """Who decides it: a moderator, or the name of a program."""
    seconds: Annotated[int, Meta(ge=1, le=CLAIM_SECONDS_MAX)] = 300
    """How long the claim lasts."""
    order: Literal["impact", "oldest"] = "impact"
    """Which comes first."""
    board: str | None = None
    """Only submissions of this board."""


class VerdictBody(Struct, forbid_unknown_fields=True):
    """What is decided of a submission that waits, and why."""

    verdict: Literal["accept", "reject"]
    reason: Annotated[str, Meta(max_length=REASON_BYTES_MAX)] = ""
    """Why; it is kept for good, and should name nobody."""
    by: Annotated[str, Meta(max_length=BY_BYTES_MAX)] = ""
    """Who decides."""
    claim: str | None = None
    """The token of the claim, if the submission is claimed."""


class EmptyBody(Struct, forbid_unknown_fields=True):
    """Nothing: an empty object."""


# --- what callers ask for -------------------------------------------------------------------------


class Numbers(Struct, forbid_unknown_fields=True, frozen=True):
    """How scores are written."""

    numbers: Literal["number", "string"] = "number"

    def __post_init__(self) -> None:
        parse_choice(self.numbers, NUMBERS, "numbers")


class LadderQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """Which ladder is read."""

    PRIVATE: ClassVar = "viewer"
    """What public boards do not answer to everybody."""
    window: str | None = None
    period: str | None = None
    scope: str = GLOBAL
    viewer: str | None = None

    @property
    def private(self) -> str | None:
        """What is asked for that public boards do not answer to everybody."""
        return None if self.viewer is None else "reads for a viewer"


class ListQuery(LadderQuery, forbid_unknown_fields=True, frozen=True):
    """Which ladder is read, and how its ranks count."""

    PRIVATE: ClassVar = "details and viewer"
    ranking: Ranking | None = None
    include: Include | None = None
    """What else to include in each row."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.include is not None:
            parse_choice(self.include, INCLUDES, "include")

    @property
    def details(self) -> bool:
        """Whether the rows of a list hold details."""
        return self.include is not None and "details" in self.include

    @property
    def private(self) -> str | None:
        """What is asked for that public boards do not show to everybody."""
        return super().private or ("details" if self.details else None)

    @property
    def percentile(self) -> bool:
        """Whether the rows of a list hold percentiles."""
        return self.include is not None and "percentile" in self.include

    @property
    def movement(self) -> bool:
        """Whether rows tell how players have moved."""
        return self.include is not None and "movement" in self.include

    def options(self) -> ListOptions:
        """The options of every read of the library."""
        return {
            "window": self.window,
            "period": self.period,
            "scope": self.scope,
            "viewer": self.viewer,
            "ranking": self.ranking,
            "names": True,
            "details": self.details,
            "movement": self.movement,
        }


class StandingsQuery(
    ListQuery, forbid_unknown_fields=True, frozen=True, rename={"from_rank": "from"}
):
    """A page of standings."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100
    cursor: str | None = None
    from_rank: Annotated[int, Meta(ge=1, le=RANK_MAX)] | None = None
    min_score: ScoreText | None = None
    max_score: ScoreText | None = None


class AroundQuery(ListQuery, forbid_unknown_fields=True, frozen=True):
    """How many neighbours."""

    above: Annotated[int, Meta(ge=0, le=AROUND_MAX)] = 5
    below: Annotated[int, Meta(ge=0, le=AROUND_MAX)] = 5


class AroundScoreQuery(AroundQuery, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Neighbours of a score."""

    score: ScoreText


class FindQuery(ListQuery, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Whom to look for."""

    text: Annotated[str, Meta(min_length=1, max_length=NAME_BYTES_MAX)]
    """The start of the name, ignoring case, or an exact player id."""
    limit: Annotated[int, Meta(ge=1, le=FOUND_MAX)] = 10


class FriendsQuery(ListQuery, forbid_unknown_fields=True, frozen=True):
    """A page of friends."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 20
    cursor: str | None = None


class DistributionQuery(LadderQuery, forbid_unknown_fields=True, frozen=True):
    """A spread of scores."""

    buckets: Annotated[int, Meta(ge=1, le=BUCKETS_MAX)] = 20


class HistoryQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """Where a player stood over time."""

    window: str | None = None
    scope: str = GLOBAL
    ranking: Ranking | None = None
    limit: Annotated[int, Meta(ge=1, le=KEPT_MAX)] = KEPT
    """How many snapshots to look at, from the newest."""
    viewer: str | None = None


class WindowQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """A window of the board."""

    window: str | None = None


class EndingQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """Whether a period is really ended."""

    dry_run: bool = False


class AmendingQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """Whether a period is really amended."""

    dry_run: bool = False


class ScopesQuery(WindowQuery, forbid_unknown_fields=True, frozen=True):
    """A period of a window, and which of its scopes."""

    PRIVATE: ClassVar = "viewer"
    period: str | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_MAX
    after: str | None = None
    viewer: str | None = None

    @property
    def private(self) -> str | None:
        """What is asked for that public boards do not answer to everybody."""
        return None if self.viewer is None else "reads for a viewer"


class PageQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A page of a list."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100
    cursor: str | None = None


class ExportQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A page of an export."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_MAX
    """About how many rows the page should have."""
    cursor: str | None = None


class NameReviewsQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """Which names that wait."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100
    after: str = ""
    """The last player of the list before."""


class ActivityQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A page of a board's activity."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 50
    scope: str = GLOBAL
    cursor: str | None = None
    viewer: str | None = None


class PlayerStandingsQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A player's standings everywhere."""

    viewer: str | None = None


class RestrictionsQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """A page of restricted players."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100
    after: str = ""
    """The `next` of the page before."""


class RevokingQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """Whether a submission is really revoked."""

    dry_run: bool = False


class ReviewQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A page of submissions that wait for a verdict."""

    order: Literal["impact", "oldest"] = "impact"
    """Whether what stands out most comes first, or the oldest."""
    board: str | None = None
    """Only those of this board."""
    limit: Annotated[int, Meta(ge=1, le=REVIEWED_MAX)] = 50
    cursor: str | None = None


class DeliveriesQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """A page of messages."""

    state: Literal["waiting", "delivered", "dead"] | None = None
    limit: Annotated[int, Meta(ge=1, le=MESSAGES_MAX)] = 100
    cursor: str | None = None


class ConsistencyQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """Two sizes of the audit log."""

    old: Annotated[int, Meta(ge=0, le=SIZE_MAX)]
    """The size of a checkpoint that was kept."""
    new: Annotated[int, Meta(ge=0, le=SIZE_MAX)] | None = None
    """The size of a newer one; as many leaves as there are if it is left out."""


class LeavesQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """Some leaves of the audit log."""

    start: Annotated[int, Meta(ge=0, le=SIZE_MAX)] = 0
    """The number of the first."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000


class AuditQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """Which acts are asked for."""

    actor: str | None = None
    """A kind of actor (`key`, `local`, `library`, `cli`), or one actor, such as `key:mfzwizlr`."""
    board: str | None = None
    since: str | None = None
    """No acts before this time."""
    until: str | None = None
    """Only acts before this time."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    cursor: str | None = None


class LiveQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """What is to be watched, as a query string."""

    PRIVATE: ClassVar = "friends, activity and viewer"
    window: str | None = None
    scope: str = GLOBAL
    top: Annotated[int, Meta(ge=1, le=TOP_MAX)] | None = None
    player: str | None = None
    friends: Literal["true"] | None = None
    numbers: Literal["number", "string"] = "number"
    activity: Annotated[int, Meta(ge=1, le=ACTIVITY_MAX)] | None = None
    include: LiveInclude | None = None
    """What else to include in each row, and in the player's standing."""
    viewer: str | None = None

    def __post_init__(self) -> None:
        if self.friends is not None:
            parse_choice(self.friends, ("true",), "friends")
        if self.include is not None:
            parse_choice(self.include, LIVE_INCLUDES, "include")

    @property
    def private(self) -> str | None:
        """What is asked for that public boards do not show to everybody."""
        if self.friends:
            return "friends"
        if self.viewer is not None:
            return "reads for a viewer"
        return None if self.activity is None else "submissions"


class ReadyQuery(Struct, forbid_unknown_fields=True, frozen=True, rename={"part": "for"}):
    """What to check."""

    part: Literal["all", "reads", "writes"] = "all"

    def __post_init__(self) -> None:
        parse_choice(self.part, ("all", *BOTH), "for")


class NoQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """No parameters."""


# --- counting -------------------------------------------------------------------------------------


def lookup_quotes(body: LookupBody) -> int:
    """The quotation marks of a look-up without escapes."""
    return 2 + 2 * len(body.players)


def submission_quotes(body: SubmissionBody) -> int | None:
    """The quotation marks of a submission without escapes; None when details hide some.

    >>> submission_quotes(SubmissionBody("alice", 1500)) == '{"player":"alice","score":1500}'.count(
    ...     '"'
    ... )
    True
    """
    quotes = 8 if type(body.score) is str else 6
    if body.is_plain:  # the hot case
        return quotes
    if body.details is not UNSET:
        return None
    for member in (body.at, body.subscore, body.key, body.run, body.signature):
        if member is not UNSET:
            quotes += 4 if type(member) is str else 2
    return quotes
