"""Leaderboards of a service, used like a local database.

`connect` for ordinary programs, `connect_async` for those with an event loop. Their methods,
answers and errors are the library's own, so a program can hold either.
"""

from toprung.errors import MissingExtra

try:
    import httpx2 as _httpx2  # noqa: F401 -- here, where the reason can be told
except ImportError:
    raise MissingExtra("client") from None

from toprung.client.blocking import Leaderboard, Leaderboards, Watch
from toprung.client.caller import Retries
from toprung.client.connecting import connect, connect_async
from toprung.client.messages import Message, NewSubmissions, PeriodChange, Rank, ScoreChange, Top

__all__ = [
    "Leaderboard",
    "Leaderboards",
    "Message",
    "NewSubmissions",
    "PeriodChange",
    "Rank",
    "Retries",
    "ScoreChange",
    "Top",
    "Watch",
    "connect",
    "connect_async",
]
