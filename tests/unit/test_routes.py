"""The route book: routes by number and by board, and what forgetting some of them costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from toprung.domain.board import Board
from toprung.domain.ladder import Route, route_of
from toprung.indexes import routes as module
from toprung.indexes.routes import RouteBook

NOW = 1_700_000_000_000_000


class _Unwalked(dict[int, Any]):
    """A dictionary that nobody may walk through."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("all routes were looked at")

    def values(self) -> NoReturn:
        raise AssertionError("all routes were looked at")

    items = keys = values


def _board(number: int) -> Board:
    return Board.parse(f"board-{number}", {"windows": ["daily"]}).recorded(number, number)


def _route(board: Board, day: int = 0) -> Route:
    at = NOW + day * 86_400_000_000
    return route_of(board, at, at, ("global",))[0]


def _filled(boards: int) -> tuple[RouteBook, list[Board]]:
    book, made = RouteBook(), [_board(number) for number in range(1, boards + 1)]
    for board in made:
        for day in (0, 1):
            book.intern(board, "library", _route(board, day))
    book._by_number = _Unwalked(book._by_number)
    return book, made


def test_a_board_forgets_its_own_routes_without_a_look_at_others() -> None:
    book, boards = _filled(50)
    asked: list[int] = []

    def is_of_use(routed: module.Routed) -> bool:
        asked.append(routed.number)
        return routed.number == 14

    book.forget(boards[6].id, is_of_use)
    assert asked == [13, 14]
    assert len(book) == 99
    assert book.missing([13, 14, 15]) == {13}
    again, is_new = book.intern(boards[6], "library", _route(boards[6]))
    assert is_new, "one that was forgotten gets another number"
    assert again.number == 101
    book.forget("nobody", lambda _: False)
    book.forget(boards[6].id, lambda _: False)
    assert len(book) == 98
    assert boards[6].id not in book._by_board, "a board without routes costs nothing"


def test_taking_back_looks_at_what_was_given() -> None:
    book, boards = _filled(50)
    limit = book.next
    for board in boards[:3]:
        book.intern(board, "library", _route(board, 2))
    book.take_back(limit)
    assert book.next == limit
    assert len(book) == 100
    routed, is_new = book.intern(boards[0], "library", _route(boards[0], 2))
    assert (routed.number, is_new) == (limit, True)


def test_the_older_half_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUTES_MAX", 8)
    book = RouteBook()
    board = _board(1)
    for day in range(9):
        book.intern(board, "library", _route(board, day))
    book.shrink()
    assert book.missing(range(1, 10)) == {1, 2, 3, 4}
    book.forget(board.id, lambda routed: routed.number > 7)
    assert book.missing(range(1, 10)) == set(range(1, 8))
