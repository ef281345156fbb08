"""Who may do what: keys, public boards, web pages of other origins, limits."""

from __future__ import annotations

from typing import Any, Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import BLITZ, score

_ROOT: Final = "root.key"
_RANDOM: Final = ("id", "key", "owner")


def _key(name: str, second: int, body: dict[str, Any]) -> list[Step]:
    """A key of this name: each at a time of its own, by which they are listed."""
    return [
        Move(f"2026-11-17T12:00:{second:02}Z"),
        ask("POST /v1/keys", {"name": name, **body}, key=_ROOT, keep=name, mask=_RANDOM),
    ]


_KEYS: Final[list[Step]] = [
    *_key("reader", 1, {"verbs": ["read"]}),
    *_key("writer", 2, {"verbs": ["read", "write"], "boards": ["eu-*", "us"]}),
    *_key("admin", 3, {"verbs": ["admin"], "boards": ["eu-*"]}),
    Move("2026-11-17T12:00:04Z"),
    ask(
        "POST /v1/keys",
        {"name": "g1", "owner": "guild"},
        key=_ROOT,
        keep="g1",
        mask=("id", "key"),
    ),
    Move("2026-11-17T12:00:05Z"),
    ask(
        "POST /v1/keys",
        {"name": "g2", "owner": "guild"},
        key=_ROOT,
        keep="g2",
        mask=("id", "key"),
    ),
    *bodies(
        "POST /v1/keys",
        {},
        {"name": ""},
        {"name": 7},
        {"name": "x" * 300},
        {"name": "x", "verbs": []},
        {"name": "x", "verbs": ["fly"]},
        {"name": "x", "verbs": "read"},
        {"name": "x", "boards": []},
        {"name": "x", "boards": ["UP"]},
        {"name": "x", "boards": "eu-*"},
        {"name": "x", "owner": ""},
        {"name": "x", "owner": 7},
        {"name": "x", "colour": "red"},
        [],
        key=_ROOT,
    ),
    *bodies(
        "PATCH /v1/keys/<g1.id>",
        {"name": "g3", "verbs": ["moderate", "read"], "boards": ["eu-*"]},
        {"expires_at": "2027-01-01T01:00:00+01:00", "addresses": ["192.0.2.7/32", "2001:DB8::/32"]},
        {},
        {"expires_at": None, "addresses": [], "verbs": ["read", "write", "moderate", "admin"]},
        {"name": None},
        {"verbs": []},
        {"boards": ["UP"]},
        {"expires_at": "2026-11-17T12:00:00Z"},
        {"expires_at": 7},
        {"addresses": ["10.0.0.1/8"]},
        {"addresses": "10.0.0.1"},
        {"owner": "me"},
        [],
        key=_ROOT,
        mask=("id",),
    ),
    ask("PATCH /v1/keys/nothing", {"name": "x"}, key=_ROOT),
    ask("PATCH /v1/keys/<g1.id>", {"name": "x"}, key="reader.key"),
    Move("2026-11-17T12:00:06Z"),
    ask(
        "POST /v1/keys/<g1.id>/rotate",
        {"overlap_seconds": 60},
        key=_ROOT,
        keep="g4",
        mask=("id", "key"),
    ),
    *bodies(
        "POST /v1/keys/<g1.id>/rotate",
        {"overlap_seconds": -1},
        {"overlap_seconds": "1"},
        {"overlap": 1},
        [],
        key=_ROOT,
    ),
    ask("POST /v1/keys/nothing/rotate", {}, key=_ROOT),
    ask(
        "POST /v1/keys",
        {"name": "far", "addresses": ["192.0.2.0/24"]},
        key=_ROOT,
        keep="far",
        mask=_RANDOM,
    ),
    ask("GET /v1/boards", key="far.key"),
    ask("DELETE /v1/keys/<far.id>", key=_ROOT),
    Move("2026-11-17T12:01:05Z"),
    ask("GET /v1/boards/nothing", key="g1.key"),
    Move("2026-11-17T12:01:06Z"),
    ask("GET /v1/boards/nothing", key="g1.key"),
    ask("GET /v1/boards/nothing", key="g4.key"),
    *asks(
        "DELETE /v1/keys/nothing",
        "DELETE /v1/keys/<g2.id>",
        "GET /v1/keys?limit=1",
        key=_ROOT,
    ),
    ask("DELETE /v1/keys/<g2.id>", key=_ROOT, mask=("detail",)),
    ask("GET /v1/keys", key="g2.key"),
    ask("GET /v1/keys", key=_ROOT, mask=("id", "owner", "last_used_at")),
]

