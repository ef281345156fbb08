"""`decide`: the one rule that turns an entry and a submission into a new entry."""

from __future__ import annotations

import pytest

from toprung.domain.board import Board
from toprung.domain.entry import Entry, check_increase, decide
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.submission import Submission
from toprung.errors import ExcessiveIncrease, ScoreOverflow

OLD = Entry(50, None, 10, 1)


def board(**rules: object) -> Board:
    return Board.parse("b", rules)


def after(rules: Board, score: int, at: int, old: Entry | None = OLD) -> Entry:
    return decide(rules, old, Submission("p", score, at), 2)


@pytest.mark.parametrize("policy", ["best", "latest", "sum"])
def test_a_first_submission_is_the_entry(policy: str) -> None:
    assert after(board(policy=policy), 7, 3, None) == Entry(7, None, 3, 2)


@pytest.mark.parametrize(
    ("rules", "score", "at", "wins"),
    [
        ({}, 51, 99, True),
        ({}, 49, 1, False),
        ({"order": "asc"}, 49, 99, True),
        ({"order": "asc"}, 51, 1, False),
        ({}, 50, 9, True),
        ({}, 50, 10, False),
        ({}, 50, 11, False),
        ({"tie_break": "last"}, 50, 11, True),
        ({"tie_break": "last"}, 50, 10, False),
        ({"tie_break": "last"}, 50, 9, False),
        ({"tie_break": "player"}, 50, 9, True),
        ({"tie_break": "player"}, 50, 11, False),
    ],
)
def test_best(rules: dict[str, object], score: int, at: int, wins: bool) -> None:
    expected = Entry(score, None, at, 2) if wins else OLD
    assert after(board(**rules), score, at) == expected


@pytest.mark.parametrize(("at", "wins"), [(9, False), (10, True), (11, True)])
def test_latest_follows_time_then_position(at: int, wins: bool) -> None:
    expected = Entry(1, None, at, 2) if wins else OLD
    assert after(board(policy="latest"), 1, at) == expected


def test_sum_adds_and_keeps_the_latest_time() -> None:
    assert after(board(policy="sum"), -8, 5) == Entry(42, None, 10, 2)
    assert after(board(policy="sum"), 0, 12) == Entry(50, None, 12, 2)


@pytest.mark.parametrize(("total", "amount"), [(INT64_MAX, 1), (INT64_MIN, -1)])
def test_a_sum_beyond_64_bits_is_refused(total: int, amount: int) -> None:
    with pytest.raises(ScoreOverflow, match="64-bit"):
        after(board(policy="sum"), amount, 1, Entry(total, None, 1, 1))


@pytest.mark.parametrize(
    ("directions", "new", "wins"),
    [
        (("desc", "asc"), (50, 3), True),
        (("desc", "asc"), (50, 5), False),
        (("desc", "asc"), (51, 9), True),
        (("asc", "desc"), (50, 5), True),
        (("asc", "desc"), (50, 3), False),
        (("asc", "desc"), (49, 0), True),
    ],
)
def test_a_best_entry_is_one_real_run(
    directions: tuple[str, str], new: tuple[int, int], wins: bool
) -> None:
    rules = board(order=directions[0], subscore=directions[1])
    old = Entry(50, 4, 10, 1)
    found = decide(rules, old, Submission("p", new[0], 11, new[1]), 2)
    assert found == (Entry(*new, 11, 2) if wins else old)


@pytest.mark.parametrize(
    ("rules", "score", "refused"),
    [
        ({"max_increase": 10}, 60, False),
        ({"max_increase": 10}, 61, True),
        ({"max_increase": 10}, -(2**63), False),
        ({"max_increase": 10, "order": "asc"}, 40, False),
        ({"max_increase": 10, "order": "asc"}, 39, True),
        ({"max_increase": 10, "policy": "latest"}, 61, True),
        ({"max_increase": 10, "policy": "sum"}, 10, False),
        ({"max_increase": 10, "policy": "sum"}, 11, True),
        ({"max_increase": 10, "policy": "sum", "order": "asc"}, -11, True),
        ({}, 2**63 - 1, False),
    ],
)
def test_max_increase(rules: dict[str, object], score: int, refused: bool) -> None:
    submission = Submission("p", score, 11)
    check_increase(board(**rules), None, submission)  # a first entry is never too much
    if refused:
        with pytest.raises(ExcessiveIncrease, match="max_increase of 10"):
            check_increase(board(**rules), OLD, submission)
    else:
        check_increase(board(**rules), OLD, submission)
