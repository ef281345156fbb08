"""The service itself: routes that are none, methods, types, its state, webhooks."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import BLITZ

_WEBHOOK: Final = "/v1/webhooks/chat"
_SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""The published example of Standard Webhooks."""
_CLOSED: Final = "http://127.0.0.1:9/hook"
"""Where nobody listens."""

_ROUTING: Final[list[Step]] = [
    *BLITZ[:2],
    *asks(
        "GET /nothing",
        "GET /v1",
        "GET /v1/",
        "GET /v1/boards/",
        "GET //v1/boards",
        "GET /v2/boards",
        "GET /v1/boards/blitz/nothing",
        "GET /v1/boards/blitz/standings/ann/nothing",
        "GET /v1/boards/blitz%",
        "POST /v1/boards",
        "DELETE /v1/boards",
        "PATCH /v1/keys",
        "PUT /v1/boards/blitz/scores",
        "GET /v1/boards/blitz/scores",
        "HEAD /v1/boards/blitz/scores",
        "GET /v1/boards/blitz/scores/batch",
        "POST /v1/boards/blitz/standings",
        "PUT /v1/boards/blitz/standings/ann",
        "POST /v1/boards/blitz/standings/ann",
        "GET /v1/players/ann/friends/ben",
        "POST /v1/players/ann",
        "POST /healthz",
        "GET /v1/backup",
        "GET /v1/followers/activity/rebuild",
        "POST /docs",
        "POST /",
        "TRACE /v1/boards",
        "OPTIONS /v1/boards",
        "OPTIONS /v1/boards/blitz",
        "OPTIONS /v1/boards/blitz/standings/ann",
        "OPTIONS /v1/boards/blitz/standings/lookup",
        "OPTIONS /nothing",
        f"GET /v1/boards/{'x' * 9000}",
        f"GET /v1/boards?cursor={'x' * 9000}",
        "GET /v1/boards?" + "&".join(f"a{n}=1" for n in range(40)),
        "DELETE /v1/boards/blitz/standings",
    ),
    ask("PUT /v1/boards/new"),
    ask("PUT /v1/boards/new", {}, headers={"content-type": "application/json;charset=latin-1"}),
    ask("PUT /v1/boards/new", {}, headers={"content-type": "application/x-www-form-urlencoded"}),
    ask("PUT /v1/boards/new", {}, headers={"content-type": "APPLICATION/JSON"}),
    ask("PUT /v1/boards/new", {"title": "x" * 70_000}),
    ask("PUT /v1/boards/new", b"\xef\xbb\xbf{}"),
    ask("PUT /v1/boards/new", b"[" * 2000),
    ask("PUT /v1/boards/new", b'{"title":"a","title":"b"}'),
    ask("PUT /v1/boards/new", b'{"title":Infinity}'),
    ask("PUT /v1/boards/new", b'"text"'),
    ask("GET /v1/boards/blitz", b"{}"),
    ask("DELETE /v1/boards/new", {}),
]

_STATE: Final[list[Step]] = [
    *BLITZ[:3],
    *asks("GET /healthz", "HEAD /healthz", "GET /healthz?x=1"),
    *asks("GET /readyz?for=reads", "GET /readyz?for=writes", "GET /readyz?for=all", shape=True),
    *asks("GET /readyz?for=sleep", "GET /readyz?for=", "POST /readyz"),
    ask("GET /readyz", shape=True),
    ask("GET /metrics", starts=0),
    ask("GET /metrics?x=1"),
    ask("GET /openapi.json", starts=0),
    ask("GET /docs", starts=0),
    ask("GET /docs/live", starts=0),
    ask("GET /asyncapi.json", starts=0),
    ask("GET /v1/status", shape=True, until='"name":"activity","state":"following"'),
    ask("GET /v1/status?x=1"),
    *bodies("POST /v1/followers/activity/rebuild", {}, {"from": 1}, [], b""),
    ask("POST /v1/followers/nothing/rebuild", {}),
    ask("POST /v1/followers/activity/rebuild"),
    ask("POST /v1/backup", {}, starts=15),
    ask("POST /v1/backup", {"path": "copy.db"}),
    ask("POST /v1/backup"),
    *asks(
        "GET /",
        "GET /boards/blitz",
        "HEAD /boards/blitz/players/ann",
        mask=("etag", "content-length"),
        starts=15,
    ),
    ask("GET /embed.js", mask=("etag",), starts=0),
    ask("GET /nothing", headers={"accept": "text/html"}, starts=15),
]

