"""The native merge equals `decide`, folded row by row over dicts."""

import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung._native import PlayerTable, RankedSet
from toprung.domain.board import Board, Policy, TieBreak
from toprung.domain.entry import Entry
from toprung.domain.sortkey import Direction
from toprung.domain.submission import Submission
from toprung.testing import strategies as some
from toprung.testing.native import merge, stretch
from toprung.testing.oracle import Arrival, Ladder, Shape, Status, fold

INT64_MIN, INT64_MAX = some.INT64_MIN, some.INT64_MAX
ROUTES = ((0,), (1, 0), (2, 1, 3))
FEW_PLAYERS = st.sampled_from([b"ann", b"bob", b"cy"])  # who meet often in one batch


def empty(board: Board, count: int = 4) -> tuple[list[RankedSet], list[Ladder]]:
    shape = Shape(board.shape.words, board.shape.order, board.shape.tied)
    players = PlayerTable()
    sets = [RankedSet(players, **shape._asdict()) for _ in range(count)]
    return sets, [Ladder(shape) for _ in range(count)]


def fold_both(
    board: Board,
    sets: list[RankedSet],
    ladders: list[Ladder],
    batch: list[Arrival],
    first_version: int = 1,
) -> list[Status]:
    """Merge and apply on both sides; every answer must be equal. Returns the statuses."""
    merged = merge(board, sets, batch, routes=ROUTES, first_version=first_version)
    outcomes, after = fold(board, ladders, batch, first_version)
    assert len(merged) == len(batch)
    assert list(merged.statuses) == [outcome.status for outcome in outcomes]
    assert list(array("q", merged.versions)) == [outcome.version for outcome in outcomes]
    assert [merged.changes(row) for row in range(len(batch))] == [o.changes for o in outcomes]
    assert_equal(sets, ladders)  # nothing shows before it is applied
    merged.apply()
    for ladder, records in zip(ladders, after, strict=True):
        ladder.records = records
    assert_equal(sets, ladders)
    return [outcome.status for outcome in outcomes]


def assert_equal(sets: list[RankedSet], ladders: list[Ladder]) -> None:
    for ranked, ladder in zip(sets, ladders, strict=True):
        ranked._check()
        assert stretch(ranked.slice(0, 10**6)) == ladder.slice(0, 10**6)


@given(data=st.data())
def test_random_batches(data: st.DataObject) -> None:
    board = data.draw(some.boards())
    sets, ladders = empty(board)
    version = 1
    for _ in range(data.draw(st.integers(1, 3), label="batches")):
        batch = data.draw(some.arrivals(board, FEW_PLAYERS, ROUTES), label="batch")
        version += len(fold_both(board, sets, ladders, batch, version))


@given(data=st.data())
def test_random_batches_of_many_players(data: st.DataObject) -> None:
    board = data.draw(some.boards())
    sets, ladders = empty(board)
    batch = data.draw(some.arrivals(board, some.player_ids(), ROUTES), label="batch")
    fold_both(board, sets, ladders, batch)
    fold_both(board, sets, ladders, batch[::-1], first_version=1000)


@given(data=st.data(), first_version=st.integers(2**62, 2**63 - 100))
def test_arbitrary_words_are_entries(data: st.DataObject, first_version: int) -> None:
    """Records that were put, not merged, have any words: each is some entry."""
    board = data.draw(some.boards())
    sets, ladders = empty(board)
    for ranked, ladder in zip(sets, ladders, strict=True):
        for player in (b"ann", b"bob"):
            record = data.draw(some.records(board.shape.words))
            ranked.put(ranked.players.intern(player), record)
            ladder.records[player] = record
    batch = data.draw(some.arrivals(board, FEW_PLAYERS, ROUTES), label="batch")
    fold_both(board, sets, ladders, batch, first_version)


def entry_of(board: Board, ranked: RankedSet, player: bytes = b"ann") -> Entry:
    record = ranked.find(player)
    assert record is not None
    return board.shape.entry(record)


def row(player: str, score: int, at: int = 5, subscore: int | None = None) -> Arrival:
    return Arrival(player.encode(), ROUTES[0], Submission(player, score, at, subscore))


@pytest.mark.parametrize("tie_break", ["first", "last", "player"])
@pytest.mark.parametrize("order", ["desc", "asc"])
def test_an_equal_result_keeps_the_time_that_the_tie_rule_prefers(
    order: Direction, tie_break: TieBreak
) -> None:
    board = Board(id="b", order=order, tie_break=tie_break)
    sets, ladders = empty(board)
    batch = [row("ann", 7, at=50), row("ann", 7, at=40), row("ann", 7, at=60)]
    fold_both(board, sets, ladders, batch)
    assert entry_of(board, sets[0]).achieved_at == (60 if tie_break == "last" else 40)


def test_a_best_entry_is_one_real_run() -> None:
    board = Board(id="b", subscore="asc")
    sets, ladders = empty(board)
    batch = [row("ann", 10, subscore=30), row("ann", 9, subscore=1), row("ann", 10, subscore=20)]
    statuses = fold_both(board, sets, ladders, batch)
    assert statuses == [Status.ACCEPTED, Status.UNCHANGED, Status.ACCEPTED]
    entry = entry_of(board, sets[0])
    assert (entry.score, entry.subscore, entry.version) == (10, 20, 3)


