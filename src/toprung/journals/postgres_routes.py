"""Where submissions count, as numbers: routes of one board, remembered while no window turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import (
    entry_scopes,
    number_bytes,
    parse_scopes_name,
    period_ladder,
    period_name,
    scopes_name,
)
from toprung.domain.ladder import Route, is_kept, periods_of, route_of, scopes_of
from toprung.domain.submission import Submission
from toprung.domain.window import Period, Window
from toprung.journals.postgres_store import PostgresStore

DAY = 86_400_000_000
ROUTES_REMEMBERED = 4096


class NumberedStop(NamedTuple):
    """One period of a route, as it stands in cards."""

    window: str
    period: str
    period_number: bytes
    head: bytes
    """How its entries begin: the numbers of period and scopes."""


class NumberedRoute(NamedTuple):
    """A route and the number that events name it by."""

    number: int
    stops: tuple[NumberedStop, ...]
    skipped: tuple[str, ...]


class Wanted(NamedTuple):
    """A submission to be routed: who sent it, and its player's scopes and card."""

    submission: Submission
    source: str
    scopes: tuple[str, ...]
    entries: Mapping[bytes, bytes]


class BoardRoutes:
    """Routes for one version of one board."""

    def __init__(self, board: Board, store: PostgresStore) -> None:
        self.board = board
        self._store = store
        self._opens = self._closes = 0
        self._is_open = False
        self._usual: dict[tuple[str, tuple[str, ...]], NumberedRoute] = {}
        self._unusual: dict[tuple[str, Route], NumberedRoute] = {}
        self._dead: dict[bytes, bool] = {}

    def roll(self, now: int) -> None:
        """Find the span around `now` in which no window turns."""
        if self._opens <= now < self._closes:
            return
        opens, closes, self._is_open = 0, 1 << 62, False
        for window in self.board.windows:
            period = self.board.calendar(window).period_at(now)
            self._is_open = self._is_open or period is not None
            for edge in _edges(window, period):
                if edge <= now:
                    opens = max(opens, edge)
                else:
                    closes = min(closes, edge)
        self._opens, self._closes = opens, closes
        self._usual.clear()
        self._unusual.clear()
        self._dead.clear()

    def is_timely(self, submission: Submission) -> bool:
        """Whether it counts in the current periods, of which there is one."""
        return self._is_open and self._opens <= submission.at < self._closes

    async def find(self, wanted: Sequence[Wanted], now: int) -> list[NumberedRoute]:
        """The route of every submission; each falls into at least one retained period."""
        late = [each for each in wanted if not self.is_timely(each.submission)]
        routes = {}
        if late:
            kept = await self._kept_scopes(late, now)
            for each in late:
                routes[id(each)] = self._route_late(each, now, kept)
        missing = {
            (each.source, each.scopes)
            for each in wanted
            if id(each) not in routes and (each.source, each.scopes) not in self._usual
        }
        for source, scopes in missing:
            route, skipped = route_of(self.board, now, now, scopes)
            self._usual[source, scopes] = await self._number(source, route, skipped)
        numbered = {}
        for each in late:
            route, skipped = routes[id(each)]
            found = self._unusual.get((each.source, route))
            if found is None:
                found = await self._number(each.source, route, skipped)
                self._unusual[each.source, route] = found
            numbered[id(each)] = found
        found_routes = [
            numbered.get(id(each)) or self._usual[each.source, each.scopes] for each in wanted
        ]
        if len(self._usual) + len(self._unusual) > ROUTES_REMEMBERED:
            self._usual.clear()
            self._unusual.clear()
        return found_routes

    async def _kept_scopes(
        self, late: Iterable[Wanted], now: int
    ) -> dict[tuple[int, str, str], tuple[str, ...]]:
        """The scopes of entries that late submissions' players have in those periods already."""
        names: dict[str, tuple[str, str]] = {}
        for each in late:
            for window, period in periods_of(self.board, each.submission.at, now)[0]:
                names[period_name(window.name, period.id)] = (window.name, period.id)
        numbers = await self._store.numbers(self.board.generation, "p", names)
        found = {
            (id(each), *names[name]): entry_scopes(each.entries[number_bytes(number)])
            for each in late
            for name, number in numbers.items()
            if number_bytes(number) in each.entries
        }
        texts = await self._store.names(int.from_bytes(scopes) for scopes in found.values())
        return {
            key: parse_scopes_name(texts[int.from_bytes(scopes)]) for key, scopes in found.items()
        }

    def _route_late(
        self, each: Wanted, now: int, kept: Mapping[tuple[int, str, str], tuple[str, ...]]
    ) -> tuple[Route, tuple[str, ...]]:
        def kept_scopes(window: str, period: str) -> tuple[str, ...] | None:
            return kept.get((id(each), window, period))

        return route_of(self.board, each.submission.at, now, each.scopes, kept_scopes)

    async def _number(self, source: str, route: Route, skipped: tuple[str, ...]) -> NumberedRoute:
        board, numbers = self.board, self._store.numbers
        periods = await numbers(
            board.generation, "p", [period_name(stop.window, stop.period) for stop in route.stops]
        )
        scopes = await numbers(
            board.generation, "s", [scopes_name(stop.scopes) for stop in route.stops]
        )
        name = route_name(board.id, board.version, source, route)
        route_number = (await numbers(board.generation, "r", [name]))[name]
        stops = tuple(
            NumberedStop(
                stop.window,
                stop.period,
                (number := number_bytes(periods[period_name(stop.window, stop.period)])),
                number + number_bytes(scopes[scopes_name(stop.scopes)]),
            )
            for stop in route.stops
        )
        return NumberedRoute(route_number, stops, skipped)

    async def find_dead(self, cards: Iterable[Mapping[bytes, bytes]], now: int) -> None:
        """Learn which of the periods in cards are no longer kept; before `prune`."""
        unknown = {period for card in cards for period in card if period not in self._dead}
        if unknown:
            names = await self._store.names(int.from_bytes(period) for period in unknown)
            for period in unknown:
                ladder = period_ladder(self.board.id, names[int.from_bytes(period)])
                self._dead[period] = not is_kept(self.board, ladder, now - DAY)

    def prune(self, entries: dict[bytes, bytes]) -> None:
        """Drop entries whose period left retention more than a day ago."""
        dead = self._dead
        for period in [period for period in entries if dead.get(period, False)]:
            del entries[period]


def route_name(board_id: str, version: int, source: str, route: Route) -> str:
    """What the number of a route stands for."""
    return msgspec.json.encode([board_id, version, source, route.stops]).decode()


def player_scopes(board: Board, attributes: str) -> tuple[str, ...]:
    """The scopes of a player whose attributes are this JSON."""
    if len(board.scopes) == 1:
        return board.scopes
    return scopes_of(board, msgspec.json.decode(attributes, type=dict[str, str]))


def _edges(window: Window, period: Period | None) -> list[int]:
    """The moments at which the window turns, before and after."""
    edges = [window.starts, window.ends] if period is None else [period.opens_at, period.closes_at]
    return [edge for edge in edges if edge is not None]
