"""The audit log: its key, checkpoints, proofs and leaves; who administered; what was refused."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Scene, Step, ask, asks

_SIGNED: Final = ("note", "root", "origin")

_LOG: Final[list[Step]] = [
    ask(
        "PUT /v1/boards/blitz", {"windows": ["all-time"]}, headers={"toprung-reason": "season%204"}
    ),
    ask("PUT /v1/boards/other", {}, headers={"toprung-reason": "%ff"}),
    ask("PUT /v1/boards/other", {}, headers={"toprung-reason": "a%0Ab"}),
    ask("POST /v1/boards/blitz/scores", {"player": "ann", "score": 5}, keep="ann"),
    ask("POST /v1/boards/blitz/scores", {"player": "ben", "score": 7, "details": {"car": 1}}),
    ask("DELETE /v1/boards/blitz/standings/ben", headers={"toprung-reason": "cheated"}),
    ask("GET /v1/log/key", shape=True),
    ask("GET /v1/log/checkpoint", mask=_SIGNED, until='"size":4'),
    ask("GET /v1/submissions/<ann.submission>/proof", shape=True),
    *asks(
        "GET /v1/submissions/1/proof",
        "GET /v1/submissions/0/proof",
        "GET /v1/submissions/x/proof",
        "GET /v1/submissions/9223372036854775808/proof",
        "GET /v1/submissions/1/proof?x=1",
        "GET /v1/log/checkpoint?x=1",
        "GET /v1/log/key?x=1",
        "GET /v1/log/consistency",
        "GET /v1/log/consistency?old=-1",
        "GET /v1/log/consistency?old=5",
        "GET /v1/log/consistency?old=2&new=1",
        "GET /v1/log/leaves?limit=0",
        "GET /v1/log/leaves?limit=1001",
        "GET /v1/log/leaves?start=-1",
        "GET /v1/log/leaves?start=4",
    ),
    ask("GET /v1/log/consistency?old=2", shape=True),
    ask("GET /v1/log/consistency?old=0&new=4"),
    ask("GET /v1/log/consistency?old=4&new=4"),
    ask("GET /v1/log/leaves?start=1&limit=2", shape=True),
    ask("GET /v1/audit", mask=("position",)),
    ask("GET /v1/audit?limit=1", keep="page", mask=("position", "next")),
    ask("GET /v1/audit?limit=1&cursor=<page.next>", mask=("position", "next")),
    *asks(
        "GET /v1/audit?actor=key",
        "GET /v1/audit?actor=",
        "GET /v1/audit?board=nothing",
        "GET /v1/audit?since=soon",
        "GET /v1/audit?limit=0",
        "GET /v1/audit?cursor=x",
        "GET /v1/audit?player=ann",
        "POST /v1/audit",
    ),
    ask("GET /v1/audit?actor=local&board=blitz&since=2026-11-15T00:00:00Z", mask=("position",)),
    ask("GET /v1/audit?until=2026-11-15T00:00:00Z", mask=("position",)),
    ask("GET /v1/audit/security", shape=True),
    ask("GET /v1/audit/security?x=1"),
    ask("POST /v1/followers/log/rebuild", {}),
]

_KEYS: Final[list[Step]] = [
    ask("PUT /v1/boards/blitz", {"public": True, "windows": ["all-time"]}, key="root.key"),
    ask("POST /v1/keys", {"name": "r", "verbs": ["read"], "boards": ["other"]}, key="root.key",
        keep="reader", mask=("id", "key", "owner")),
    ask("POST /v1/boards/blitz/scores", {"player": "ann", "score": 5}, key="root.key", keep="ann"),
    ask("GET /v1/log/checkpoint", mask=_SIGNED, until='"size":4'),
    ask("GET /v1/submissions/<ann.submission>/proof"),
    ask("GET /v1/submissions/<ann.submission>/proof", key="reader.key"),
    ask("GET /v1/submissions/<ann.submission>/proof", key="root.key", shape=True),
    ask("GET /v1/log/leaves", key="reader.key"),
    ask("GET /v1/audit", key="reader.key"),
    ask("GET /v1/audit"),
    ask("GET /v1/audit", key="root.key", mask=("position", "actor_id", "subject")),
    ask("GET /v1/audit/security", key="reader.key"),
    ask("GET /v1/audit/security", key="root.key", mask=("at", "since", "client", "key")),
]  # fmt: skip

AUDIT = Scene("audit", _LOG)
AUDIT_KEYS = Scene("audit-keys", _KEYS, needs_keys=True)