_MESSAGES: Final = ("message", "next_at")
_HOOKS: Final[list[Step]] = [
    ask(
        f"PUT {_WEBHOOK}",
        {"url": _CLOSED, "events": ["leader.changed", "board.changed"], "secret": _SECRET},
    ),
    Move("2026-11-17T12:00:01Z"),
    ask(f"PUT {_WEBHOOK}", {"url": _CLOSED, "events": ["*"], "boards": ["bl*"]}),
    ask(
        "PUT /v1/webhooks/other",
        {"url": "https://example.org:8443/a?b=%C3%A4", "events": ["player.erased"]},
        mask=("secret",),
    ),
    *bodies(
        "PUT /v1/webhooks/wrong",
        {},
        {"url": _CLOSED},
        {"events": ["*"]},
        {"url": "ftp://example.org", "events": ["*"]},
        {"url": "https://user@example.org/", "events": ["*"]},
        {"url": 7, "events": ["*"]},
        {"url": _CLOSED, "events": []},
        {"url": _CLOSED, "events": ["score.changed"]},
        {"url": _CLOSED, "events": "*"},
        {"url": _CLOSED, "events": ["*"], "boards": []},
        {"url": _CLOSED, "events": ["*"], "boards": ["UP"]},
        {"url": _CLOSED, "events": ["*"], "secret": "short"},
        {"url": _CLOSED, "events": ["*"], "secret": "whsec_c2hvcnQ="},
        {"url": _CLOSED, "events": ["*"], "colour": "red"},
        [],
    ),
    ask("PUT /v1/webhooks/NO", {"url": _CLOSED, "events": ["*"]}),
    *asks(
        f"GET {_WEBHOOK}",
        "GET /v1/webhooks",
        "GET /v1/webhooks?limit=1",
        "GET /v1/webhooks/nothing",
        f"GET {_WEBHOOK}/deliveries",
        "GET /v1/webhooks/nothing/deliveries",
    ),
    ask("PUT /v1/boards/blitz", {"title": "Told"}),
    ask(
        f"GET {_WEBHOOK}/deliveries",
        keep="sent",
        mask=_MESSAGES,
        until='"attempts":1',
    ),
    ask(f"GET {_WEBHOOK}/deliveries?state=waiting&limit=1", mask=_MESSAGES),
    *asks(
        f"GET {_WEBHOOK}/deliveries?state=delivered",
        f"GET {_WEBHOOK}/deliveries?state=dead&limit=1000",
        f"GET {_WEBHOOK}/deliveries?state=lost",
        f"GET {_WEBHOOK}/deliveries?limit=0",
        f"GET {_WEBHOOK}/deliveries?limit=1001",
        f"GET {_WEBHOOK}/deliveries?cursor=x",
        f"GET {_WEBHOOK}/deliveries?window=daily",
        f"GET {_WEBHOOK}/deliveries/msg_nothing",
        "GET /v1/webhooks/nothing/deliveries/msg_nothing",
    ),
    ask(f"GET {_WEBHOOK}/deliveries/<sent.deliveries.0.message>", mask=_MESSAGES),
    ask(f"POST {_WEBHOOK}/deliveries/msg_nothing/replay", {}),
    ask(f"POST {_WEBHOOK}/deliveries/<sent.deliveries.0.message>/replay", {"now": True}),
    ask(f"POST {_WEBHOOK}/deliveries/<sent.deliveries.0.message>/replay", {}, mask=_MESSAGES),
    ask(f"POST {_WEBHOOK}/test", {}, mask=("message",)),
    ask(f"POST {_WEBHOOK}/test", {"x": 1}),
    ask("POST /v1/webhooks/nothing/test", {}),
    ask(f"POST {_WEBHOOK}/test"),
    *asks(
        f"DELETE {_WEBHOOK}?x=1",
        f"DELETE {_WEBHOOK}",
        f"DELETE {_WEBHOOK}",
        "GET /v1/webhooks",
    ),
]

ROUTING = Scene("routing", _ROUTING)
STATE = Scene("state", _STATE)
WEBHOOKS = Scene("webhooks", _HOOKS)
