"""Submissions, one by one and in batches, with every rule that refuses them."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import AWKWARD, score

_POST: Final = "POST /v1/boards/blitz/scores"
_BATCH: Final = "POST /v1/boards/blitz/scores/batch"

_ACCEPTED: Final[list[Step]] = [
    ask("PUT /v1/boards/blitz", {"windows": ["all-time", "daily", "weekly"]}),
    *bodies(
        _POST,
        score("ann", 10),
        score("ann", 10),
        score("ann", 9),
        score("ann", "11"),
        score("ben", 11, at="2026-11-17T11:59:59Z"),
        score("ben", 12, at="2026-11-17T12:00:59Z"),
        score("cat", 5, at="2026-11-10T12:00:00Z"),
        score("cat", 4, at=None, subscore=None, details=None, key=None),
        score("dan", -9223372036854775808),
        score("eve", 9223372036854775807),
        score("fay", "-0"),
        score("gus", 1e2),
        score("gus", "150.0"),
        score("old", 3, at="1970-01-01T00:00:00Z"),
    ),
    *bodies(f"{_POST}?numbers=string", score("ann", 9007199254740993), score("ann", 1)),
    *(ask(_POST, score(player, 77)) for player in AWKWARD),
    ask(_POST, b' { "score" : 6 , "player" : "spaced" } '),
    ask(_POST, b'{"player":"\\u0061nn","score":7}'),
    ask(_POST, score("ann", 13), headers={"content-type": "application/json; charset=utf-8"}),
]

_REFUSED: Final[list[Step]] = [
    *bodies(
        _POST,
        {"player": "ann"},
        {"score": 1},
        {},
        score("", 1),
        score("a/b", 1),
        score("a\\b", 1),
        score("..", 1),
        score("x" * 129, 1),
        score("tab\t", 1),
        {"player": 7, "score": 1},
        {"player": None, "score": 1},
        score("ann", 1.5),
        score("ann", "ten"),
        score("ann", ""),
        score("ann", None),
        score("ann", True),
        score("ann", [1]),
        score("ann", 9223372036854775808),
        score("ann", "9" * 40),
        score("ann", 1, at="yesterday"),
        score("ann", 1, at="2026-11-17T12:00:00"),
        score("ann", 1, at="2026-11-17T12:01:01Z"),
        score("ann", 1, at="9000-01-01T00:00:00Z"),
        score("ann", 1, at=1794745800),
        score("ann", 1, subscore=3),
        score("ann", 1, details="x" * 1023),
        score("ann", 1, key=""),
        score("ann", 1, key="x" * 300),
        score("ann", 1, colour="red"),
        [],
        b"7",
        b"",
        b"{",
        b'{"player":"ann","score":1,"score":2}',
        b'{"player":"ann","score":NaN}',
        b'{"player":"\xff","score":1}',
        b'{"player":"ann","score":1e99999999999999999999}',
        b'{"player":"ann","score":1' + b"0" * 5000 + b"}",
        b'{"player":"\\ud800","score":1}',
    ),
    ask(f"{_POST}?numbers=roman", score("ann", 1)),
    ask(f"{_POST}?window=daily", score("ann", 1)),
    ask("POST /v1/boards/nothing/scores", score("ann", 1)),
    ask("POST /v1/boards/nothing/scores", {"player": "ann"}),
    ask(_POST, score("ann", 1), headers={"content-type": "text/plain"}),
    ask("POST /v1/boards/blitz/scores"),
    ask(_POST, score("ann", 1, details="x" * 70_000)),
]

_KEYED: Final[list[Step]] = [
    ask(_POST, score("kim", 50, key="k1")),
    ask(_POST, score("kim", 50, key="k1")),
    ask(_POST, score("kim", 51, key="k1")),
    ask(_POST, score("leo", 50, key="k1")),
    ask(_POST, score("kim", 60), headers={"idempotency-key": "k2"}),
    ask(_POST, score("kim", 60), headers={"idempotency-key": "k2"}),
    ask(_POST, score("kim", 60, key="k2"), headers={"idempotency-key": "k2"}),
    ask(_POST, score("kim", 60, key="k3"), headers={"idempotency-key": "k2"}),
    ask(_POST, score("kim", 60, key="clé 🔑")),
    ask(_POST, score("kim", 60, key="clé 🔑")),
    ask(f"{_POST}?numbers=string", score("kim", 60, key="k2")),
    ask(_POST, score("kim", 1.5, key="k4")),
    ask(_POST, score("kim", 70, key="k4")),
    ask(_POST, score("leo", 90)),
    ask(_POST, score("kim", 50, key="k1")),
    Move("2026-11-18T00:30:00Z"),
    ask(_POST, score("kim", 50, key="k1")),
    ask(_POST, score("kim", 1)),
]

_BATCHES: Final[list[Step]] = [
    *bodies(
        _BATCH,
        [],
        [score("ann", 5000), score("ben", 1), score("zed", 4)],
        [score("ann", 6000, key="b1"), score("ann", 6000, key="b1"), score("ann", 7000, key="b1")],
        [score("ann", 6000, key="b1")],
        [
            score("zed", 40),
            {"player": "zed"},
            {"score": 1},
            score("a/b", 1),
            score("zed", "ten"),
            score("zed", 1, at="tomorrow"),
            score("zed", 1, colour="red"),
            7,
            None,
            score("zed", 41, details={"ok": True}),
        ],
        [score("zed", 1, details="x" * 33_000), score("zed", 42)],
        {"player": "ann", "score": 1},
        b"[",
        b"7",
        b"",
        b'[{"player":"zed","score":1,"score":2},{"player":"zed","score":43}]',
        [score("zed", 1)] * 10_001,
    ),
    ask(f"{_BATCH}?numbers=string", [score("ann", 1)]),
    ask("POST /v1/boards/nothing/scores/batch", [score("ann", 1)]),
    ask(_BATCH, [score("ann", 1)], headers={"content-type": "text/csv"}),
    *asks("GET /v1/boards/blitz/standings?limit=5"),
]

_LIMITS: Final[list[Step]] = [
    ask(
        "PUT /v1/boards/limits",
        {"decimals": 2, "score_min": "-1.50", "score_max": 100, "max_increase": "10.25"},
    ),
    *bodies(
        "POST /v1/boards/limits/scores",
        score("ann", "12.50"),
        score("ann", "22.75"),
        score("ann", "33.01"),
        score("ann", "0.001"),
        score("ann", -1.5),
        score("ann", "-1.51"),
        score("ann", 100.01),
        score("ben", 100),
        score("ben", 1e1),
    ),
    ask("POST /v1/boards/limits/scores?numbers=string", score("cat", "0.5")),
    ask("PUT /v1/boards/sum", {"policy": "sum", "subscore": "asc", "windows": ["all-time"]}),
    *bodies(
        "POST /v1/boards/sum/scores",
        score("ann", 9223372036854775807, subscore=1),
        score("ann", 1, subscore=1),
        score("ann", -1, subscore="2"),
        score("ann", 0),
        score("ben", 5, subscore=1.5),
        score("ben", 5, subscore="x"),
    ),
    ask("PUT /v1/boards/latest", {"policy": "latest", "windows": ["all-time"]}),
    *bodies(
        "POST /v1/boards/latest/scores",
        score("ann", 5, at="2026-11-17T10:00:00Z"),
        score("ann", 4, at="2026-11-17T09:00:00Z"),
        score("ann", 3, at="2026-11-17T11:00:00Z"),
    ),
    ask(
        "PUT /v1/boards/season",
        {
            "windows": [
                {"name": "s1", "starts": "2026-10-01T00:00:00Z", "ends": "2026-11-01T00:00:00Z"},
                {"name": "s2", "starts": "2026-12-01T00:00:00Z", "ends": "2027-01-01T00:00:00Z"},
                {"name": "daily", "retain": 2},
            ]
        },
    ),
    *bodies(
        "POST /v1/boards/season/scores",
        score("ann", 5),
        score("ann", 5, at="2026-10-05T00:00:00Z"),
        score("ann", 5, at="2026-11-05T00:00:00Z"),
    ),
]

_RUNS: Final[list[Step]] = [
    ask("PUT /v1/boards/blitz", {"windows": ["all-time"], "run": {"min_seconds": 5}}),
    ask("PUT /v1/boards/other", {"windows": ["all-time"], "run": {"max_seconds": 0}}),
    ask("POST /v1/boards/blitz/runs", {"player": "ann"}, keep="run", mask=("run", "key")),
    *bodies(
        "POST /v1/boards/blitz/runs",
        {},
        {"player": ""},
        {"player": 7},
        {"player": "ann", "score": 5},
        [],
        b"{",
    ),
    ask("POST /v1/boards/nothing/runs", {"player": "ann"}),
    ask("POST /v1/boards/blitz/runs?window=daily", {"player": "ann"}),
    *bodies(
        _POST,
        score("ann", 5, run="<run.run>"),
        score("ann", 5, signature="0" * 64),
        score("ann", 5, run="<run.run>", signature="0" * 64),
        score("bob", 5, run="<run.run>", signature="0" * 64),
        score("ann", 5, run="tic-tac-toe", signature="0" * 64),
        score("ann", 5, run=7, signature="0" * 64),
        score("ann", 5, run=None, signature=None),
    ),
    ask(_BATCH, [score("ann", 5, run="<run.run>", signature="0" * 64), score("ben", 6)]),
]

SUBMITTING = Scene("submitting", [*_ACCEPTED, *_KEYED])
REFUSED = Scene("refused-scores", [_ACCEPTED[0], *_REFUSED])
BATCHES = Scene("batches", [_ACCEPTED[0], *_BATCHES])
RUNS = Scene("runs", _RUNS)
POLICIES = Scene("policies", _LIMITS)
