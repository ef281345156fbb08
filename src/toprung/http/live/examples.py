"""Examples for the AsyncAPI document: the messages of the README's board.

A test plays them on a running service and compares: what is received there has the same members.
"""

from __future__ import annotations

from typing import Any, Final

SUBSCRIBE: Final[dict[str, Any]] = {
    "subscribe": {
        "id": "a",
        "board": "blitz",
        "window": "daily",
        "top": 10,
        "player": "alice",
        "friends": True,
        "activity": 5,
    }
}
UNSUBSCRIBE: Final[dict[str, Any]] = {"unsubscribe": "a"}

_SEEN: Final = "1.2026-11-15.42.open"
_AT: Final = "2026-11-15T12:30:00Z"

NEWS: Final[dict[str, dict[str, Any]]] = {
    "top": {
        "type": "top",
        "id": "a",
        "token": _SEEN,
        "period": "2026-11-15",
        "state": "open",
        "total": 2,
        "worse": 0,
        "standings": [
            {"rank": 1, "player": "bob", "score": 1700, "achieved_at": _AT},
            {"rank": 2, "player": "alice", "score": 1500, "achieved_at": _AT},
        ],
    },
    "rank": {
        "type": "rank",
        "id": "a",
        "token": _SEEN,
        "standing": {
            "rank": 2,
            "player": "alice",
            "score": 1500,
            "total": 2,
            "percentile": 0.0,
            "top_percent": 100.0,
            "achieved_at": _AT,
            "window": "daily",
            "period": "2026-11-15",
            "scope": "global",
            "state": "open",
        },
    },
    "score": {
        "type": "score",
        "id": "a",
        "token": _SEEN,
        "player": "alice",
        "score": 1800,
        "previous_score": 1500,
    },
    "activity": {
        "type": "activity",
        "id": "a",
        "token": f"{_SEEN}.3",
        "submissions": [
            {"submission": 3, "player": "bob", "score": 1700, "at": _AT, "recorded_at": _AT}
        ],
    },
    "period": {
        "type": "period",
        "id": "a",
        "token": "1.2026-11-16.43.open",
        "period": "2026-11-16",
        "previous_period": "2026-11-15",
        "state": "open",
    },
    "error": {
        "type": "error",
        "id": "a",
        "token": None,
        "problem": {
            "type": "/docs#unknown-board",
            "title": "There is no such board",
            "status": 404,
            "detail": "there is no board 'blitz'",
        },
    },
}
"""By their kind."""
