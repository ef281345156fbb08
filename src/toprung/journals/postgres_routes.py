"""Where submissions count, as numbers: routes of one board, remembered while no window turns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
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
from toprung.domain.commands.card_rules import CardRoute, PlayerCard
from toprung.domain.commands.routing import Router
from toprung.domain.instant import SECOND
from toprung.domain.ladder import (
    Route,
    Skipped,
    guard_ladder,
    is_kept,
    periods_of,
    route_of,
    scopes_of,
)
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.journals.postgres_store import PostgresStore
from toprung.waiting.pace import LongWork

JUDGED_FOR = 600 * SECOND
"""How long (microseconds) periods are taken for what they were found to be."""


class Wanted(NamedTuple):
    """A submission to be routed: who sent it, and its player's card."""

    submission: Submission
    source: str
    card: PlayerCard


class BoardRoutes:
    """Routes for one version of one board, as numbers."""

    def __init__(self, board: Board, store: PostgresStore) -> None:
        self.board = board
        self._router: Router[CardRoute] = Router(board)
        self._store = store
        self._dead: dict[bytes, bool] = {}
        self._judged_at = 0

    def router_at(self, now: int) -> Router[CardRoute]:
        """The router of the span around a moment, in which no window turns.

        It is never rolled on: batches of two spans may be under way, and each keeps its own.
        """
        if not self._router.opens <= now < self._router.closes:
            self._router = Router(self.board)
            self._router.roll(now)
        return self._router

    async def usual(
        self, router: Router[CardRoute], names: Sequence[tuple[str, tuple[str, ...]]]
    ) -> list[CardRoute]:
        """The routes to the periods of a router, by sources and the scopes of players."""
        known = {name: router.remembered(name) for name in names}
        unknown = [name for name, route in known.items() if route is None]
        if unknown:
            new = []
            async with LongWork() as work:
                for source, scopes in unknown:
                    new.append((source, *router.usual(scopes)))
                    if work.is_due():
                        await work.rest()
            known.update(zip(unknown, await self._number(router, unknown, new), strict=True))
        return [route for name in names if (route := known[name]) is not None]

    async def find(
        self, router: Router[CardRoute], wanted: Sequence[Wanted], moment: Moment
    ) -> list[CardRoute]:
        """The routes of submissions that each fall into at least one retained period."""
        late = [
            each for each in wanted if not router.covers(each.submission.at, each.submission.at)
        ]
        kept = await self._kept_scopes(late, moment)
        routes: dict[int, tuple[str, Route, Skipped]] = {}
        async with LongWork() as work:
            for each in late:
                routes[id(each)] = (each.source, *self._route_late(each, moment, kept))
                if work.is_due():
                    await work.rest()
        known = {name: router.remembered(name) for name in routes.values()}
        new = [name for name, route in known.items() if route is None]
        if new:
            known.update(zip(new, await self._number(router, new, new), strict=True))
        timely = [(each.source, each.card.scopes) for each in wanted if id(each) not in routes]
        usual = iter(await self.usual(router, timely))
        names = (routes.get(id(each)) for each in wanted)
        found = [next(usual) if name is None else known[name] for name in names]
        return [route for route in found if route is not None]

    async def _kept_scopes(
        self, late: Iterable[Wanted], moment: Moment
    ) -> dict[tuple[int, str, str], tuple[str, ...]]:
        """The scopes of entries that late submissions' players have in those periods already."""
        periods: dict[int, list[tuple[str, str]]] = {}
        async with LongWork() as work:
            for each in late:
                at = each.submission.at
                if at not in periods:
                    found = periods_of(self.board, at, moment.now, moment.lenient)[0]
                    periods[at] = [(window.name, period.id) for window, period in found]
                if work.is_due():
                    await work.rest()
        names = {period_name(*each) for some in periods.values() for each in some}
        numbers = await self._store.numbers(self.board.generation, "p", names)
        kept: dict[tuple[int, str, str], int] = {}
        async with LongWork() as work:
            for each in late:
                for period in periods[each.submission.at]:
                    entry = each.card.entries.get(number_bytes(numbers[period_name(*period)]))
                    if entry is not None:
                        kept[id(each), *period] = int.from_bytes(entry_scopes(entry))
                if work.is_due():
                    await work.rest()
        texts = await self._store.names(kept.values())
        scopes = {number: parse_scopes_name(text) for number, text in texts.items()}
        return {key: scopes[number] for key, number in kept.items()}

    def _route_late(
        self, each: Wanted, moment: Moment, kept: Mapping[tuple[int, str, str], tuple[str, ...]]
    ) -> tuple[Route, Skipped]:
        def kept_scopes(window: str, period: str) -> tuple[str, ...] | None:
            return kept.get((id(each), window, period))

        at = each.submission.at
        return route_of(self.board, at, moment.now, each.card.scopes, kept_scopes, moment.lenient)

    async def _number(
        self,
        router: Router[CardRoute],
        asked: Sequence[Hashable],
        routes: Sequence[tuple[str, Route, Skipped]],
    ) -> list[CardRoute]:
        """Numbers for (source, route, skipped windows), in three statements however many.

        They are remembered by the names under which they are asked for.
        """
        board, numbers = self.board, self._store.numbers
        stops = {stop for _, route, _ in routes for stop in route.stops}
        periods = await numbers(
            board.generation, "p", {period_name(stop.window, stop.period) for stop in stops}
        )
        scopes = await numbers(board.generation, "s", {scopes_name(stop.scopes) for stop in stops})
        names = [route_name(board.id, board.version, *each[:2]) for each in routes]
        found = await numbers(board.generation, "r", names)
        numbers_of = {
            stop: (
                number_bytes(periods[period_name(stop.window, stop.period)]),
                number_bytes(scopes[scopes_name(stop.scopes)]),
            )
            for stop in stops
        }
        numbered = [
            CardRoute(
                found[name],
                tuple((stop.window, stop.period) for stop in route.stops),
                skipped,
                tuple(numbers_of[stop][0] for stop in route.stops),
                tuple(b"".join(numbers_of[stop]) for stop in route.stops),
                tuple(stop.scopes for stop in route.stops),
            )
            for name, (_, route, skipped) in zip(names, routes, strict=True)
        ]
        for name, route in zip(asked, numbered, strict=True):
            router.remember(name, route)
        return numbered

    async def guard_period(self, now: int) -> bytes | None:
        """The number of the period that `max_increase` is judged by; None: the route's first."""
        ladder = guard_ladder(self.board, now)
        if ladder is None:
            return None
        name = period_name(ladder.window, ladder.period)
        return number_bytes((await self._store.numbers(self.board.generation, "p", [name]))[name])

    async def dead_among(self, periods: set[bytes], horizon: int) -> set[bytes]:
        """Those of the periods that were neither retained at a time nor came after it."""
        if not self._judged_at <= horizon < self._judged_at + JUDGED_FOR:
            self._dead = {}  # others may still go by the old one
            self._judged_at = horizon
        dead, judged_at = self._dead, self._judged_at
        unknown = periods - dead.keys()
        if unknown:
            names = await self._store.names(int.from_bytes(period) for period in unknown)
            for period in unknown:
                ladder = period_ladder(self.board.id, names[int.from_bytes(period)])
                dead[period] = not is_kept(self.board, ladder, judged_at)
        return {period for period in periods if dead[period]}


def route_name(board_id: str, version: int, source: str, route: Route) -> str:
    """What the number of a route stands for."""
    return msgspec.json.encode([board_id, version, source, route.stops]).decode()


def player_scopes(board: Board, attributes: str) -> tuple[str, ...]:
    """The scopes of a player whose attributes are this JSON."""
    if len(board.scopes) == 1 and '"~":' not in attributes:
        return board.scopes
    return scopes_of(board, msgspec.json.decode(attributes, type=dict[str, str]))
