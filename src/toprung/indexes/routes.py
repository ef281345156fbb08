"""Routes in use, by number and by board."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from toprung._native import RankedSet
from toprung.domain.board import Board
from toprung.domain.ladder import Ladder, Route
from toprung.domain.player import GLOBAL
from toprung.domain.trust.restriction import is_hidden, plain_scope

ROUTES_MAX = 50_000
"""Routes that are remembered; the ones found first go first."""

RouteName: TypeAlias = tuple[str, int, int, str, Route]
"""Board, its generation and version, source, and where it leads."""


class Routed:
    """A route in use: its number in the journal and the sets behind its ladders."""

    __slots__ = (
        "drops", "globals", "home", "is_hidden", "ladders", "name", "number", "sets", "stops",
    )  # fmt: skip

    def __init__(self, number: int, name: RouteName) -> None:
        self.number = number
        self.name = name
        board, generation, *_, route = name
        self.home = (board, generation)
        self.ladders: list[Ladder] = list(route.ladders(board))
        scopes = [plain_scope(ladder.scope) for ladder in self.ladders]
        self.globals = [i for i, scope in enumerate(scopes) if scope == GLOBAL]
        self.stops = [self.ladders[i][1:3] for i in self.globals]
        """Window and period of each global ladder."""
        self.is_hidden = any(is_hidden(ladder.scope) for ladder in self.ladders)
        """Whether it is that of a restricted player."""
        self.sets: list[RankedSet] = []
        self.drops = -1
        """Ladders that the index had dropped when the sets were found; later they may be others."""


class RouteBook:
    """Routes by number, so that an event names its board, periods and scopes in one integer.

    The journal keeps all of them, this book those that may be of use. One that was forgotten gets
    another number when it is used again, and replay reads it from the journal.
    """

    def __init__(self) -> None:
        self._by_number: dict[int, Routed] = {}
        self._by_board: dict[str, dict[int, Routed]] = {}
        self._numbers: dict[RouteName, int] = {}
        self.next = 1

    def intern(self, board: Board, source: str, route: Route) -> tuple[Routed, bool]:
        """The route in use, and whether it is new. O(1)."""
        name = (board.id, board.generation, board.version, source, route)
        number = self._numbers.get(name)
        if number is not None:
            return self._by_number[number], False
        return self.add(self.next, *name), True

    def add(
        self, number: int, board: str, generation: int, version: int, source: str, route: Route
    ) -> Routed:
        """Enter a route under its number. O(1)."""
        name = (board, generation, version, source, route)
        self._numbers[name] = number
        routed = self._by_number[number] = Routed(number, name)
        self._by_board.setdefault(board, {})[number] = routed
        self.next = max(self.next, number + 1)
        return routed

    def take_back(self, limit: int) -> None:
        """Forget the routes from number `limit` on, whose commit failed. O(k), k such numbers."""
        numbers = (each for each in range(limit, self.next) if each in self._by_number)
        self._forget([self._by_number[number] for number in numbers])
        self.next = limit

    def forget(self, board_id: str, is_of_use: Callable[[Routed], bool]) -> None:
        """Forget the routes of a board that are of no use. O(k), k routes of the board."""
        routes = self._by_board.get(board_id, {}).values()
        self._forget([each for each in routes if not is_of_use(each)])

    def shrink(self) -> None:
        """Forget the older half when there are too many."""
        if len(self._by_number) > ROUTES_MAX:
            self._forget(list(self._by_number.values())[: ROUTES_MAX // 2])

    def _forget(self, routes: list[Routed]) -> None:
        while routes:  # each is freed in its turn: it may have hundreds of ladders
            routed = routes.pop()
            del self._by_number[routed.number]
            of_board = self._by_board[routed.home[0]]
            del of_board[routed.number]
            if not of_board:
                del self._by_board[routed.home[0]]
            if self._numbers.get(routed.name) == routed.number:
                del self._numbers[routed.name]

    def missing(self, numbers: Iterable[int]) -> set[int]:
        """Those of the numbers whose route is not here. O(k), k numbers."""
        return {number for number in numbers if number not in self._by_number}

    def __len__(self) -> int:
        return len(self._by_number)

    def __getitem__(self, number: int) -> Routed:
        return self._by_number[number]
