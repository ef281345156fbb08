"""Toprung: exact, fair, fast and durable leaderboards.

`open` for ordinary programs, `open_async` for those with an event loop. What reads can be asked for
is described in `ListOptions`, what they answer in `toprung.domain.standing`, what they raise in
`toprung.errors`.
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
