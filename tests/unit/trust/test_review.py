"""The rule `review`, and entries after a verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.board import Board
from toprung.domain.entry import Entry, decide
from toprung.domain.submission import Submission
from toprung.domain.trust.review import ReviewRule, merged
from toprung.errors import Invalid


@pytest.mark.parametrize(
    "rule",
    [
        {"when": {"top": 100}, "else": "accept", "expires": 604800},
        {"when": {"anomaly": 3, "first_by": "12.5%"}, "else": "reject", "expires": 60},
        {"when": {"first_by": "150%", "restricted": True}, "else": "accept", "expires": 7776000},
        {"when": {"first_by": "0.01%"}, "else": "accept", "expires": 60},
    ],
)
def test_rules_come_back_as_they_were(rule: Any) -> None:
    found = ReviewRule.parse(rule)
    assert found is not None
    assert found.to_json() == rule
    board = Board.parse(
        "b", {"review": rule, "max_per": {"amount": "1.5", "seconds": 9}, "decimals": 1}
    )
    assert Board.read("b", board.kept()) == board


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (7, "review"),
        ({}, "review/when"),
        ({"when": {}}, "review/when"),
        ({"when": {"restricted": False}}, "review/when"),
        ({"when": {"top": 0}}, "review/when/top"),
        ({"when": {"top": 10**6}}, "review/when/top"),
        ({"when": {"anomaly": "nan"}}, "review/when/anomaly"),
        ({"when": {"anomaly": 3.555}}, "review/when/anomaly"),
        ({"when": {"anomaly": 0}}, "review/when/anomaly"),
        ({"when": {"first_by": "20"}}, "review/when/first_by"),
        ({"when": {"first_by": "\u0662%"}}, "review/when/first_by"),
        ({"when": {"first_by": "9999999%"}}, "review/when/first_by"),
        ({"when": {"top": 1}, "else": None, "expires": 59}, "review/else"),
        ({"when": {"top": 1}, "expires": 59}, "review/expires"),
        ({"when": {"\ud800": 1}}, "review/when/\ud800"),
    ],
)
def test_rules_that_are_none(rule: Any, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        ReviewRule.parse(rule)
    assert refused.value.field == field


SENT = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(
    st.sampled_from(["best", "latest", "sum"]),
    st.sampled_from(["first", "last"]),
    st.lists(SENT, min_size=1, max_size=6),
    st.integers(0, 5),
)
def test_accepted_late_is_as_if_it_had_counted_in_its_place(
    policy: str, tie_break: str, sent: list[tuple[int, int]], number: int
) -> None:
    board = Board.parse("b", {"policy": policy, "tie_break": tie_break})
    rows = [Submission("p", score, at) for score, at in sent]
    late = number % len(rows)
    all_of_them: Entry | None = None
    without: Entry | None = None
    for at, row in enumerate(rows):
        all_of_them = decide(board, all_of_them, row, at + 1)
        if at != late:
            without = decide(board, without, row, at + 1)
    assert merged(board, without, rows[late], late + 1) == all_of_them
