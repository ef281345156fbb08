"""Hypothesis strategies for what Toprung is fed: ids, scores, times and records.

They favour collisions and the ends of every range, where ordered structures break. Bulk data
comes from a drawn seed (`seeds`), which Hypothesis prints with a failing example.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from toprung.domain.board import Board
from toprung.domain.instant import instant_text
from toprung.domain.submission import Submission
from toprung.testing.oracle import Arrival, Shape

_EXACT = Context(prec=40)
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
UINT64_MAX = 2**64 - 1
ID_BYTES_MAX = 256  # what the native core takes
TEXT_ID_BYTES_MAX = 128  # what a board takes

# From 1970 to the end of the year 9999, in microseconds.
AT_MIN, AT_MAX = 0, 253_402_300_799_999_999

# Around the widths at which id storage changes its representation, and sharing long prefixes.
_LENGTHS = (1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 23, 24, 31, 32, 33, 63, 64, 127, 128, 255, 256)
_FEW_IDS: Sequence[bytes] = (
    *(b"a" * length for length in _LENGTHS),
    *(b"\x00" * length for length in (1, 2, 8, 256)),
    *(b"\xff" * length for length in (1, 2, 8, 256)),
    b"a\x00",
    b"a\x00b",
    b"ab",
    b"b",
    b"\x7f",
    b"\x80",
)
_FEW_INT64S = (
    INT64_MIN,
    INT64_MIN + 1,
    -(2**53) - 1,
    -1,
    0,
    1,
    2**53 + 1,
    INT64_MAX - 1,
    INT64_MAX,
)
_FEW_WORDS = (0, 1, 2, 2**32, 2**63 - 1, 2**63, 2**63 + 1, UINT64_MAX - 1, UINT64_MAX)
_NASTY_TEXTS = (
    "0",
    "00",
    "-1",
    "1e9",
    "null",
    "None",
    "__proto__",
    " ",
    " lead",
    "trail ",
    "...",
    "a..b",
    "%2F",
    "%00",
    "a?b=c&d#e",
    "{player}",
    "*",
    "a:b",
    '"quoted"',
    "'; drop table players; --",
    "<b onclick=alert(1)>",
    "\u00e9",  # é as one character
    "e\u0301",  # é as two: another player
    "\u212b",  # the angstrom sign, which normalises to
    "\u00c5",  # this one
    "\u0130i\u0131I",
    "stra\u00dfe",
    "\u202eabc",  # right to left
    "\u200b",  # zero width
    "\u2028",
    "\ufeff",
    "\uffff",
    "\U0001f3c6",  # sorts after U+FFFF as UTF-8, before it as UTF-16
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "x" * TEXT_ID_BYTES_MAX,
    "\U0001f3c6" * (TEXT_ID_BYTES_MAX // 4),
)
_BAD_TEXTS = (
    "",
    ".",
    "..",
    "a/b",
    "/",
    "a\\b",
    "\x00",
    "a\nb",
    "\x7f",
    "\x85",
    "x" * (TEXT_ID_BYTES_MAX + 1),
    "\u00e9" * (TEXT_ID_BYTES_MAX // 2 + 1),
    "\ud800",
)


def player_ids() -> SearchStrategy[bytes]:
    """Ids of any 1 to 256 bytes; most draws come from a few, so that players meet again."""
    few = st.sampled_from(_FEW_IDS)
    return few | few | st.binary(min_size=1, max_size=4) | st.binary(min_size=1, max_size=256)


def text_ids() -> SearchStrategy[str]:
    """Ids that every board accepts, however unpleasant: see `bad_text_ids` for the others."""
    letters = st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="/\\")
    texts = st.text(letters, min_size=1, max_size=TEXT_ID_BYTES_MAX)
    return st.sampled_from(_NASTY_TEXTS) | texts.filter(_is_text_id)


def bad_text_ids() -> SearchStrategy[str]:
    """Ids that every board refuses."""
    controls = st.sampled_from([chr(code) for code in (*range(32), *range(0x7F, 0xA0))])
    spoilt = st.builds("{}{}{}".format, st.text(max_size=3), controls, st.text(max_size=3))
    return st.sampled_from(_BAD_TEXTS) | spoilt


def int64s(lowest: int = INT64_MIN, highest: int = INT64_MAX) -> SearchStrategy[int]:
    """Exact integers: a few that collide, the ends of the range, anything between."""
    few = [value for value in _FEW_INT64S if lowest <= value <= highest] or [lowest, highest]
    near = min(max(lowest, 0), highest)  # zero, or what of the range is nearest to it
    small = st.integers(max(lowest, near - 3), min(highest, near + 3))
    return st.sampled_from(few) | small | st.integers(lowest, highest)


def times(lowest: int = AT_MIN, highest: int = AT_MAX) -> SearchStrategy[int]:
    """Instants in microseconds; often the same few, so that times tie and come late."""
    near = 1_794_745_800_000_000  # 2026-11-15T12:30:00Z
    few = [t for t in (lowest, near - 1, near, near + 1, highest) if lowest <= t <= highest]
    return st.sampled_from(few) | st.integers(lowest, highest)


def records(words: int) -> SearchStrategy[bytes]:
    """Records of so many words, each word with collisions and both ends of its range."""
    word = st.sampled_from(_FEW_WORDS) | st.integers(0, 2) | st.integers(0, UINT64_MAX)
    return st.lists(word, min_size=words, max_size=words).map(pack_words)


def shapes(words_max: int = 4) -> SearchStrategy[Shape]:
    """Every valid (words, order, tied)."""
    every = [
        Shape(words, order, tied)
        for words in range(1, words_max + 1)
        for order in range(1, words + 1)
        for tied in range(1, order + 1)
    ]
    return st.sampled_from(every)


def boards(shape: Shape | None = None) -> SearchStrategy[Board]:
    """Boards with every combination of the rules that `decide` and the sort key look at.

    With a shape, only those whose records have it.
    """
    subscores: list[str | None] = [None, "asc", "desc"]
    tie_breaks = ["first", "last", "player"]
    if shape is not None:
        subscores = [None] if shape.tied == 1 else ["asc", "desc"]
        tie_breaks = ["player"] if shape.order == shape.tied else ["first", "last"]
    return st.builds(
        Board,
        id=st.just("board"),
        order=st.sampled_from(["desc", "asc"]),
        policy=st.sampled_from(["best", "latest", "sum"]),
        subscore=st.sampled_from(subscores),
        tie_break=st.sampled_from(tie_breaks),
        max_increase=st.none() | st.integers(0, 4) | int64s(lowest=0),
    )


def rules() -> SearchStrategy[dict[str, Any]]:
    """Rules of a board as people write them: any of them, in any of the forms they may have."""
    return st.integers(0, 9).flatmap(_rules_with_decimals)


def _rules_with_decimals(decimals: int) -> SearchStrategy[dict[str, Any]]:
    limits, increases = (
        int64s(lowest=lowest).map(lambda score: Decimal(score).scaleb(-decimals, _EXACT))
        for lowest in (INT64_MIN, 0)
    )
    optional: dict[str, SearchStrategy[Any]] = {
        "title": st.text(max_size=20).filter(_is_unicode),
        "order": st.sampled_from(["desc", "asc"]),
        "policy": st.sampled_from(["best", "latest", "sum"]),
        "subscore": st.sampled_from([None, "asc", "desc"]),
        "tie_break": st.sampled_from(["first", "last", "player"]),
        "ranking": st.sampled_from(["ordinal", "competition", "dense"]),
        "windows": st.lists(_windows(), min_size=1, max_size=4, unique_by=_window_name),
        "timezone": st.sampled_from(["UTC", "Europe/Lisbon", "Asia/Kathmandu"]),
        "scopes": st.sampled_from([["global"], ["country"], ["global", "team", "country"]]),
        "public": st.booleans(),
        "score_min": st.none() | limits | limits.map(str),
        "max_increase": st.none() | increases,
    }
    fields = st.fixed_dictionaries({"decimals": st.just(decimals)}, optional=optional)
    return fields.flatmap(_with_default_window)


def _with_default_window(rules: dict[str, Any]) -> SearchStrategy[dict[str, Any]]:
    names = [None, *map(_window_name, rules.get("windows", ["all-time", "daily"]))]
    return st.sampled_from(names).map(lambda name: rules | {"default_window": name})


def _windows() -> SearchStrategy[str | dict[str, Any]]:
    """Windows of every kind, short and long forms."""
    starts = st.integers(0, 4_000_000_000_000_000).map(instant_text)
    season = st.builds(
        lambda at, more: {"name": "cup", "starts": at, "ends": f"2100-01-01T00:00:{more:02}.5Z"},
        starts,
        st.integers(0, 59),
    )
    return (
        st.sampled_from(["all-time", "hourly", "daily", "yearly"])
        | st.builds(lambda retain: {"name": "weekly", "retain": retain}, st.integers(1, 5))
        | st.just({"name": "noon", "cron": "0 12 * * MON-FRI", "retain": 3})
        | season
    )


def _window_name(window: str | dict[str, Any]) -> str:
    return window if isinstance(window, str) else str(window["name"])


def submissions(board: Board) -> SearchStrategy[Submission]:
    """Results for the board; those of a few scores and times are the most frequent."""
    return st.builds(
        Submission,
        player=st.just("anyone"),
        score=int64s(),
        at=times() | int64s(),
        subscore=st.none() if board.subscore is None else int64s(),
    )


def arrivals(
    board: Board, players: SearchStrategy[bytes], routes: Sequence[Sequence[int]]
) -> SearchStrategy[list[Arrival]]:
    """A batch of submissions to ladders by number, in which players may come again."""
    claims = st.just(-1) | st.integers(0, 2)
    one = st.builds(Arrival, players, st.sampled_from(routes), submissions(board), claims)
    return st.lists(one, max_size=30).map(_with_claims_in_range)


def _with_claims_in_range(batch: list[Arrival]) -> list[Arrival]:
    """Claims are numbers below that of rows."""
    return [arrival._replace(claim=min(arrival.claim, len(batch) - 1)) for arrival in batch]


def seeds() -> SearchStrategy[int]:
    """Seeds for `bulk_rows`."""
    return st.integers(0, 2**32 - 1)


def bulk_rows(seed: int, count: int, words: int) -> list[tuple[bytes, bytes]]:
    """`count` draws of player and record, enough to make trees deep; the same for one seed.

    Players come again, and about half of the words come from a handful, so that long tie groups
    cross node boundaries.
    """
    rng = random.Random(seed)
    return [(_bulk_id(rng, count), _bulk_record(rng, words)) for _ in range(count)]


def pack_words(words: Sequence[int]) -> bytes:
    """Words as the big-endian bytes of a record."""
    return struct.pack(f">{len(words)}Q", *words)


def _bulk_id(rng: random.Random, count: int) -> bytes:
    number = rng.randrange(2 * count)
    return b"player-%d" % number if number % 7 else b"%d" % number * (1 + number % 30)


def _bulk_record(rng: random.Random, words: int) -> bytes:
    wide = rng.random() < 0.5
    return pack_words([rng.getrandbits(64) if wide else rng.randrange(4) for _ in range(words)])


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _is_text_id(text: str) -> bool:
    return text not in (".", "..") and len(text.encode()) <= TEXT_ID_BYTES_MAX
