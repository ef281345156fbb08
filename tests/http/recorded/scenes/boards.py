"""Boards: created, replaced, changed, listed, deleted, and every rule refused."""

from __future__ import annotations

from typing import Any, Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import score

_ALL_RULES: Final[dict[str, Any]] = {
    "title": "All “rules” \\ / \u0001 <&> 🏁",
    "order": "asc",
    "policy": "latest",
    "decimals": 3,
    "subscore": "desc",
    "tie_break": "player",
    "ranking": "competition",
    "windows": [
        "all-time",
        {"name": "daily", "retain": 3},
        "hourly",
        {"name": "raid", "cron": "0 20 * * FRI", "retain": 2},
        {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-12-01T00:00:00Z"},
        "weekly",
        "monthly",
        "yearly",
    ],
    "default_window": "daily",
    "timezone": "Europe/Lisbon",
    "scopes": ["country", "global", "team"],
    "public": True,
    "score_min": "0.500",
    "score_max": 1000000,
    "max_increase": 12.25,
}

_WRONG: Final[list[dict[str, Any]]] = [
    {"title": 7},
    {"title": "x" * 201},
    {"order": "up"},
    {"order": ["asc"]},
    {"policy": "most"},
    {"decimals": 10},
    {"decimals": -1},
    {"decimals": 1.5},
    {"decimals": "2"},
    {"subscore": "up"},
    {"tie_break": "random"},
    {"ranking": "olympic"},
    {"windows": []},
    {"windows": "daily"},
    {"windows": ["fortnightly"]},
    {"windows": ["daily", "daily"]},
    {"windows": [{"name": "daily", "retain": 0}]},
    {"windows": [{"name": "daily", "keep": 1}]},
    {"windows": [{"retain": 1}]},
    {"windows": [{"name": "raid", "cron": "99 * * * *"}]},
    {"windows": [{"name": "raid", "cron": "0 0 30 2 *"}]},
    {"windows": [{"name": "s1", "starts": "2026-11-01T00:00:00Z"}]},
    {"windows": [{"name": "s1", "starts": "2026-12-01T00:00:00Z", "ends": "2026-11-01T00:00:00Z"}]},
    {"windows": [{"name": "s1", "starts": "today", "ends": "2026-11-01T00:00:00Z"}]},
    {"windows": [7]},
    {"default_window": "yearly"},
    {"timezone": "Mars/Olympus"},
    {"timezone": 2},
    {"scopes": "country"},
    {"scopes": ["Country"]},
    {"scopes": ["friends"]},
    {"scopes": ["country", "country"]},
    {"scopes": list("abcdefghi")},
    {"public": "yes"},
    {"score_min": 5, "score_max": 4},
    {"score_min": "five"},
    {"score_max": 1.5},
    {"score_max": 9223372036854775808},
    {"max_increase": -1},
    {"colour": "red"},
    {"id": "other"},
    {"id": 7},
]

_CREATED: Final[list[Step]] = [
    ask("PUT /v1/boards/blitz", {}),
    ask("PUT /v1/boards/blitz", {}),
    ask("PUT /v1/boards/all.rules_0-x", _ALL_RULES),
    *asks(
        "GET /v1/boards/blitz",
        "GET /v1/boards/blitz?numbers=string",
        "GET /v1/boards/all.rules_0-x",
        "GET /v1/boards/all.rules_0-x?numbers=string",
        "HEAD /v1/boards/all.rules_0-x",
        "GET /v1/boards/all.rules_0-x?numbers=float",
        "GET /v1/boards/all.rules_0-x?colour=red",
        "GET /v1/boards/nothing",
        "GET /v1/boards/NOT-AN-ID",
        "GET /v1/boards/%2e%2e",
        "GET /v1/boards/a%2Fb",
    ),
    ask("PUT /v1/boards/all.rules_0-x?numbers=string", _ALL_RULES),
    ask("PUT /v1/boards/new", {"title": "New"}, headers={"if-none-match": "*"}),
    ask("PUT /v1/boards/new", {"title": "Newer"}, headers={"if-none-match": "*"}),
    ask("PUT /v1/boards/new", {"id": "new", "periods": {"any": "thing"}, "title": "Same"}),
    *bodies("PUT /v1/boards/-no", {}),
    *bodies(f"PUT /v1/boards/{'x' * 65}", {}),
    *bodies(f"PUT /v1/boards/{'x' * 64}", {}),
    *bodies("PUT /v1/boards/nulls", dict.fromkeys(_ALL_RULES)),
]

_CHANGED: Final[list[Step]] = [
    *bodies(
        "PATCH /v1/boards/blitz",
        {"title": "Blitz!"},
        {"windows": ["all-time", "daily", {"name": "weekly", "retain": 2}], "scopes": ["country"]},
        {"title": None, "windows": None},
        {},
        {"id": "blitz", "periods": 1, "public": True},
        {"id": "other"},
        {"colour": "red"},
        {"order": "up"},
    ),
    ask("PATCH /v1/boards/blitz?numbers=string", {"score_min": -5, "score_max": "5"}),
    ask("PATCH /v1/boards/nothing", {"title": "x"}),
    ask("POST /v1/boards/blitz/scores", score("ann", 3)),
    *bodies(
        "PATCH /v1/boards/blitz",
        {"order": "asc"},
        {"policy": "sum"},
        {"decimals": 2},
        {"subscore": "asc"},
        {"tie_break": "last"},
        {"timezone": "Asia/Tokyo"},
        {"ranking": "dense", "public": False, "max_increase": 4, "default_window": "daily"},
        {"windows": ["daily"], "scopes": []},
        {"windows": [{"name": "s1", "cron": "0 0 * * *"}, "daily"], "default_window": "s1"},
    ),
]

_LISTED: Final[list[Step]] = [
    ask("GET /v1/boards", keep="boards", mask=("etag",)),
    ask("GET /v1/boards", headers={"if-none-match": "<boards.etag>"}, mask=("etag",)),
    ask("GET /v1/boards", headers={"if-none-match": 'W/"x", <boards.etag>'}, mask=("etag",)),
    ask("GET /v1/boards?limit=2", keep="first", mask=("etag",)),
    ask("GET /v1/boards?limit=2&cursor=<first.next>&numbers=string", mask=("etag",)),
    *asks("GET /v1/boards?limit=1000", "HEAD /v1/boards?limit=1&cursor=blitz", mask=("etag",)),
    *asks(
        "GET /v1/boards?limit=0",
        "GET /v1/boards?limit=1001",
        "GET /v1/boards?limit=many",
        "GET /v1/boards?cursor=NO",
        "GET /v1/boards?numbers=",
        "GET /v1/boards?after=blitz",
        "GET /v1/boards?limit=1&limit=2",
    ),
]

_DELETED: Final[list[Step]] = asks(
    "DELETE /v1/boards/new",
    "DELETE /v1/boards/new",
    "DELETE /v1/boards/NO",
    "DELETE /v1/boards/blitz?force=true",
    "DELETE /v1/boards/blitz",
    "GET /v1/boards/blitz",
    "GET /v1/boards/blitz/standings",
)

_LATER: Final[list[Step]] = [
    ask("PUT /v1/boards/blitz", {"title": "Again"}),
    *asks("GET /v1/boards/blitz/standings"),
    Move("2027-03-28T12:00:00Z"),
    *asks("GET /v1/boards/blitz", "GET /v1/boards/all.rules_0-x"),
]

BOARDS = Scene("boards", [*_CREATED, *_CHANGED, *_LISTED, *_DELETED, *_LATER])
RULES = Scene("rules", [ask("PUT /v1/boards/wrong", rules) for rules in _WRONG])
