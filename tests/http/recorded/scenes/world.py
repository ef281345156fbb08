"""Boards and players that several scenes begin with."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from tests.http.recorded.asking import Step, ask, bodies

AWKWARD: Final = (
    "Zoë",
    "日本 語",
    "50% off",
    "a+b&c=d?e#f",
    '"quoted"',
    "<b>",
    "👾",
    "e\u0301",
    "a;b,c@d:e",
    "lookup",
    "~tilde'",
    "x" * 128,
)
"""Ids of players that need escapes in addresses or in JSON, or look like something else."""


def encoded(text: str) -> str:
    """A text as a segment or a value of an address."""
    return quote(text, safe="")


def score(player: str, score: Any, **more: Any) -> dict[str, Any]:
    """A submission."""
    return {"player": player, "score": score, **more}


PLAYERS: Final[list[Step]] = [
    ask("PUT /v1/players/ann", {"name": "Ann", "attributes": {"country": "PT", "team": "red"}}),
    ask(
        "PUT /v1/players/ben",
        {"name": "Ben", "avatar_url": "https://example.org/b.png", "attributes": {"country": "PT"}},
    ),
    ask("PUT /v1/players/cat", {"name": "Anna-Cat", "attributes": {"country": "NZ"}}),
    ask("PUT /v1/players/dan", {"attributes": {"country": "São Tomé", "team": "blue"}}),
    ask("PUT /v1/players/ann/friends/ben"),
    ask("PUT /v1/players/ann/friends/dan"),
    ask("PUT /v1/players/ann/friends/eve"),
    ask("PUT /v1/players/ann/friends/nobody"),
]
"""Profiles and friends; `eve`, `fay` and others have none."""

BLITZ: Final[list[Step]] = [
    ask(
        "PUT /v1/boards/blitz",
        {"title": "Blitz", "windows": ["all-time", "daily"], "scopes": ["country", "team"]},
    ),
    *bodies(
        "POST /v1/boards/blitz/scores",
        score("ann", 1500, at="2026-11-17T09:00:00Z", details={"map": "Sand", "laps": [1, 2.50]}),
        score("ben", 1500, at="2026-11-17T10:00:00Z"),
        score("cat", 1400, at="2026-11-17T10:00:01.5Z"),
        score("dan", 1300, at="2026-11-16T23:59:59.999999Z", details='a "text" / \u20ac'),
        score("eve", 1300, at="2026-11-17T11:00:00+02:00", details=[None, True, "🎲"]),
        score("fay", -7),
        score("gus", 0),
        score("hal", 9223372036854775807, details={"n": 9007199254740993}),
    ),
]
"""A board with ties, numbers at the bounds, details and scopes."""
