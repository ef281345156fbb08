"""The compact form of a ladder, held to lists that are sorted anew for each question."""

from __future__ import annotations

import random
from itertools import groupby
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toprung._native import PlayerTable, RankedSet
from toprung.domain.ranking import RANKINGS, Counts, Ranking, rank
from toprung.domain.snapshots import (
    GROUPS_PER_PART,
    PLACES_PER_PART,
    PLAYER_BYTES_MAX,
    PLAYERS,
    PLAYERS_PER_PART,
    SCORES,
    TIES,
    Part,
    PastRanks,
    counts_in,
    last_player,
    offset_in,
    parts_of,
    score_in,
)
from toprung.domain.sortkey import record_shape

Entry = tuple[int, int]
"""A score and a player's number."""


class Oracle:
    """A ladder as a sorted list: more is better, ties are broken by number."""

    def __init__(self, entries: dict[int, int], *, descending: bool = True) -> None:
        self.descending = descending
        sign = -1 if descending else 1
        self.order = sorted(entries, key=lambda number: (sign * entries[number], number))
        self.scores = entries

    def counts(self, number: int) -> Counts:
        score = self.scores[number]
        scores = [self.scores[each] for each in self.order]
        return Counts(
            self.order.index(number), scores.index(score), len(set(scores[: scores.index(score)]))
        )

    def parts(self) -> list[Part]:
        starts = bytearray((len(self.order) + 7) // 8)
        words, place = [], 0
        for score, group in groupby(self.order, key=self.scores.__getitem__):
            starts[place // 8] |= 1 << place % 8
            word = score + 2**63
            words.append(2**64 - 1 - word if self.descending else word)
            place += len(list(group))
        found = parts_of(self.order, bytes(starts), words, descending=self.descending)
        return [part for part in found if part is not None]


def part_at(parts: list[Part], kind: int, place: int) -> Part | None:
    found = [part for part in parts if part.kind == kind and part.first <= place]
    return found[-1] if found else None


def past_ranks(parts: list[Part], ranking: Ranking, total: int) -> PastRanks:
    players = [part for part in parts if part.kind == PLAYERS]
    past = PastRanks(ranking, total, players[0].first, last_player(players[-1]))
    for kind in (TIES, PLAYERS):
        for part in parts:
            if part.kind == kind:
                past.add(part)
    return past


scores = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
numbers = st.integers(0, 40) | st.integers(0, 2**40)


@given(st.dictionaries(numbers, scores, min_size=1, max_size=80), st.booleans())
@example({0: -(2**63), 2**40: 2**63 - 1}, True)
@example({5: 1}, False)
def test_every_rank_and_score_can_be_told(entries: dict[int, int], descending: bool) -> None:
    oracle = Oracle(entries, descending=descending)
    parts = oracle.parts()
    asked = [*entries, max(entries) + 1, *(each + 1 for each in entries)]
    for number in asked:
        part = part_at(parts, PLAYERS, number)
        offset = None if part is None else offset_in(part, number)
        if number not in entries:
            assert offset is None
            continue
        counts = oracle.counts(number)
        assert offset == counts.offset
        ties = part_at(parts, TIES, offset)
        assert ties is not None
        assert counts_in(ties, offset) == counts
        group = part_at(parts, SCORES, counts.distinct_before)
        assert group is not None
        assert score_in(group, counts.distinct_before) == entries[number]
    for ranking in RANKINGS:
        past = past_ranks(parts, ranking, len(entries))
        assert past.is_complete
        assert past.of(asked) == [
            rank(ranking, oracle.counts(number)) if number in entries else 0 for number in asked
        ]
        assert past.nbytes <= PastRanks.bytes_of(len(entries))


@pytest.mark.parametrize("gap", [1, 2, 300, 70_000])
@pytest.mark.parametrize("distinct", [1, 3, 500, 10**9])
def test_long_ladders(gap: int, distinct: int) -> None:
    """With several parts of each kind, and ties across their borders."""
    rng = random.Random(gap * distinct)
    count = PLACES_PER_PART + PLAYERS_PER_PART + 10
    number, entries = 7, {}
    for _ in range(count):
        number += rng.randint(1, gap)
        entries[number] = rng.randrange(distinct)
    oracle = Oracle(entries)
    parts = oracle.parts()
    players = [part for part in parts if part.kind == PLAYERS]
    assert [part.first for part in players] == sorted(entries)[::PLAYERS_PER_PART]
    ordinal = dict(zip(oracle.order, range(1, count + 1), strict=True))
    first, dense, ranks = 0, 0, {}
    groups: list[int] = []
    for place, each in enumerate(oracle.order):
        if not place or entries[each] != groups[-1]:
            first, dense = place + 1, dense + 1
            groups.append(entries[each])
        ranks[each] = (first, dense)
    wanted: dict[Ranking, list[int]] = {
        "ordinal": [ordinal[each] for each in entries],
        "competition": [ranks[each][0] for each in entries],
        "dense": [ranks[each][1] for each in entries],
    }
    for ranking, expected in wanted.items():
        assert past_ranks(parts, ranking, count).of(list(entries)) == expected
    for each in rng.sample(oracle.order, 50):
        counts = Counts(ordinal[each] - 1, ranks[each][0] - 1, ranks[each][1] - 1)
        ties = part_at(parts, TIES, counts.offset)
        assert ties is not None
        assert counts_in(ties, counts.offset) == counts
        kept = part_at(parts, SCORES, counts.distinct_before)
        score = None if kept is None else score_in(kept, counts.distinct_before)
        assert score in (None, entries[each])
        assert score is not None or distinct == 10**9  # there is no room for all of them


def test_a_player_takes_no_more_than_five_bytes() -> None:
    rng = random.Random(3)
    for spread in (10_000, 10**7, 2**62):
        oracle = Oracle({number: rng.randrange(spread) for number in range(100_000)})
        parts = oracle.parts()
        assert sum(len(part.body) for part in parts) <= PLAYER_BYTES_MAX * 100_000
        has_scores = {part.first for part in parts if part.kind == SCORES}
        assert (len(has_scores) == -(-len(set(oracle.scores.values())) // GROUPS_PER_PART)) == (
            spread < 2**62
        )


def test_no_step_takes_long() -> None:
    """Nobody else is served during a step: each is about one part, however long the ladder."""
    order = list(range(50_000))
    random.Random(1).shuffle(order)
    steps = list(parts_of(order, b"\xff" * 6_250, range(50_000)))
    assert steps.count(None) == -(-50_000 // PLAYERS_PER_PART)
    assert max(len(part.body) for part in steps if part) < 40_000


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(0, 5)), max_size=60),
    st.sampled_from([None, "asc", "desc"]),
    st.sampled_from(["first", "last", "player"]),
)
def test_the_native_core_tells_the_order(
    rows: list[tuple[int, int, int]], subscore: Any, tie_break: str
) -> None:
    shape = record_shape("desc", subscore, tie_break)
    players = PlayerTable()
    ranked = RankedSet(players, words=shape.words, order=shape.order, tied=shape.tied)
    for number, (score, sub, at) in enumerate(rows):
        players.intern(f"p{number}")
        ranked.put(number, shape.pack(score, sub if subscore else None, at, number + 1))
    found, starts, words = ranked.ordered()
    listed = ranked.slice(0, len(rows))[4]
    assert list(memoryview(found).cast("I")) == [number for number, _, _ in listed]
    ties = [shape.tie(record) for _, _, record in listed]
    begins = [not at or ties[at] != ties[at - 1] for at in range(len(ties))]
    assert [bool(starts[at // 8] >> at % 8 & 1) for at in range(len(ties))] == begins
    assert list(memoryview(words).cast("Q")) == [
        int.from_bytes(tie[:8]) for tie, is_first in zip(ties, begins, strict=True) if is_first
    ]