_PROTECTED: Final[list[Step]] = [
    *_key("reader", 1, {"verbs": ["read"]}),
    *_key("writer", 2, {"verbs": ["read", "write"], "boards": ["eu-*", "us"]}),
    *_key("admin", 3, {"verbs": ["admin"], "boards": ["eu-*"]}),
    *_key("one", 4, {"owner": "guild"}),
    *_key("two", 5, {"owner": "guild"}),
    *_key("other", 6, {}),
    ask("PUT /v1/boards/eu-blitz", {"public": True, "scopes": ["country"]}, key="admin.key"),
    ask("PUT /v1/boards/us-blitz", {}, key="admin.key"),
    ask("PUT /v1/boards/us", {}, key=_ROOT),
    ask("POST /v1/boards/eu-blitz/scores", score("ann", 5, details={"a": 1}), key="writer.key"),
    ask("POST /v1/boards/us/scores", score("ann", 5), key="writer.key"),
    ask("POST /v1/boards/us/scores", score("ann", 5), key="reader.key"),
    ask("POST /v1/boards/us/scores", score("ann", 5)),
    ask("POST /v1/boards/us/scores", score("ann", 5), headers={"authorization": "Bearer wrong"}),
    ask("POST /v1/boards/us/scores", score("ann", 5), headers={"authorization": "Basic eDp5"}),
    ask("POST /v1/boards/us/scores", {"wrong": 1}, key="reader.key"),
    ask("POST /v1/boards/us/scores", score("ben", 6, key="k"), key="one.key"),
    ask("POST /v1/boards/us/scores", score("ben", 6, key="k"), key="two.key"),
    ask("POST /v1/boards/us/scores", score("ben", 7, key="k"), key="other.key"),
    ask("POST /v1/boards/us/scores/batch", [score("ben", 6, key="k")], key="one.key"),
    *asks(
        "GET /v1/boards/us/standings",
        "GET /v1/boards/us",
        "GET /v1/boards/nothing",
        "GET /v1/boards",
        "GET /v1/players/ann",
        "GET /v1/players/ann/standings",
        "GET /v1/keys",
        "GET /v1/status",
        "GET /v1/webhooks",
        "GET /healthz",
        "GET /nothing",
        "PUT /v1/boards/us",
        "HEAD /v1/boards/us",
    ),
    *asks(
        "GET /v1/boards/us/standings",
        "GET /v1/boards/eu-blitz/standings",
        "GET /v1/players/ann",
        "GET /v1/keys",
        "GET /v1/boards/eu-blitz/standings?include=details",
        "DELETE /v1/boards/us",
        "GET /v1/boards/nothing/standings",
        key="reader.key",
    ),
    ask("GET /v1/boards", key="reader.key", mask=("etag",)),
    ask("GET /v1/boards", key="writer.key", mask=("etag",)),
    ask("GET /v1/boards", key="admin.key", mask=("etag",)),
    *asks(
        "GET /v1/boards/us/standings",
        "GET /v1/boards/us-blitz/standings",
        "GET /v1/players/ann",
        "DELETE /v1/boards/us",
        key="writer.key",
    ),
    *asks(
        "GET /v1/boards/eu-blitz/standings",
        "GET /v1/boards/eu-blitz/activity",
        "DELETE /v1/boards/us",
        "DELETE /v1/players/ann",
        "GET /v1/status",
        key="admin.key",
    ),
]

_PUBLIC: Final[list[Step]] = [
    *asks(
        "GET /v1/boards/eu-blitz",
        "GET /v1/boards/eu-blitz/standings",
        "GET /v1/boards/eu-blitz/standings?include=percentile",
        "GET /v1/boards/eu-blitz/standings?include=details",
        "GET /v1/boards/eu-blitz/standings/ann",
        "GET /v1/boards/eu-blitz/standings/ann?include=details",
        "GET /v1/boards/eu-blitz/standings/ann/around",
        "GET /v1/boards/eu-blitz/standings/ann/friends",
        "GET /v1/boards/eu-blitz/standings/nobody",
        "GET /v1/boards/eu-blitz/around?score=4",
        "GET /v1/boards/eu-blitz/find?text=ann",
        "GET /v1/boards/eu-blitz/periods",
        "GET /v1/boards/eu-blitz/scopes",
        "GET /v1/boards/eu-blitz/distribution",
        "GET /v1/boards/eu-blitz/activity",
        "GET /v1/boards/eu-blitz/players/ann/submissions",
        "GET /v1/boards/eu-blitz/live?activity=1",
        "GET /v1/boards/eu-blitz/live?player=ann&friends=true",
        "DELETE /v1/boards/eu-blitz",
        "DELETE /v1/boards/eu-blitz/standings/ann",
    ),
    ask("POST /v1/boards/eu-blitz/standings/lookup", {"players": ["ann", "ben"]}),
    ask("POST /v1/boards/eu-blitz/standings/lookup?include=details", {"players": ["ann"]}),
    ask("GET /v1/boards/eu-blitz/standings", headers={"origin": "https://anywhere.example"}),
    ask("GET /v1/boards/eu-blitz/standings?limit=1", headers={"if-none-match": "*"}),
    ask("GET /v1/boards/eu-blitz/standings", headers={"authorization": "Bearer wrong"}),
    ask("GET /v1/boards/eu-blitz/live?top=1", events=2),
]


