"""Examples for the OpenAPI document, which fill the fields of the page where it is tried.

They are about the board that the README makes; the tests send every one of them there. What only
the service can name, such as the id of a key, has no example: none would work.
"""

from __future__ import annotations

from typing import Any, Final

EXAMPLES: Final[dict[str, Any]] = {
    "put_board": {
        "title": "Blitz",
        "windows": ["all-time", "daily", {"name": "noon", "cron": "0 12 * * *", "retain": 3}],
        "scopes": ["global", "country"],
        "public": True,
    },
    "patch_board": {"title": "Blitz, season two", "score_max": 9999},
    "submit": {
        "player": "alice",
        "score": 1500,
        "key": "match-7f3a",
        "details": {"map": "harbour", "moves": 41},
    },
    "start_run": {"player": "alice"},
    "submit_batch": [
        {"player": "alice", "score": 1500},
        {"player": "bob", "score": "1700", "at": "2026-11-15T12:30:00+01:00"},
    ],
    "lookup_standings": {"players": ["alice", "bob", "nobody"]},
    "put_player": {
        "name": "Alice",
        "avatar_url": "https://example.org/alice.png",
        "attributes": {"country": "US"},
    },
    "patch_player": {"name": "Alice B.", "attributes": {"team": "red", "country": None}},
    "review_name": {"name": "Admin", "accept": False},
    "close_period": {},
    "settle_period": {},
    "amend_period": {
        "reason": "a bot played for the winner",
        "remove": ["ann"],
        "set": [],
    },
    "put_restriction": {"kind": "hidden", "reason": "a bot", "until": "2099-01-01T00:00:00Z"},
    "revoke_submission": {"reason": "a replay showed a speed hack"},
    "verify_archive": {},
    "claim_review": {"by": "replay-1", "seconds": 60, "board": "blitz"},
    "decide_submission": {"verdict": "accept", "by": "replay-1", "reason": "the replay agrees"},
    "backup": {},
    "rebuild_follower": {},
    "put_webhook": {
        "url": "https://example.org/hooks/toprung",
        "events": ["leader.changed", "board.changed"],
        "boards": ["blitz", "eu-*"],
    },
    "replay_delivery": {},
    "test_webhook": {},
    "patch_key": {"name": "game server, Europe", "boards": ["eu-*"], "addresses": ["192.0.2.0/24"]},
    "rotate_key": {"overlap_seconds": 3600},
    "create_key": {"name": "game server", "verbs": ["read", "write"], "boards": ["blitz", "eu-*"]},
}
"""Bodies by the name of their operation."""
