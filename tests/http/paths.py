"""What stands in the variable segments of addresses, where any value does."""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "player": "alice",
    "other": "bob",
    "key": "aaaaaaaa",
    "follower": "activity",
    "webhook": "chat",
    "submission": "999999999",
    "message": "msg_1",
    "window": "daily",
    "period": "2026-11-15",
}
