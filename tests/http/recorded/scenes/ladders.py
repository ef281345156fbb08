"""What boards differ in: windows, seasons, zones, scopes, ties, decimals, spread of scores."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import BLITZ, PLAYERS, score

EARLY: Final = "2026-11-17T11:00:00Z"
_WINDOWS: Final[list[Step]] = [
    ask(
        "PUT /v1/boards/raids",
        {
            "timezone": "America/St_Johns",
            "windows": [
                {"name": "hourly", "retain": 2},
                {"name": "daily", "retain": 3},
                "weekly",
                "monthly",
                "yearly",
                {"name": "raid", "cron": "30 20 * * FRI", "retain": 2},
                {"name": "past", "starts": "2026-10-01T00:00:00Z", "ends": "2026-11-01T00:00:00Z"},
                {"name": "next", "starts": "2026-12-01T00:00:00Z", "ends": "2027-01-01T00:00:00Z"},
            ],
            "scopes": ["country"],
        },
    ),
    *bodies(
        "POST /v1/boards/raids/scores",
        score("ann", 5),
        score("ben", 6, at="2026-11-17T03:29:59Z"),
        score("cat", 7, at="2026-10-31T12:00:00Z"),
        score("dan", 8, at="2025-12-31T12:00:00Z"),
    ),
    *asks(
        "GET /v1/boards/raids",
        "GET /v1/boards/raids/standings",
        *(
            f"GET /v1/boards/raids/{what}?window={window}"
            for window in ("hourly", "daily", "weekly", "monthly", "yearly", "raid", "past", "next")
            for what in ("periods", "standings")
        ),
        "GET /v1/boards/raids/periods",
        "GET /v1/boards/raids/periods?window=nope",
        "GET /v1/boards/raids/periods?limit=1",
        "GET /v1/boards/nothing/periods",
        "GET /v1/players/ann/standings",
        "GET /v1/players/cat/standings?numbers=string",
    ),
    Move("2026-11-20T23:59:30Z"),
    *asks(
        "GET /v1/boards/raids/periods?window=raid",
        "GET /v1/boards/raids/periods?window=daily",
        "GET /v1/boards/raids/standings?window=daily&period=2026-11-17",
        "GET /v1/boards/raids/standings?window=hourly",
    ),
    Move("2026-12-02T00:00:00Z"),
    ask("POST /v1/boards/raids/scores", score("ann", 4)),
    *asks(
        "GET /v1/boards/raids/standings?window=next",
        "GET /v1/boards/raids/periods?window=next",
        "GET /v1/boards/raids/standings?window=daily&period=2026-11-17",
    ),
]

_DAY: Final = "/v1/boards/cup/periods/daily/2026-11-17"
_ENDINGS: Final[list[Step]] = [
    ask(
        "PUT /v1/boards/cup",
        {
            "windows": [{"name": "daily", "grace": 86400, "review_time": 3600}, "weekly"],
            "scopes": ["country"],
        },
    ),
    ask("PUT /v1/players/ann", {"attributes": {"country": "NZ"}}),
    ask("POST /v1/boards/cup/scores", score("ann", 5)),
    ask(f"POST {_DAY}/close", {}),
    Move("2026-11-18T00:30:00Z"),
    ask("POST /v1/boards/cup/scores", score("ben", 6, at="2026-11-17T12:00:00Z")),
    ask(f"POST {_DAY}/settle", {}),
    ask(f"POST {_DAY}/close?dry_run=true", {}),
    ask(f"POST {_DAY}/close?dry_run=yes", {}),
    ask(f"POST {_DAY}/close?dry_run=false", {}),
    ask("POST /v1/boards/cup/scores", score("cat", 7, at="2026-11-17T12:00:00Z")),
    ask(f"POST {_DAY}/settle?dry_run=true", {}),
    ask(f"POST {_DAY}/settle", {}),
    ask(f"POST {_DAY}/settle", {}),
    ask("POST /v1/boards/cup/periods/hourly/now/close", {}),
    ask("POST /v1/boards/cup/periods/daily/now/close", {}),
    ask("POST /v1/boards/nothing/periods/daily/2026-11-17/close", {}),
    ask(f"POST {_DAY}/verify", {}),
    ask("POST /v1/boards/cup/periods/daily/now/verify", {}),
    *asks("GET /v1/boards/cup/archives", "GET /v1/boards/cup/archives?window=daily"),
    *asks(
        "GET /v1/boards/cup",
        "GET /v1/boards/cup/periods?window=daily",
        "GET /v1/boards/cup/standings?window=daily&period=2026-11-17",
    ),
    *(
        ask(f"POST {_DAY}/amend{query}", body)
        for query, body in (
            ("", {"reason": "too late", "remove": ["nobody"]}),
            ("", {"remove": ["ann"]}),
            ("", {"reason": "a mistake", "set": [{"player": "ben", "score": "x"}]}),
            ("", {"reason": "a mistake", "set": [], "why": 1}),
            ("?dry_run=true", {"reason": "a mistake", "set": [{"player": "ben", "score": 3}]}),
            ("?numbers=string", {"reason": "a mistake", "set": [{"player": "ben", "score": 3}]}),
            ("", {"reason": "a mistake", "set": [{"player": "ben", "score": 3}]}),
        )
    ),
    ask("GET /v1/boards/cup/standings?window=daily&period=2026-11-17"),
]

_SCOPES: Final[list[Step]] = [
    *asks(
        "GET /v1/boards/blitz/scopes",
        "GET /v1/boards/blitz/scopes?limit=2",
        "GET /v1/boards/blitz/scopes?limit=2&after=country:PT",
        "GET /v1/boards/blitz/scopes?after=zzz",
        "GET /v1/boards/blitz/scopes?window=daily",
        "GET /v1/boards/blitz/scopes?window=daily&period=2026-11-16",
        "GET /v1/boards/blitz/scopes?window=daily&period=2026-11-15",
        "GET /v1/boards/blitz/scopes?window=daily&period=2020-01-01",
        "GET /v1/boards/blitz/scopes?window=nope",
        "GET /v1/boards/blitz/scopes?limit=0",
        "GET /v1/boards/blitz/scopes?limit=1001",
        "GET /v1/boards/blitz/scopes?scope=global",
        "GET /v1/boards/nothing/scopes",
    ),
    ask("PATCH /v1/players/ann", {"attributes": {"country": "NZ"}}),
    *asks("GET /v1/boards/blitz/scopes", "GET /v1/boards/blitz/standings?scope=country:NZ"),
]

_SPREAD: Final[list[Step]] = asks(
    *(
        f"GET /v1/boards/{query}"
        for query in (
            "blitz/distribution",
            "blitz/distribution?buckets=1",
            "blitz/distribution?buckets=3&numbers=string",
            "blitz/distribution?buckets=4&window=daily&scope=country:PT",
            "blitz/distribution?scope=country:XX",
            "blitz/distribution?window=daily&period=2026-11-16",
            "blitz/distribution?buckets=1000",
            "blitz/distribution?buckets=0",
            "blitz/distribution?buckets=1001",
            "blitz/distribution?window=nope",
            "blitz/distribution?ranking=dense",
            "nothing/distribution",
        )
    )
)

_TIED: Final = [
    score("ann", "2.50", subscore=1, at="2026-11-17T10:00:00Z"),
    score("ben", "2.5", subscore=1, at="2026-11-17T09:00:00Z"),
    score("cat", 2.5, subscore=2, at="2026-11-17T08:00:00Z"),
    score("dan", "-0.01", at="2026-11-17T08:00:00Z"),
    score("eve", "92233720368547758.07", at="2026-11-17T08:00:00Z"),
    score("fay", "2.5", subscore=1, at="2026-11-17T11:00:00Z"),
]


def _ties(name: str, **rules: str) -> list[Step]:
    """A board with decimals and subscores, and equal results on it."""
    return [
        ask(f"PUT /v1/boards/{name}", {"decimals": 2, "windows": ["all-time"], **rules}),
        ask(f"POST /v1/boards/{name}/scores/batch", _TIED),
        *asks(
            f"GET /v1/boards/{name}/standings",
            f"GET /v1/boards/{name}/standings?numbers=string&ranking=dense&include=percentile",
            f"GET /v1/boards/{name}/standings?ranking=competition&min_score=2.5&max_score=2.50",
            f"GET /v1/boards/{name}/standings/fay",
            f"GET /v1/boards/{name}/standings/ann?numbers=string&ranking=competition",
            f"GET /v1/boards/{name}/around?score=2.5&above=1&below=1",
            f"GET /v1/boards/{name}/distribution?buckets=2",
            f"GET /v1/boards/{name}/distribution?buckets=2&numbers=string",
        ),
    ]


_SMALL: Final[list[Step]] = [
    ask("PUT /v1/boards/small", {"decimals": 9, "score_min": "0.000000001"}),
    ask("POST /v1/boards/small/scores", score("ann", "0.000000001")),
    ask("POST /v1/boards/small/scores", score("ben", b"1e-9".decode())),
    ask("POST /v1/boards/small/scores", score("ben", "9223372036.854775807")),
    *asks("GET /v1/boards/small/standings", "GET /v1/boards/small/standings/ann?numbers=string"),
]

_RACE: Final = "GET /v1/boards/race/standings"
_PAST: Final[list[Step]] = [
    ask("PUT /v1/boards/race", {"windows": ["all-time"], "scopes": ["country"], "decimals": 1}),
    ask("PUT /v1/players/ann", {"attributes": {"country": "NZ"}}),
    *bodies(
        "POST /v1/boards/race/scores", score("ann", 9.5), score("ben", 7), score("cat", 7, at=EARLY)
    ),
    *asks(
        f"{_RACE}?include=movement",
        f"{_RACE}/ann?include=movement",
        f"{_RACE}/ann/history",
    ),
    *bodies(
        "PATCH /v1/boards/race",
        {"history": "day"},
        {"history": {"every": "year"}},
        {"history": {"keep": 0}},
        {"history": {"every": "hour", "keep": 5, "from": 1}},
        {"history": {"every": "hour", "keep": 5}},
    ),
    Move("2026-11-17T12:05:00Z"),
    ask(f"{_RACE}/ann/history", until='"rank"'),
    *bodies("POST /v1/boards/race/scores", score("ben", 20), score("dan", 1)),
    *asks(
        f"{_RACE}?include=movement",
        f"{_RACE}?include=movement",  # from the pages that are kept
        f"{_RACE}?include=percentile,movement&ranking=competition&numbers=string&limit=2",
        f"{_RACE}?include=details,percentile,movement&from=2&ranking=dense",
        f"{_RACE}?include=details,movement&scope=country:NZ",
        f"{_RACE}?include=movement,details",
        f"{_RACE}/ben?include=movement",
        f"{_RACE}/dan?include=movement",
        f"{_RACE}/ben/around?include=movement&above=1&below=1",
        "GET /v1/boards/race/around?score=8&include=movement",
        "GET /v1/boards/race/find?text=ben&include=movement",
        f"{_RACE}/ben/friends?include=movement",
    ),
    ask("POST /v1/boards/race/standings/lookup?include=movement", {"players": ["cat", "dan"]}),
    Move("2026-11-17T13:00:00Z"),
    ask(f"{_RACE}/dan/history", until='"rank"'),
    *asks(
        f"{_RACE}/ben/history",
        f"{_RACE}/ben/history?limit=1&numbers=string",
        f"{_RACE}/cat/history?ranking=competition",
        f"{_RACE}/ann/history?window=all-time&scope=country:NZ",
        f"{_RACE}/nobody/history",
        f"{_RACE}/ann/history?window=daily",
        f"{_RACE}/ann/history?scope=team:red",
        f"{_RACE}/ann/history?limit=1001",
        f"{_RACE}/ann/history?period=all",
        "GET /v1/boards/nothing/standings/ann/history",
        f"{_RACE}?include=movement",
        "GET /v1/boards/race",
    ),
    ask("PATCH /v1/boards/race", {"history": None}),
    *asks(f"{_RACE}/ben/history", f"{_RACE}?include=movement&limit=1"),
]

WINDOWS = Scene("windows", [*PLAYERS, *_WINDOWS])
ENDINGS = Scene("endings", _ENDINGS)
MOVEMENT = Scene("movement", _PAST)
SCOPES = Scene("scopes", [*PLAYERS, *BLITZ, *_SCOPES, *_SPREAD])
TIES = Scene(
    "ties",
    [
        *_ties("first", subscore="desc"),
        *_ties("last", subscore="asc", tie_break="last", ranking="competition"),
        *_ties("player", subscore="desc", tie_break="player", order="asc", ranking="dense"),
        *_SMALL,
    ],
)
