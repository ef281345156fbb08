"""The table of boards: their order, their token, and how often anything is sorted."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain import board_table
from toprung.domain.board import Board
from toprung.domain.board_table import BoardTable

changes = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(("set", "remove", "list"))), max_size=60
)


def _board(name: str, version: int, generation: int) -> Board:
    return Board.parse(name, {}).recorded(version, generation)


@given(changes, st.integers(1, 5))
def test_against_a_dict(steps: list[tuple[str, str]], noted_max: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_table, "NOTED_MAX", noted_max)
        table, model, tokens = BoardTable(), dict[str, Board](), [BoardTable().token]
        for version, (name, step) in enumerate(steps, 1):
            if step == "set":
                generation = model[name].generation if name in model else version
                table[name] = model[name] = _board(name, version, generation)
                tokens.append(table.token)
            elif step == "remove":
                assert table.remove(name) is model.pop(name, None)
                assert table.token != tokens[-1] or name not in model
            else:
                assert (
                    table.after(name, 3)
                    == [model[each] for each in sorted(model) if each > name][:3]
                )
        assert table.after("", 99) == [model[each] for each in sorted(model)]
        assert len(set(tokens)) == len(tokens), "another token after each change"
        for board in model.values():
            assert table.of_generation(board.generation) is board
        assert table.of_generation(99_999) is None


def test_boards_that_are_listed_as_they_come_are_not_sorted_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sorted_lengths: list[int] = []

    def counting(ids: Any) -> list[str]:
        sorted_lengths.append(len(ids))
        return sorted(ids)

    monkeypatch.setattr(board_table, "sorted", counting, raising=False)
    table = BoardTable()
    for number in range(3_000):
        name = f"{number * 7919 % 3_000:04}"
        table[name] = _board(name, number + 1, number + 1)
        assert table.after("", 1) != []
    assert len(sorted_lengths) <= 3
    table["0007"] = _board("0007", 9_999, table["0007"].generation)
    assert [board.version for board in table.after("0006", 1)] == [9_999]
    assert len(sorted_lengths) <= 3, "a change of rules is no change of the order"


def test_whoever_lists_while_boards_come_and_go_sees_an_order() -> None:
    table, wrong = BoardTable(), list[list[str]]()
    for number in range(0, 500, 2):
        table[f"{number:03}"] = _board(f"{number:03}", number + 1, number + 1)
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            ids = [board.id for board in table.after("100", 500)]
            if ids != sorted(set(ids)) or not {f"{n:03}" for n in range(102, 500, 2)} <= {*ids}:
                wrong.append(ids)

    reader = threading.Thread(target=read)
    reader.start()
    for version in range(1_000, 6_000):
        name = f"{version * 37 % 250 * 2 + 1:03}"
        if name in table:
            table.remove(name)
        else:
            table[name] = _board(name, version, version)
    is_over.set()
    reader.join()
    assert wrong == []
