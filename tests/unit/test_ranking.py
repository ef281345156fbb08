"""Ordinal, competition and dense ranks; percentiles that tied players share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.board import Board
from toprung.domain.entry import Entry
from toprung.domain.ranking import (
    RANKINGS,
    Counts,
    Ranking,
    counts_along,
    places_along,
    rank,
    shares,
)


def ranks(scores: list[int], order: str, ranking: Ranking) -> list[int]:
    """The ranks of these scores, best first, through the board's own sort keys."""
    shape = Board.parse("b", {"order": order}).shape
    records = sorted(shape.record(Entry(score, None, at, 1)) for at, score in enumerate(scores))
    ties = [shape.tie(record) for record in records]
    return [rank(ranking, counts) for counts in counts_along(Counts(0, 0, 0), ties, len(ties))]


@pytest.mark.parametrize(
    ("order", "ranking", "expected"),
    [
        ("desc", "ordinal", [1, 2, 3, 4, 5]),
        ("desc", "dense", [1, 1, 2, 2, 3]),
        ("desc", "competition", [1, 1, 3, 3, 5]),
        ("asc", "ordinal", [1, 2, 3, 4, 5]),
        ("asc", "dense", [1, 2, 2, 3, 3]),
        ("asc", "competition", [1, 2, 2, 4, 4]),
    ],
)
def test_the_three_semantics(order: str, ranking: Ranking, expected: list[int]) -> None:
    assert ranks([50, 50, 30, 30, 10], order, ranking) == expected


@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=20),
    start=st.integers(0, 19),
    length=st.integers(1, 20),
    ranking=st.sampled_from(RANKINGS),
)
def test_a_page_ranks_as_the_whole_list_does(
    scores: list[int], start: int, length: int, ranking: Ranking
) -> None:
    ordered = sorted(scores, reverse=True)
    start = min(start, len(ordered) - 1)
    stop = min(start + length, len(ordered))
    before = [score for score in ordered if score > ordered[start]]
    first = Counts(start, len(before), len(set(before)))
    whole = counts_along(Counts(0, 0, 0), ordered, len(ordered))
    page = counts_along(first, ordered[start:stop], whole[stop - 1].tied_until)
    assert page == whole[start:stop]
    expected = [sum(other >= score for other in ordered) for score in ordered]
    assert [counts.tied_until for counts in whole] == expected
    assert [rank(ranking, c) for c in page] == [rank(ranking, c) for c in whole[start:stop]]


@given(
    scores=st.lists(st.integers(-30, 30), min_size=1, max_size=8),
    before=st.integers(0, 5),
    tied=st.integers(0, 3),
    ranking=st.sampled_from(RANKINGS),
)
def test_places_without_ties_are_those_that_counts_give(
    scores: list[int], before: int, tied: int, ranking: Ranking
) -> None:
    """Some others are before the first, some of them tied with it; some are tied with the last."""
    ordered = sorted(scores, reverse=True)
    first, until = Counts(before + tied, before, before), before + tied + len(ordered) + 2
    counts = counts_along(first, ordered, until)
    total = until + 3
    assert places_along(ranking, first, ordered, until, total) == (
        [rank(ranking, each) for each in counts],
        [shares(total, each.tied_before, each.tied_until)[0] for each in counts],
        [shares(total, each.tied_before, each.tied_until)[1] for each in counts],
    )
    assert places_along(ranking, first, [], 0, total) == ([], [], [])


def test_percentiles_speak_of_the_players_that_are_beaten() -> None:
    assert shares(1000, 0, 1) == (99.9, 0.1)
    assert shares(1000, 9, 10) == (99, 1)
    assert shares(1, 0, 1) == (0, 100)


def test_ten_equals_beat_nobody() -> None:
    assert shares(10, 0, 10) == (0, 10)
    assert shares(12, 1, 11) == (100 / 12, 200 / 12)
