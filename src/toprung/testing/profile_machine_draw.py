"""What the profile machine draws: boards of every kind, players, scores, moves of the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from toprung.domain.ranking import RANKINGS

BOARD_IDS = ("blitz", "marathon", "0.a_b-c")
PLAYERS = ("ann", "bob", "Bob", "d\u00e9a", "de\u0301a", "\U0001f3c6", "\uffff")
ATTRIBUTES = {"country": ("DE", "US", "a:b"), "platform": ("pc", "phone")}
SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND

STARTS = (
    "2026-11-15T12:30:00Z",
    "2026-12-31T23:59:30Z",  # every calendar window turns
    "2026-03-29T00:30:00Z",  # Berlin's clocks are about to be put forward
    "2026-10-31T23:10:00Z",  # New York's are about to be put back
)
SPANS = (1, SECOND, 30 * SECOND, MINUTE, MINUTE + 1, 10 * MINUTE, HOUR, 6 * HOUR, DAY)
LONG_SPANS = (2 * DAY, 7 * DAY, 31 * DAY, 366 * DAY)
OFFS = (0, 0, -2 * SECOND, -MINUTE, MINUTE, HOUR, -HOUR, 2 * DAY, 9 * DAY, -9 * DAY, 400 * DAY)

BELIEVED_MAX = 9 * DAY
"""How far ahead a clock may be for hours."""

WINDOWS: Sequence[Any] = (
    "all-time",
    {"name": "hourly", "retain": 2},
    {"name": "hourly", "retain": 1, "grace": 0, "keep": "forever"},
    {"name": "daily", "retain": 1},
    {"name": "daily", "retain": 3, "grace": 60},
    {"name": "daily", "retain": 4, "grace": 0, "review_time": 3600},
    {"name": "daily", "grace": "retained"},
    {"name": "daily", "retain": 1, "grace": 0},
    {"name": "daily", "retain": 5, "grace": 0},
    {"name": "daily", "retain": 2, "grace": 0, "keep": 2},
    {"name": "daily", "retain": 2, "keep": 0},
    "daily",
    "weekly",
    {"name": "weekly", "retain": 2, "keep": 1},
    {"name": "monthly", "retain": 2, "keep": 0},
    {"name": "yearly", "retain": 1},
    {"name": "lunch", "cron": "30 12 * * *", "retain": 2},
    {"name": "shift", "cron": "0 */6 * * *", "retain": 3, "grace": 0, "keep": 5},
    {"name": "shift", "cron": "0 */6 * * *", "retain": 1, "grace": 0},
    {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-11-15T12:31:00Z", "grace": 60},
    {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-11-15T12:31:00Z", "keep": 0},
    {"name": "s2", "starts": "2026-12-31T23:59:59Z", "ends": "2027-01-01T01:00:00Z"},
    {"name": "s3", "starts": "2026-03-29T00:30:30Z", "ends": "2026-12-01T00:00:00Z"},
)
HISTORIES: Sequence[Any] = (
    None,
    {"every": "hour", "keep": 3},
    {"every": "hour"},
    {"every": "day", "keep": 2},
    {"every": "day"},
    {"every": "week", "keep": 1},
    {"every": "month"},
)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")

# --- strategies -----------------------------------------------------------------------------

board_ids = st.sampled_from((BOARD_IDS[0],) * 6 + (BOARD_IDS[1],) * 3 + (BOARD_IDS[2],))
players = st.sampled_from(PLAYERS)
small = st.integers(-3, 3)
int64s = st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, -(2**62), 2**62])
scores = small | small | small | int64s
window_lists = st.lists(
    st.sampled_from(WINDOWS),
    min_size=1,
    max_size=4,
    unique_by=lambda window: window if isinstance(window, str) else window["name"],
).filter(lambda windows: sum(_retain(window) for window in windows) <= 64)
scope_lists = st.sampled_from(
    [["global"], ["country"], ["country"], ["platform", "country"], ["platform"]]
)
free_rules = {
    "title": st.sampled_from(["", "Blitz \U0001f3c6"]),
    "ranking": st.sampled_from(RANKINGS),
    "public": st.booleans(),
    "windows": window_lists,
    "scopes": scope_lists,
    "history": st.sampled_from(HISTORIES),
    "score_min": st.sampled_from([-3, -2]),
    "max_increase": st.sampled_from([2, 4]),
    "default_window": st.sampled_from(["daily", "all-time"]),
}
fixed_rules = {
    "order": st.sampled_from(["desc", "asc"]),
    "policy": st.sampled_from(["best", "latest", "sum"]),
    "decimals": st.sampled_from([0, 0, 2]),
    "subscore": st.sampled_from([None, "asc", "desc"]),
    "tie_break": st.sampled_from(["first", "last", "player"]),
    "timezone": st.sampled_from(ZONES),
}
RARE = ("score_min", "max_increase", "default_window", "title", "public")
rare = {name: free_rules[name] for name in RARE}
usual = {k: v for k, v in {**free_rules, **fixed_rules}.items() if k not in rare}
board_rules = st.fixed_dictionaries(usual, optional=rare)
patches = st.dictionaries(
    st.sampled_from(sorted(free_rules)), st.none(), max_size=1
) | st.fixed_dictionaries({}, optional=free_rules)
countries = st.sampled_from(ATTRIBUTES["country"])
platforms = st.sampled_from(ATTRIBUTES["platform"])
nothing: dict[str, str] = {}
attributes = st.just(nothing) | st.fixed_dictionaries(
    {"country": countries}, optional={"platform": platforms}
)
details = st.sampled_from([None, None, None, {"replay": 7}, [1, "\u00e9"], "text"])
offsets = st.sampled_from(
    [0, -1, -SECOND, 30 * SECOND, MINUTE, MINUTE + 1, 2 * DAY]
) | st.sampled_from([-span for span in (*SPANS, *LONG_SPANS)])


def _retain(window: Any) -> int:
    defaults = {"all-time": 1, "daily": 8, "weekly": 5}
    return defaults[window] if isinstance(window, str) else window.get("retain", 1)
