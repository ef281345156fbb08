"""Sort keys: comparing bytes compares entries, for every int64 and every rule."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.board import Board
from toprung.domain.entry import Entry
from toprung.domain.score import INT64_MAX, INT64_MIN

INT64 = st.integers(INT64_MIN, INT64_MAX) | st.sampled_from([INT64_MIN, -1, 0, 1, INT64_MAX])
TIMES = st.integers(0, 2**60)
BOARDS = st.builds(
    lambda order, subscore, tie_break: Board.parse(
        "b", {"order": order, "subscore": subscore, "tie_break": tie_break}
    ),
    st.sampled_from(["asc", "desc"]),
    st.sampled_from([None, "asc", "desc"]),
    st.sampled_from(["first", "last", "player"]),
)


def entry(board: Board, score: int, subscore: int, at: int) -> Entry:
    return Entry(score, None if board.subscore is None else subscore, at, 5)


def merit(board: Board, one: Entry) -> tuple[int, ...]:
    """Smaller is better: the plain reading of the rules."""
    merits = [one.score if board.order == "asc" else -one.score]
    if board.subscore is not None:
        assert one.subscore is not None
        merits.append(one.subscore if board.subscore == "asc" else -one.subscore)
    if board.tie_break != "player":
        merits.append(-one.achieved_at if board.tie_break == "last" else one.achieved_at)
    return tuple(merits)


@given(board=BOARDS, one=st.tuples(INT64, INT64, TIMES), other=st.tuples(INT64, INT64, TIMES))
def test_bytes_compare_as_the_rules_say(
    board: Board, one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    a, b = entry(board, *one), entry(board, *other)
    assert (board.shape.key(a) < board.shape.key(b)) == (merit(board, a) < merit(board, b))
    assert (board.shape.key(a) == board.shape.key(b)) == (merit(board, a) == merit(board, b))


@given(board=BOARDS, fields=st.tuples(INT64, INT64, TIMES))
def test_a_record_holds_the_whole_entry(board: Board, fields: tuple[int, int, int]) -> None:
    one = entry(board, *fields)
    record = board.shape.record(one)
    assert board.shape.entry(record) == one
    assert board.shape.score(record) == one.score
    assert record.startswith(board.shape.key(one))
    assert board.shape.tie(record).startswith(board.shape.prefix(one.score))
    assert len(record) == 8 * board.shape.words


def test_scores_that_a_double_cannot_tell_apart_stay_apart() -> None:
    shape = Board.parse("b", {}).shape
    near = [Entry(2**53 + i, None, 0, 1) for i in range(3)]
    assert len({shape.key(one) for one in near}) == 3
