"""PositionMap against a dict: dense, sparse, and on the way from one to the other."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung._native import PlayerTable, PositionMap

PLAYERS = 3000
rows = st.lists(st.tuples(st.integers(0, PLAYERS - 1), st.integers(0, 2**62)), max_size=40)


def table(players: int = PLAYERS) -> PlayerTable:
    made = PlayerTable()
    made.intern_many([f"p{number}" for number in range(players)])
    return made


def packed(batch: list[tuple[int, int]]) -> tuple[array[int], array[int]]:
    return array("I", [number for number, _ in batch]), array("q", [at for _, at in batch])


@given(st.lists(st.tuples(rows, st.lists(st.integers(0, PLAYERS - 1), max_size=3)), max_size=5))
def test_against_a_dict(steps: list[tuple[list[tuple[int, int]], list[int]]]) -> None:
    positions, model = PositionMap(table()), dict[int, int]()
    for batch, forgotten in steps:
        expected, seen = [], dict(model)
        for number, position in batch:
            expected.append(seen.get(number, 0))
            if position:
                seen[number] = position
        assert array("q", positions.previous(*packed(batch))).tolist() == expected
        assert {n: positions.find(n) for n in model} == model, "asking changes nothing"
        added = array("I", positions.put_many(*packed(batch))).tolist()
        assert added == [number for number in seen if number not in model], "who is new, once"
        model = seen
        for number in forgotten:
            positions.forget(number)
            model.pop(number, None)
        assert len(positions) == len(model)
        numbers, found = positions.items()
        assert dict(zip(array("I", numbers), array("q", found), strict=True)) == model


def test_few_players_and_then_most_of_them() -> None:
    positions, model = PositionMap(table()), dict[int, int]()
    for step in (700, 7, 3, 1):
        batch = [(number, number + step) for number in range(0, PLAYERS, step)]
        positions.put_many(*packed(batch))
        model |= dict(batch)
        assert {n: positions.find(n) for n in range(PLAYERS)} == {
            n: model.get(n) for n in range(PLAYERS)
        }
    assert positions.nbytes < 10 * PLAYERS


def test_refused_arguments() -> None:
    positions = PositionMap(table(2))
    two, one = array("I", [0, 1]), array("q", [1])
    for method in (positions.previous, positions.put_many):
        with pytest.raises(ValueError, match="each number"):
            method(two, one)
        with pytest.raises(IndexError):
            method(array("I", [2]), one)
        with pytest.raises(ValueError, match="negative"):
            method(array("I", [0]), array("q", [-1]))
        with pytest.raises(TypeError):
            method([0], one)  # type: ignore[arg-type]
    assert len(positions) == 0
    with pytest.raises(TypeError):
        PositionMap(None)  # type: ignore[arg-type]
