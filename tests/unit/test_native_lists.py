"""PlayerLists against a dict of lists."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung._native import PlayerLists, PlayerTable, _fail_allocations_after

PLAYERS = 60
numbers_of = st.lists(st.integers(0, PLAYERS - 1), max_size=30, unique=True)
step: st.SearchStrategy[tuple[str, int, list[int]]] = st.one_of(
    st.tuples(st.sampled_from(("add", "remove")), st.integers(0, 6), numbers_of),
    st.tuples(st.just("forget"), st.integers(0, PLAYERS - 1), st.just([])),
)


def table(players: int = PLAYERS) -> PlayerTable:
    made = PlayerTable()
    made.intern_many([f"p{number}" for number in range(players)])
    return made


def found(lists: PlayerLists, number: int) -> list[int]:
    return array("I", lists.find(number)).tolist()


@given(st.lists(step, max_size=60))
def test_against_a_dict(steps: list[tuple[str, int, list[int]]]) -> None:
    lists, model = PlayerLists(table()), dict[int, list[int]]()
    for kind, item, numbers in steps:
        if kind == "forget":
            lists.forget(item)
            model.pop(item, None)
        elif kind == "add":
            new = [number for number in numbers if item not in model.get(number, [])]
            lists.add(item, array("I", new))
            for number in new:
                model.setdefault(number, []).insert(0, item)
        else:
            lists.remove(item, array("I", numbers))
            for number in numbers:
                if item in model.get(number, []):
                    model[number].remove(item)
        assert {n: found(lists, n) for n in range(PLAYERS)} == {
            n: model.get(n, []) for n in range(PLAYERS)
        }


def test_memory_is_small_and_used_again() -> None:
    players = 100_000
    lists, everybody = PlayerLists(table(players)), array("I", range(players))
    lists.add(0, everybody)
    assert lists.nbytes < 4.2 * players, "one board each: a word"
    lists.add(1, everybody)
    lists.add(2, everybody)
    full = lists.nbytes
    assert full < (4.2 + 3 * 8.2) * players
    for item in range(3, 10):
        lists.remove(item - 3, everybody)
        lists.add(item, everybody)
    assert lists.nbytes == full
    for number in everybody:
        lists.forget(number)
    for item in range(3):
        lists.add(item, everybody)
    assert lists.nbytes == full


def test_what_did_not_fit_is_not_there() -> None:
    lists, numbers = PlayerLists(table()), array("I", [1, 2])
    lists.add(1, numbers)
    before = [found(lists, number) for number in numbers]
    failures = 0
    for allowed in range(20):
        _fail_allocations_after(allowed)
        try:
            lists.add(2, numbers)
        except MemoryError:
            failures += 1
        else:
            break
        finally:
            _fail_allocations_after(-1)
            after = [found(lists, number) for number in numbers]
            assert after in (before, [[2, 1], [2, 1]])
    assert failures


def test_refused_arguments() -> None:
    lists = PlayerLists(table(2))
    with pytest.raises(ValueError, match="below"):
        lists.add(2**31, array("I", [0]))
    with pytest.raises(ValueError, match="below"):
        lists.remove(-1, array("I", [0]))
    with pytest.raises(IndexError):
        lists.add(1, array("I", [0, 2]))
    with pytest.raises(TypeError):
        lists.add(1, [0])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        PlayerLists(None)  # type: ignore[arg-type]
    assert [found(lists, number) for number in (0, 1, 2, 99)] == [[], [], [], []]
