"""Players: profiles, friends, standings everywhere, past submissions, activity, erasure."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import AWKWARD, BLITZ, PLAYERS, encoded, score

_PROFILES: Final[list[Step]] = [
    *bodies(
        "PUT /v1/players/ann",
        {},
        {
            "name": "Änn “A” \\ </script>",
            "avatar_url": "http://example.org/ä?b",
            "attributes": {},
        },
        {"name": None, "avatar_url": None, "attributes": None},
        {"name": "Ann", "attributes": {"team": "red", "country": "São Tomé"}},
        {"name": ""},
        {"name": " \u200b"},
        {"name": "x" * 257},
        {"name": 7},
        {"avatar_url": "ftp://example.org"},
        {"avatar_url": "x"},
        {"attributes": {"Team": "red"}},
        {"attributes": {"global": "x"}},
        {"attributes": {"team": ""}},
        {"attributes": {"team": 7}},
        {"attributes": {"team": None}},
        {"attributes": {"team": "x" * 65}},
        {"attributes": ["team"]},
        {"attributes": {f"a{n}": "x" for n in range(17)}},
        {"colour": "red"},
        [],
        b"{",
    ),
    *bodies(
        "PATCH /v1/players/ann",
        {},
        {"name": "Anna"},
        {"attributes": {"team": None, "level": "3"}},
        {"avatar_url": "https://example.org/a.png"},
        {"name": None, "attributes": None},
        {"name": ""},
        {"attributes": {"team": 7}},
        {"colour": "red"},
    ),
    ask("PATCH /v1/players/new", {"attributes": {"team": "blue"}}),
    *(ask(f"PUT /v1/players/{encoded(each)}", {"name": each[:9]}) for each in AWKWARD),
    *asks(
        "GET /v1/players/ann",
        "HEAD /v1/players/ann",
        "GET /v1/players/ann?numbers=string",
        "GET /v1/players/nobody",
        "GET /v1/players/a%5Cb",
        "GET /v1/players/%00",
        *(f"GET /v1/players/{encoded(each)}" for each in AWKWARD[:4]),
    ),
]

_FRIENDS: Final[list[Step]] = [
    *asks(
        "PUT /v1/players/ann/friends/ben",
        "PUT /v1/players/ann/friends/ben",
        f"PUT /v1/players/ann/friends/{encoded(AWKWARD[0])}",
        "PUT /v1/players/ann/friends/ann",
        "PUT /v1/players/ann/friends/a%2Fb",
        "PUT /v1/players/ann/friends/cat?note=x",
        "GET /v1/players/ann/friends",
        f"GET /v1/players/{encoded(AWKWARD[0])}/friends",
        "GET /v1/players/nobody/friends",
        "GET /v1/players/ann/friends?limit=1",
        "DELETE /v1/players/ben/friends/ann",
        "DELETE /v1/players/ben/friends/ann",
        "DELETE /v1/players/ben/friends/nobody",
        "GET /v1/players/ann/friends",
    ),
    ask("PUT /v1/players/ann/friends/dan", {}),
]

_EVERYWHERE: Final[list[Step]] = [
    *PLAYERS,
    *BLITZ,
    ask("PUT /v1/boards/speed", {"decimals": 2, "order": "asc", "windows": ["all-time"]}),
    ask("POST /v1/boards/speed/scores", score("ann", "9.81", details={"a": 1})),
    *asks(
        "GET /v1/players/ann/standings",
        "GET /v1/players/ann/standings?numbers=string",
        "GET /v1/players/nobody/standings",
        "GET /v1/players/ann/standings?window=daily",
        "DELETE /v1/players/ann",
        "DELETE /v1/players/ann",
        "GET /v1/players/ann",
        "GET /v1/players/ann/standings",
        "GET /v1/players/ben/friends",
        "GET /v1/boards/blitz/standings?limit=2",
        "GET /v1/boards/blitz/players/ann/submissions",
        "DELETE /v1/players/nobody",
        "DELETE /v1/players/..",
    ),
]

_OF: Final = "GET /v1/boards/blitz/players"
_HISTORY: Final[list[Step]] = [
    *PLAYERS,
    *BLITZ,
    *bodies(
        "POST /v1/boards/blitz/scores",
        score("ann", 1400, details=7),
        score("ann", 1600),
        score("ann", 1601, at="2026-11-17T11:00:00Z", key="k"),
    ),
    ask("PUT /v1/boards/sub", {"decimals": 1, "subscore": "asc"}),
    ask("POST /v1/boards/sub/scores", score("ann", "1.5", subscore=-4)),
    *asks(
        f"{_OF}/ann/submissions",
        f"{_OF}/ann/submissions?numbers=string",
        f"{_OF}/ann/submissions?limit=1000",
        f"{_OF}/ann/submissions?limit=0",
        f"{_OF}/ann/submissions?limit=1001",
        f"{_OF}/ann/submissions?cursor=x",
        f"{_OF}/ann/submissions?window=daily",
        f"{_OF}/nobody/submissions",
        f"{_OF}/a%2Fb/submissions",
        "GET /v1/boards/nothing/players/ann/submissions",
        "GET /v1/boards/sub/players/ann/submissions",
        "GET /v1/boards/sub/players/ann/submissions?numbers=string",
    ),
    ask(f"{_OF}/ann/submissions?limit=3", keep="first"),
    ask(f"{_OF}/ann/submissions?limit=3&cursor=<first.next>"),
    ask("GET /v1/boards/blitz/activity?limit=1", until='"score":1601'),
    ask("GET /v1/boards/blitz/activity"),
    ask("GET /v1/boards/blitz/activity?numbers=string&limit=2", keep="recent"),
    ask("GET /v1/boards/blitz/activity?limit=3&cursor=<recent.next>", keep="older"),
    ask("GET /v1/boards/blitz/activity?limit=1000&cursor=<older.next>"),
    *asks(
        "GET /v1/boards/blitz/activity?scope=country:PT",
        "GET /v1/boards/blitz/activity?scope=country:XX",
        "GET /v1/boards/blitz/activity?scope=colour:red",
        "GET /v1/boards/blitz/activity?limit=0",
        "GET /v1/boards/blitz/activity?limit=1001",
        "GET /v1/boards/blitz/activity?cursor=x",
        "GET /v1/boards/blitz/activity?window=daily",
        "GET /v1/boards/nothing/activity",
    ),
    ask("GET /v1/boards/sub/activity", until='"score":1.5'),
    ask("GET /v1/status", starts=0, until='"name":"activity","state":"following"'),
    ask("GET /v1/boards/blitz/live?top=3", events=2),
    ask("GET /v1/boards/blitz/live?player=ann&numbers=string&scope=country:PT", events=2),
    ask("GET /v1/boards/blitz/live?window=daily&activity=2", events=2),
    ask(
        "GET /v1/boards/blitz/live?window=daily&top=1",
        headers={"last-event-id": "9.2026-11-16.12.open"},
        events=3,
    ),
    ask("GET /v1/boards/blitz/live?top=1", headers={"last-event-id": "9.all.20.open"}, events=1),
    *asks(
        "GET /v1/boards/blitz/live?top=0",
        "GET /v1/boards/blitz/live?top=101",
        "GET /v1/boards/blitz/live?activity=51",
        "GET /v1/boards/blitz/live?friends=yes",
        "GET /v1/boards/blitz/live?player=a%2Fb",
        "GET /v1/boards/blitz/live?window=nope",
        "GET /v1/boards/blitz/live?scope=nope:1",
        "GET /v1/boards/blitz/live?limit=1",
        "GET /v1/boards/nothing/live",
        "HEAD /v1/boards/blitz/live",
        "GET /v1/live",
    ),
]

_EXPORT: Final[list[Step]] = [
    *PLAYERS,
    *BLITZ,
    ask("PUT /v1/players/ann/friends/ben"),
    ask("PUT /v1/boards/speed", {"decimals": 2, "order": "asc", "windows": ["all-time"]}),
    ask("POST /v1/boards/speed/scores", score("ann", "9.81", details={"a": 1})),
    *asks(
        "GET /v1/players/ann/export",
        "GET /v1/players/ann/export?numbers=string",
        "GET /v1/players/nobody/export",
        "GET /v1/players/ann/export?limit=0",
        "GET /v1/players/ann/export?limit=1001",
        "GET /v1/players/ann/export?cursor=x",
        "GET /v1/players/ann/export?board=blitz",
    ),
    ask("GET /v1/players/ann/export?limit=2", keep="first"),
    ask("GET /v1/players/ben/export?cursor=<first.next>"),
    ask("GET /v1/players/ann/export?limit=2&cursor=<first.next>", keep="second"),
    ask("GET /v1/players/ann/export?cursor=<second.next>"),
    ask("DELETE /v1/players/ann"),
    ask("GET /v1/players/ann/export?cursor=<second.next>"),
]

_NAMES: Final[list[Step]] = [
    ask("PUT /v1/players/ann", {"name": "moc.\u202eevil"}),
    ask("PATCH /v1/players/ann", {"name": "\u0410lice"}),
    ask("GET /v1/players/ann"),
    *asks(
        "GET /v1/review/names",
        "GET /v1/review/names?limit=2&after=ann",
        "GET /v1/review/names?limit=0",
        "GET /v1/review/names?cursor=x",
    ),
    *bodies(
        "POST /v1/review/names/ann",
        {"name": "Admin", "accept": True},
        {"name": "Admin"},
        {"accept": True},
        {"name": "Admin", "accept": 1},
        {"name": 7, "accept": False},
        {"name": "Admin", "accept": True, "reason": "so"},
    ),
]

PROFILES = Scene("profiles", _PROFILES)
NAMES = Scene("names", _NAMES)
_RESTRICTION: Final = "/v1/players/ben/restriction"
_MODERATION: Final[list[Step]] = [
    *PLAYERS,
    *BLITZ,
    *bodies(
        f"PUT {_RESTRICTION}",
        {},
        {"kind": "hidden"},
        {"kind": "gone", "reason": "a bot"},
        {"kind": "hidden", "reason": ""},
        {"kind": "hidden", "reason": "a bot", "boards": []},
        {"kind": "hidden", "reason": "a bot", "boards": ["Blitz"]},
        {"kind": "hidden", "reason": "a bot", "boards": "blitz"},
        {"kind": "hidden", "reason": "a bot", "until": "2026-11-16T00:00:00Z"},
        {"kind": "hidden", "reason": "a bot", "until": "soon"},
        {"kind": "hidden", "reason": "a bot", "why": 1},
        {"kind": "shadow", "reason": "a bot", "until": "2027-01-01T00:00:00Z"},
    ),
    *asks(
        f"GET {_RESTRICTION}",
        "GET /v1/players/ann/restriction",
        "GET /v1/players/nobody/restriction",
        "GET /v1/restrictions",
        "GET /v1/restrictions?limit=0",
        "GET /v1/restrictions?after=x",
        "GET /v1/players/ben",
        "GET /v1/boards/blitz/standings?limit=3",
        "GET /v1/boards/blitz/standings?limit=3&viewer=ben",
        "GET /v1/boards/blitz/standings?limit=3&viewer=a%2Fb",
        "GET /v1/boards/blitz/standings/ben",
        "GET /v1/boards/blitz/standings/ben?viewer=ben",
        "GET /v1/boards/blitz/around?score=1500&viewer=ben",
        "GET /v1/boards/blitz/find?text=be&viewer=ben",
        "GET /v1/boards/blitz/standings/ann?viewer=ben",
        "GET /v1/boards/blitz/standings/ben/around?viewer=ben&above=1&below=1",
        "GET /v1/boards/blitz/standings/ann/friends?viewer=ben",
        "GET /v1/boards/blitz/distribution?buckets=2",
        "GET /v1/boards/blitz/distribution?buckets=2&viewer=ben",
        "GET /v1/boards/blitz/scopes",
        "GET /v1/boards/blitz/scopes?viewer=ben",
        "GET /v1/boards/blitz/scopes?after=~global",
        "GET /v1/boards/blitz/standings?scope=~global",
        "GET /v1/players/ben/standings",
        "GET /v1/players/ben/standings?viewer=ben",
        "GET /v1/boards/blitz/standings/ben/history?viewer=ben",
        "GET /v1/boards/blitz/activity?limit=0&viewer=ben",
    ),
    ask("POST /v1/boards/blitz/standings/lookup?viewer=ben", {"players": ["ann", "ben"]}),
    ask("GET /v1/boards/blitz/live?top=2&player=ben&viewer=ben", events=2),
    ask("POST /v1/boards/blitz/scores", score("ben", 1501)),
    ask(f"PUT {_RESTRICTION}", {"kind": "banned", "reason": "a bot", "boards": ["bl*"]}),
    ask("POST /v1/boards/blitz/scores", score("ben", 1502)),
    ask("POST /v1/boards/blitz/scores/batch", [score("ben", 1503), score("gus", 3)]),
    ask(f"DELETE {_RESTRICTION}"),
    ask(f"DELETE {_RESTRICTION}"),
    ask("DELETE /v1/players/nobody/restriction"),
    ask("GET /v1/boards/blitz/standings?limit=3"),
    ask("POST /v1/boards/blitz/scores", score("ann", 2000), keep="sent"),
    *(
        ask(f"POST /v1/submissions/{submission}/revoke{query}", body)
        for submission, query, body in (
            ("<sent.submission>", "", {}),
            ("<sent.submission>", "", {"reason": ""}),
            ("<sent.submission>", "", {"reason": "replayed", "why": 1}),
            ("<sent.submission>", "?dry_run=true", {"reason": "replayed"}),
            ("<sent.submission>", "?numbers=string", {"reason": "replayed"}),
            ("<sent.submission>", "", {"reason": "once more"}),
            ("999999999", "", {"reason": "replayed"}),
            ("x", "", {"reason": "replayed"}),
            ("0", "", {"reason": "replayed"}),
        )
    ),
    ask("GET /v1/boards/blitz/standings/ann"),
    ask("GET /v1/boards/blitz/players/ann/submissions?limit=1"),
]

MODERATION = Scene("moderation", _MODERATION)
FRIENDS = Scene("friends", [*PLAYERS[:3], *_FRIENDS])
EVERYWHERE = Scene("everywhere", _EVERYWHERE)
EXPORT = Scene("export", _EXPORT)
LIVE_MOVEMENT = Scene(
    "live-movement",
    [
        *PLAYERS,
        *BLITZ,
        ask("GET /v1/boards/blitz/live?top=2&player=ann&include=movement", events=2),
        ask("GET /v1/boards/blitz/live?top=2&include=details"),
    ],
)
HISTORY = Scene("history", _HISTORY)