def test_latest_takes_equal_times_by_position_and_refuses_late_ones() -> None:
    board = Board(id="b", policy="latest")
    sets, ladders = empty(board)
    batch = [row("ann", 1, at=9), row("ann", 2, at=9), row("ann", 3, at=8)]
    statuses = fold_both(board, sets, ladders, batch)
    assert statuses == [Status.ACCEPTED, Status.ACCEPTED, Status.UNCHANGED]


@pytest.mark.parametrize("order", ["desc", "asc"])
@pytest.mark.parametrize(("first", "second"), [(INT64_MAX, 1), (INT64_MIN, -1), (INT64_MIN,) * 2])
def test_a_sum_beyond_int64_is_refused_whole(order: Direction, first: int, second: int) -> None:
    board = Board(id="b", policy="sum", order=order)
    sets, ladders = empty(board)
    batch = [row("ann", first), row("ann", second), row("ann", -second // 2), row("bob", 0)]
    statuses = fold_both(board, sets, ladders, batch, first_version=10)
    assert statuses[1] is Status.OVERFLOW
    assert entry_of(board, sets[0], b"bob").version == 12  # the refused row took none


def test_an_overflow_on_the_last_ladder_of_a_route_spares_the_first() -> None:
    board = Board(id="b", policy="sum")
    sets, ladders = empty(board)
    full = [Arrival(b"ann", ROUTES[0], Submission("ann", INT64_MAX, 1))]
    fold_both(board, sets, ladders, full)
    both = [Arrival(b"ann", ROUTES[1], Submission("ann", 1, 2))]
    assert fold_both(board, sets, ladders, both) == [Status.OVERFLOW]
    assert sets[1].find(b"ann") is None


def test_an_overflowing_subscore_refuses_the_row() -> None:
    board = Board(id="b", policy="sum", subscore="asc")
    sets, ladders = empty(board)
    batch = [row("ann", 1, subscore=INT64_MIN), row("ann", 1, subscore=-1)]
    assert fold_both(board, sets, ladders, batch) == [Status.ACCEPTED, Status.OVERFLOW]


@pytest.mark.parametrize(
    ("order", "policy", "scores", "max_increase", "last"),
    [
        ("desc", "best", (10, 15), 5, Status.ACCEPTED),
        ("desc", "best", (10, 16), 5, Status.EXCESSIVE),
        ("asc", "best", (10, 5), 5, Status.ACCEPTED),
        ("asc", "best", (10, 4), 5, Status.EXCESSIVE),
        ("desc", "best", (10, -INT64_MAX), 0, Status.UNCHANGED),
        ("desc", "best", (INT64_MIN, INT64_MAX), INT64_MAX, Status.EXCESSIVE),
        ("asc", "best", (INT64_MAX, INT64_MIN), INT64_MAX, Status.EXCESSIVE),
        ("asc", "latest", (INT64_MIN, INT64_MAX), 0, Status.ACCEPTED),
        ("desc", "sum", (INT64_MAX, 6), 5, Status.EXCESSIVE),
        ("desc", "sum", (INT64_MAX, 5), 5, Status.OVERFLOW),
        ("asc", "sum", (1, INT64_MIN), INT64_MAX, Status.EXCESSIVE),
        ("asc", "sum", (0, -5), 5, Status.ACCEPTED),
    ],
)
def test_max_increase(
    order: Direction, policy: Policy, scores: tuple[int, int], max_increase: int, last: Status
) -> None:
    board = Board(id="b", order=order, policy=policy, max_increase=max_increase)
    sets, ladders = empty(board)
    batch = [row("ann", scores[0], at=1), row("ann", scores[1], at=2)]
    assert fold_both(board, sets, ladders, batch) == [Status.ACCEPTED, last]


def test_max_increase_looks_at_the_first_ladder_of_the_route_only() -> None:
    board = Board(id="b", max_increase=5)
    sets, ladders = empty(board)
    fold_both(board, sets, ladders, [row("ann", 1)])
    first_is_new = [Arrival(b"ann", ROUTES[1], Submission("ann", 100, 2))]
    assert fold_both(board, sets, ladders, first_is_new) == [Status.ACCEPTED]
    assert entry_of(board, sets[0]).score == 100


def test_a_large_batch_with_its_seed() -> None:
    """Deep trees: many players, many batches, in every policy."""
    policies: tuple[Policy, ...] = ("best", "latest", "sum")
    for policy in policies:
        board = Board(id="b", policy=policy, subscore="desc", tie_break="last")
        sets, ladders = empty(board)
        for seed in range(3):
            rows = some.bulk_rows(seed, 1500, words=3)
            batch = [
                Arrival(player, ROUTES[len(player) % 3], Submission("x", a, b % 2**50, c))
                for player, words in rows
                for a, b, c in [struct.unpack(">3q", words)]
            ]
            fold_both(board, sets, ladders, batch, first_version=10_000 * seed + 1)
