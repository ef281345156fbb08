"""Reading the truth player by player, at one moment, to hold its parts against each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import number_bytes, parse_period_name, parse_scopes_name
from toprung.domain.events import BoardSet
from toprung.domain.ladder import Stop
from toprung.domain.player import GLOBAL
from toprung.journals.postgres_rows import event_of, read_board
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.ports import Histories, HistoryRow, RulesSet

ROWS_AT_ONCE = 2_000
SORT_SECONDS_MAX = 3600.0


class PostgresHistories:
    """A snapshot of the database, for as long as it is open."""

    def __init__(self, store: PostgresStore, connection: Any) -> None:
        self._store = store
        self._connection = connection
        self._routes: dict[int, tuple[int, tuple[Stop, ...]]] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, store: PostgresStore) -> AsyncIterator[PostgresHistories]:
        """Take the snapshot; nothing that is committed later is seen."""
        async with (
            store.connection() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield cls(store, connection)

    async def rules(self) -> list[RulesSet]:
        """Every version of the rules of every board that exists, in the order of positions.

        Of periods, what is archived by now is.
        """
        live = await self._connection.fetch("SELECT * FROM boards")
        archived = {row["generation"]: read_board(row).archived for row in live}
        rows = await self._connection.fetch(
            "SELECT position, recorded_at, kind, body FROM events WHERE kind = 'board'"
            " ORDER BY position",
            timeout=SORT_SECONDS_MAX,
        )
        found = []
        for event in map(event_of, rows):
            change = event.body
            if isinstance(change, BoardSet) and change.generation in archived:
                board = Board.read(change.board, change.rules)
                board = board.archived_later(archived[change.generation])
                board = board.recorded(event.position, change.generation)
                found.append(RulesSet(board, change, event.recorded_at))
        return found

    async def names(
        self, generation: int
    ) -> tuple[dict[bytes, tuple[str, str]], dict[bytes, tuple[str, ...]]]:
        """What the numbers in the cards of a board stand for: (window, period), and scopes."""
        periods, scopes = await self._store.all_names(generation)
        return (
            {number_bytes(number): parse_period_name(name) for number, name in periods.items()},
            {number_bytes(number): parse_scopes_name(name) for number, name in scopes.items()},
        )

    async def rows(self) -> AsyncIterator[list[HistoryRow]]:
        """All rows, a bounded number at a time: by player, and then in order."""
        cursor = await self._connection.cursor(statement("histories"), timeout=SORT_SECONDS_MAX)
        while rows := await cursor.fetch(ROWS_AT_ONCE, timeout=SORT_SECONDS_MAX):
            await self._learn({row["route"] for row in rows if row["route"] is not None})
            yield [self._row(row) for row in rows]

    async def _learn(self, routes: set[int]) -> None:
        missing = routes - self._routes.keys()
        if len(self._routes) > ROWS_AT_ONCE:
            self._routes.clear()
            missing = routes
        for number, text in (await self._store.names(missing)).items():
            _, version, _, stops = msgspec.json.decode(text)
            found = tuple(Stop(stop[0], stop[1], tuple(stop[2]) or (GLOBAL,)) for stop in stops)
            self._routes[number] = (version, found)

    def _row(self, row: Any) -> HistoryRow:
        version, stops = self._routes[row["route"]] if row["route"] is not None else (0, ())
        kind, event = row["kind"], None
        if kind not in ("known", "score", "card"):
            kind, event = "event", event_of(row)
        return HistoryRow(
            row["player"], row["position"], kind, row["generation"], row["at"], row["score"],
            row["subscore"], version, stops, row["id"], event, row["entries"],
        )  # fmt: skip


_: type[Histories] = PostgresHistories
