"""Toprung: exact, fair, fast and durable leaderboards.

`open` for synchronous programs, `open_async` for asyncio. The options of reads are described in
`ListOptions`, their results in `toprung.domain.standing`, errors in `toprung.errors`.
"""

from toprung.blocking import Leaderboard, Leaderboards
from toprung.domain.board_rules import BoardRules
from toprung.domain.standing import (
    BatchResult,
    Bucket,
    Distribution,
    Lookup,
    Page,
    PastSubmission,
    PastSubmissions,
    ReadablePeriod,
    Rejected,
    ScopeSize,
    Standing,
    SubmitResult,
    WindowStanding,
)
from toprung.errors import ToprungError
from toprung.opening import open, open_async  # noqa: A004
from toprung.ports import PlayerProfile
from toprung.service.options import LadderOptions, ListOptions

__all__ = [
    "BatchResult",
    "BoardRules",
    "Bucket",
    "Distribution",
    "LadderOptions",
    "Leaderboard",
    "Leaderboards",
    "ListOptions",
    "Lookup",
    "Page",
    "PastSubmission",
    "PastSubmissions",
    "PlayerProfile",
    "ReadablePeriod",
    "Rejected",
    "ScopeSize",
    "Standing",
    "SubmitResult",
    "ToprungError",
    "WindowStanding",
    "open",
    "open_async",
]
