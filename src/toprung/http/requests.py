"""What callers send: one struct per body and per query string.

These types describe requests in the OpenAPI document and name their members. What a member may be
is for the domain to say, in the same words as to callers of the library; only what HTTP adds to it
is checked here. Bodies of hot routes are decoded with their types, which is quicker.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from toprung.domain.player import GLOBAL, NAME_BYTES_MAX
from toprung.domain.ranking import Ranking
from toprung.domain.values import parse_choice
from toprung.errors import Invalid
from toprung.service.distribution import BUCKETS_MAX
from toprung.service.options import ListOptions
from toprung.service.pages import LIMIT_MAX, RANK_MAX
from toprung.service.read import AROUND_MAX, FOUND_MAX

Score = Annotated[
    Any,
    Meta(
        description="An exact number, or a string with the same digits.",
        extra_json_schema={"type": ["number", "string"]},
        examples=[1500],
    ),
]
ScoreOrNull = Annotated[
    Any,
    Meta(
        description="An exact number, a string with the same digits, or null for none.",
        extra_json_schema={"type": ["number", "string", "null"]},
    ),
]

NUMBERS: Final = ("number", "string")
INCLUDES: Final = ("details", "percentile", "details,percentile")

# --- what callers send ----------------------------------------------------------------------------


class SubmissionBody(Struct, forbid_unknown_fields=True):
    """A score to submit."""

    player: str
    score: Score
    at: str | UnsetType | None = UNSET
    """When it was achieved (RFC 3339 with offset); default: now."""
    subscore: ScoreOrNull | UnsetType = UNSET
    details: msgspec.Raw | UnsetType = UNSET
    """Any JSON of at most 1 KiB."""
    key: str | UnsetType | None = UNSET
    """An idempotency key: a repeated submission counts once."""


class WindowBody(Struct, forbid_unknown_fields=True):
    """A window: built-in with another `retain`, custom with `cron`, or a season."""

    name: str
    retain: int | UnsetType = UNSET
    cron: str | UnsetType = UNSET
    starts: str | UnsetType = UNSET
    ends: str | UnsetType = UNSET


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
    score_min: ScoreOrNull | UnsetType = UNSET
    score_max: ScoreOrNull | UnsetType = UNSET
    max_increase: ScoreOrNull | UnsetType = UNSET


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


class LookupBody(Struct, forbid_unknown_fields=True):
    """The players to look up."""

    players: Annotated[list[str], Meta(max_length=LIMIT_MAX)]


# --- what callers ask for -------------------------------------------------------------------------


class Numbers(Struct, forbid_unknown_fields=True, frozen=True):
    """How scores are written."""

    numbers: Literal["number", "string"] = "number"

    def __post_init__(self) -> None:
        parse_choice(self.numbers, NUMBERS, "numbers")


class LadderQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """Which ladder is read."""

    window: str | None = None
    period: str | None = None
    scope: str = GLOBAL


class ListQuery(LadderQuery, forbid_unknown_fields=True, frozen=True):
    """Which ladder is read, and how its ranks count."""

    ranking: Ranking | None = None
    include: Literal["details", "percentile", "details,percentile"] | None = None
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
        return "details" if self.details else None

    @property
    def percentile(self) -> bool:
        """Whether the rows of a list hold percentiles."""
        return self.include is not None and "percentile" in self.include

    def options(self) -> ListOptions:
        """The options of every read of the library."""
        return {
            "window": self.window,
            "period": self.period,
            "scope": self.scope,
            "ranking": self.ranking,
            "names": True,
            "details": self.details,
        }


class StandingsQuery(
    ListQuery, forbid_unknown_fields=True, frozen=True, rename={"from_rank": "from"}
):
    """A page of standings."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100
    cursor: str | None = None
    from_rank: Annotated[int, Meta(ge=1, le=RANK_MAX)] | None = None
    min_score: str | None = None
    max_score: str | None = None


class AroundQuery(ListQuery, forbid_unknown_fields=True, frozen=True):
    """How many neighbours."""

    above: Annotated[int, Meta(ge=0, le=AROUND_MAX)] = 5
    below: Annotated[int, Meta(ge=0, le=AROUND_MAX)] = 5


class AroundScoreQuery(AroundQuery, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Neighbours of a score."""

    score: str


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


class WindowQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """A window of the board."""

    window: str | None = None


class ScopesQuery(WindowQuery, forbid_unknown_fields=True, frozen=True):
    """A period of a window, and which of its scopes."""

    period: str | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_MAX
    after: str | None = None


class PageQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A page of a list."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100
    cursor: str | None = None


class ActivityQuery(Numbers, forbid_unknown_fields=True, frozen=True):
    """A page of a board's activity."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 50
    scope: str = GLOBAL
    cursor: str | None = None


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
    at, subscore, details, key = body.at, body.subscore, body.details, body.key
    if at is subscore is details is key is UNSET:  # the hot case
        return quotes
    if details is not UNSET:
        return None
    for member in (at, subscore, key):
        if member is not UNSET:
            quotes += 4 if type(member) is str else 2
    return quotes
