"""The pure parts of reads and batches: views, buckets, ranges, rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.board import Board
from toprung.domain.instant import parse_instant
from toprung.domain.ranking import DISTINCT_MAX, Counts
from toprung.domain.values import bounded
from toprung.errors import DenseNotDeclared, Invalid, UnknownPeriod
from toprung.indexes.memory import MemoryIndex
from toprung.service.distribution import _edges
from toprung.service.pages import score_range
from toprung.service.submit import parse_batch
from toprung.service.view import Indexes, view_of
from toprung.waiting.blocking import run_blocking

NOON = parse_instant("2026-11-15T12:00:00Z")
INDEXES = Indexes(MemoryIndex(), MemoryIndex())
SCORES = st.integers(-(2**63), 2**63 - 1)


@given(SCORES, SCORES, st.integers(1, 200))
def test_buckets_cover_every_score_once_and_are_equally_wide(
    one: int, other: int, buckets: int
) -> None:
    low, high = sorted((one, other))
    edges = _edges(low, high, buckets)
    assert edges[0] == low
    assert edges[-2] <= high < edges[-1]
    (width,) = {after - before for before, after in pairwise(edges)}
    assert len(edges) - 1 <= buckets
    assert width == 1 or (width - 1) * buckets < high - low + 1  # narrower ones would not reach


@given(st.sampled_from(["asc", "desc"]), SCORES, SCORES, SCORES)
def test_a_score_range_holds_exactly_what_lies_in_it(
    order: str, one: int, other: int, score: int
) -> None:
    board = Board.parse("blitz", {"order": order})
    low, high = sorted((one, other))
    word = board.shape.prefix(score)
    both = score_range(board, low, high)
    assert (both.best <= word <= both.worst) == (low <= score <= high)
    at_least = score_range(board, low, None)
    assert (at_least.best <= word <= at_least.worst) == (low <= score)


def test_the_default_view_is_the_current_period_of_all_time() -> None:
    board = Board.parse("blitz", {"ranking": "dense"})
    assert view_of(board, NOON, INDEXES).ladder == ("blitz", "all-time", "all", "global")
    assert view_of(board, NOON, INDEXES).ranking == "dense"
    assert view_of(board, NOON, INDEXES, "daily").ladder.period == "2026-11-15"


def test_named_periods_must_have_begun_and_be_retained() -> None:
    board = Board.parse("blitz", {"timezone": "Europe/Berlin"})
    assert view_of(board, NOON, INDEXES, "daily", "2026-11-08").ladder.period == "2026-11-08"
    past = view_of(board, NOON, INDEXES, "daily", "2026-11-07")
    assert past.ladder == ("blitz", "daily", "2026-11-07", "global")
    assert past.index is INDEXES.past
    with pytest.raises(UnknownPeriod, match="not begun"):
        view_of(board, NOON, INDEXES, "daily", "2026-11-16")
    eve = parse_instant("2026-11-15T22:59:59.999999Z")
    with pytest.raises(UnknownPeriod, match="not begun"):
        view_of(board, eve, INDEXES, "daily", "2026-11-16")
    assert view_of(board, eve + 1, INDEXES, "daily").ladder.period == "2026-11-16"


def test_a_dense_rank_is_bounded_unless_declared() -> None:
    plain, declared = Board.parse("a", {}), Board.parse("b", {"ranking": "dense"})
    last, beyond = Counts(0, 0, DISTINCT_MAX), Counts(0, 0, DISTINCT_MAX + 1)
    assert view_of(plain, NOON, INDEXES, ranking="dense").rank(last) == DISTINCT_MAX + 1
    assert view_of(declared, NOON, INDEXES, ranking="dense").rank(beyond) == DISTINCT_MAX + 2
    assert view_of(plain, NOON, INDEXES).rank(beyond) == 1
    with pytest.raises(DenseNotDeclared):
        view_of(plain, NOON, INDEXES, ranking="dense").rank(beyond)


@pytest.mark.parametrize("value", [0, 11, -1, True, 5.0, "5", None])
def test_bounds_name_their_field(value: object) -> None:
    with pytest.raises(Invalid, match="limit: must be a whole number from 1 to 10"):
        bounded(value, 10, "limit")


def test_rows_of_a_batch_may_be_pairs_or_objects() -> None:
    board = Board.parse("blitz", {"decimals": 1})
    rows: list[Any] = [
        ("alice", 1),
        {"player": "bob", "score": "2.5", "at": "2026-11-15T11:00:00Z"},
        ("carol", 0.25),
        {"score": 1},
        ("dave",),
    ]
    submissions, refused = run_blocking(parse_batch(board, NOON, rows))
    assert [(each.player, each.score, NOON - each.at) for each in submissions] == [
        ("alice", 10, 0),
        ("bob", 25, 3_600_000_000),
    ]
    assert [(at, str(error)) for at, error in refused] == [
        (2, "score: has more than 1 decimal: 0.25"),
        (3, "player: is missing"),
        (4, "must be a pair of player and score, or an object"),
    ]
