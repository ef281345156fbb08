"""Toprung: exact, fair, fast and durable leaderboards.

`open` for synchronous programs, `open_async` for asyncio. The options of reads are described in
`ListOptions`, their results in `toprung.domain.standing`, errors in `toprung.errors`.
"""

from toprung.blocking import Leaderboard, Leaderboards
from toprung.domain.background import (
    BackgroundStatus,
    EffectsStatus,
    FollowerStatus,
    JobStatus,
    LeaseStatus,
)
from toprung.domain.board_rules import BoardRules
from toprung.domain.standing import (
    Activity,
    BatchResult,
    Bucket,
    Distribution,
    Lookup,
    Page,
    PastSubmission,
    PastSubmissions,
    ReadablePeriod,
    RecentSubmission,
    Rejected,
    ScopeSize,
    Standing,
    SubmitResult,
    WindowStanding,
)
from toprung.domain.webhooks import Deliveries, Delivery, TestResult, WebhookInfo
from toprung.errors import ToprungError
from toprung.opening import open, open_async  # noqa: A004
from toprung.ports import PlayerProfile
from toprung.service.options import LadderOptions, ListOptions

__all__ = [
    "Activity",
    "BackgroundStatus",
    "BatchResult",
    "BoardRules",
    "Bucket",
    "Deliveries",
    "Delivery",
    "Distribution",
    "EffectsStatus",
    "FollowerStatus",
    "JobStatus",
    "LadderOptions",
    "Leaderboard",
    "Leaderboards",
    "LeaseStatus",
    "ListOptions",
    "Lookup",
    "Page",
    "PastSubmission",
    "PastSubmissions",
    "PlayerProfile",
    "ReadablePeriod",
    "RecentSubmission",
    "Rejected",
    "ScopeSize",
    "Standing",
    "SubmitResult",
    "TestResult",
    "ToprungError",
    "WebhookInfo",
    "WindowStanding",
    "open",
    "open_async",
]
