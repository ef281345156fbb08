"""Submissions that are checked, and that wait for a verdict."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import score

_POST: Final = "POST /v1/boards/blitz/scores"
_RULES: Final = {
    "windows": ["all-time"],
    "decimals": 1,
    "rate": {"submissions": 3, "seconds": 60},
    "max_per": {"amount": "10.5", "seconds": 60},
    "review": {"when": {"first_by": "20%", "anomaly": 3.5}, "else": "reject", "expires": 3600},
}

_REVIEW: Final[list[Step]] = [
    ask("PUT /v1/boards/blitz", _RULES),
    *bodies(
        "PATCH /v1/boards/blitz",
        {"rate": {"submissions": 0, "seconds": 1}},
        {"rate": {"submissions": 1}},
        {"rate": 3},
        {"max_per": {"amount": 0, "seconds": 1}},
        {"max_per": {"amount": "0.01", "seconds": 1}},
        {"max_per": {"sum": 1}},
        {"review": {"when": {}}},
        {"review": {"when": {"top": 0}}},
        {"review": {"when": {"anomaly": -1}}},
        {"review": {"when": {"first_by": 20}}},
        {"review": {"when": {"first_by": "0%"}}},
        {"review": {"when": {"top": 1}, "else": "wait"}},
        {"review": {"when": {"top": 1}, "expires": 1}},
        {"review": {"if": {"top": 1}}},
    ),
    *bodies(_POST, score("ann", 10), score("ann", 11), score("ben", 9)),
    Move("2026-11-17T12:00:02Z"),
    *bodies(
        _POST,
        score("cem", "12.5", key="k", details={"seed": 7}),
        score("cem", "12.5", key="k", details={"seed": 7}),
        score("dan", 14),
        score("ann", 8),
        score("ann", 8),
        score("ann", 8),
    ),
    ask("POST /v1/boards/blitz/scores/batch", [score("eve", 15), score("ann", 1)]),
    *asks(
        "GET /v1/boards/blitz/players/cem/submissions",
        "GET /v1/boards/blitz/standings",
        "GET /v1/review?order=oldest",
        "GET /v1/review?order=oldest&board=blitz&limit=1",
        "GET /v1/review?order=oldest&numbers=string",
        "GET /v1/review?order=newest",
        "GET /v1/review?board=nowhere",
        "GET /v1/review?cursor=nonsense",
        "GET /v1/review?limit=201",
    ),
    *bodies(
        "POST /v1/review/claim",
        {},
        {"by": ""},
        {"by": "bot", "seconds": 0},
        {"by": "bot", "order": "expiry"},
        {"by": "bot", "board": "nowhere"},
    ),
    *bodies(
        "POST /v1/submissions/4/verdict",
        {},
        {"verdict": "maybe"},
        {"verdict": "accept", "reason": "the replay agrees", "by": "bot"},
        {"verdict": "accept"},
        {"verdict": "reject"},
    ),
    ask("POST /v1/review/claim?numbers=string", {"by": ""}),
    ask("POST /v1/submissions/4/verdict?numbers=string", {"verdict": "accept"}),
    ask("POST /v1/submissions/1/verdict", {"verdict": "accept"}),
    ask("POST /v1/submissions/x/verdict", {"verdict": "accept"}),
    ask("POST /v1/submissions/99999999999999999999/verdict", {"verdict": "accept"}),
    *asks(
        "GET /v1/boards/blitz/players/cem/submissions",
        "GET /v1/boards/blitz/standings",
    ),
]

REVIEW: Final = Scene("review", _REVIEW)