def _preflight(path: str, method: str, origin: str = "https://anywhere.example") -> Step:
    headers = {"origin": origin, "access-control-request-method": method}
    return ask(f"OPTIONS {path}", headers=headers)


_NAMED: Final = "https://game.example"
_PREFLIGHTS: Final[list[Step]] = [
    _preflight("/v1/boards/eu-blitz/standings", "GET"),
    _preflight("/v1/boards/eu-blitz/scores", "POST"),
    _preflight("/v1/boards/us/standings", "GET"),
    _preflight("/v1/boards/us/scores", "POST", _NAMED),
    _preflight("/v1/boards/us/standings", "GET", _NAMED),
    ask("GET /v1/boards/us", headers={"origin": _NAMED}, key="reader.key"),
    ask("GET /v1/boards/us", headers={"origin": "https://anywhere.example"}, key="reader.key"),
    ask("GET /v1/boards/us", headers={"origin": _NAMED}),
    ask("GET /v1/boards/eu-blitz", headers={"origin": _NAMED}),
]

_LOCAL: Final[list[Step]] = [
    *BLITZ[:2],
    *(
        ask("GET /v1/boards/blitz/standings", headers=headers)
        for headers in (
            {"host": "example.org"},
            {"host": "localhost"},
            {"host": "localhost:99999"},
            {"host": "[::1]:8080"},
            {"x-forwarded-for": "1.2.3.4"},
            {"via": "1.1 proxy"},
            {"origin": "https://anywhere.example"},
            {"authorization": "Bearer anything"},
        )
    ),
    *(
        ask("POST /v1/boards/blitz/scores", score("ann", 1), headers=headers)
        for headers in (
            {"host": "example.org"},
            {"forwarded": "for=1.2.3.4"},
            {"origin": "https://anywhere.example"},
            {"origin": "null"},
            {"origin": "<service.url>"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-origin"},
        )
    ),
    ask("PATCH /v1/boards/blitz", {"public": True}),
    ask("GET /v1/boards/blitz/standings"),
    ask("GET /v1/boards/blitz/standings?include=details"),
    ask("GET /v1/boards/blitz/standings", headers={"origin": "https://anywhere.example"}),
]

_LIMITED: Final[list[Step]] = [
    *asks(*["GET /healthz"] * 4, mask=("retry-after", "detail")),
    ask("GET /v1/boards", mask=("retry-after", "detail")),
    ask("PUT /v1/boards/blitz", {"windows": ["all-time"], "scopes": ["country"]}, key=_ROOT),
    ask("PUT /v1/players/ann", {"attributes": {"country": "PT"}}, key=_ROOT),
    ask("PUT /v1/players/ben", {"attributes": {"country": "NZ"}}, key=_ROOT),
    *bodies(
        "POST /v1/boards/blitz/scores",
        score("ann", 1, key="a"),
        score("ann", 2, key="b"),
        score("ann", 3, key="c"),
        score("ann", 1, key="a"),
        score("ann", 3),
        score("ben", 3),
        key=_ROOT,
    ),
    ask(
        "POST /v1/boards/blitz/scores/batch",
        [score("ann", 4, key="d"), score("ann", 5)],
        key=_ROOT,
    ),
    ask("PATCH /v1/players/ann", {"attributes": {"country": "NZ"}}, key=_ROOT),
]

KEYS = Scene("keys", _KEYS, needs_keys=True)
ACCESS = Scene("access", [*_PROTECTED, *_PUBLIC, *_PREFLIGHTS], needs_keys=True, origins=(_NAMED,))
LOCAL = Scene("local", _LOCAL)
LIMITS = Scene(
    "limits",
    _LIMITED,
    needs_keys=True,
    quotas={"keys_per_board": 2, "scope_ladders": 1},
    address_burst=3,
)
