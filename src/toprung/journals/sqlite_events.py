"""What the SQLite file holds, in order: the events, and the players, routes and rules they name.

This is what a start replays, what a checkpoint is held against, and what is copied to a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from toprung.domain.board import Board
from toprung.domain.events import BoardSet, Event, PeriodArchived, read_event
from toprung.domain.ladder import Route
from toprung.journals.sqlite_store import PAGE_ROWS, SqliteStore


class SqliteEvents:
    """The recorded events of an open file."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def last(self) -> tuple[int, int]:
        """The last position and when it was recorded."""
        row = self._store.select(
            "SELECT position, recorded_at FROM submissions UNION ALL "
            "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
        )
        return (int(row[0][0]), int(row[0][1])) if row else (0, 0)

    def events_after(self, after: int, limit: int) -> Iterator[Event]:
        """All events, submissions among them, after a position."""
        rows = self._store.select(
            "SELECT position, recorded_at, kind, body FROM ("
            " SELECT position, recorded_at, kind, body FROM events WHERE position > :after"
            " UNION ALL"
            " SELECT s.position, s.recorded_at, 'score', json_object("
            "  'board', r.board, 'version', r.version, 'source', r.source,"
            "  'route', json(r.route), 'player', s.player, 'at', s.at, 'score', s.score,"
            "  'subscore', s.subscore, 'status', s.status)"
            " FROM submissions AS s JOIN routes AS r ON r.number = s.route"
            " WHERE s.position > :after"
            ") ORDER BY position LIMIT :limit",
            {"after": after, "limit": limit},
        )
        for row in rows:
            yield read_event(*row)

    def players_from(self, number: int) -> Iterator[list[tuple[Any, ...]]]:
        """(number, id) of the players from a number on, in pages."""
        return self._store.pages("SELECT number, id FROM players WHERE number > ?", number - 1)

    def routes(self) -> Iterator[tuple[int, str, int, int, str, Route]]:
        """Every route, by number."""
        pages = self._store.pages("SELECT * FROM routes WHERE number > ?", 0)
        for *name, route in chain.from_iterable(pages):
            yield (*name, msgspec.json.decode(route, type=Route))

    def routes_numbered(
        self, numbers: Iterable[int]
    ) -> list[tuple[int, str, int, int, str, Route]]:
        """The routes of these numbers."""
        rows = self._store.select(
            "SELECT * FROM routes WHERE number IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(numbers)).decode(),),
        )
        return [(*name, msgspec.json.decode(route, type=Route)) for *name, route in rows]

    def last_route(self) -> int:
        """The greatest number of a route; 0 when there is none."""
        return int(self._store.select("SELECT coalesce(max(number), 0) FROM routes")[0][0])

    def submissions_between(self, after: int, until: int) -> Iterator[list[tuple[Any, ...]]]:
        """Submissions at positions in (after, until], in pages: what replay needs of them."""
        statement = (
            "SELECT position, route, player, at, score, subscore, status FROM submissions "
            "WHERE position > ? AND position <= ? ORDER BY position LIMIT ?"
        )
        while rows := self._store.select(statement, (after, until, PAGE_ROWS)):
            yield rows
            after = rows[-1][0]

    def events_between(self, after: int, until: int) -> Iterator[Event]:
        """Events besides submissions at positions in (after, until]."""
        pages = self._store.pages(
            "SELECT position, recorded_at, kind, body FROM events WHERE position > ?", after
        )
        for row in chain.from_iterable(pages):
            if row[0] > until:
                return
            yield read_event(*row)

    def set_periods(self) -> list[tuple[Any, ...]]:
        """(board, window, period) of all entries that were ever set without a submission."""
        return self._store.select(
            "SELECT DISTINCT json_extract(e.body, '$.board'), json_extract(s.value, '$[0]'),"
            " json_extract(s.value, '$[1]') FROM events AS e, json_each(e.body, '$.entries') AS s"
            " WHERE e.kind = 'entries'"
        )

    def board_rules(self) -> list[Board]:
        """All rules that boards ever had, in order; of periods, what is archived by now is."""
        rows = self._store.select(
            "SELECT position, recorded_at, kind, body FROM events WHERE kind = 'board'"
            " ORDER BY position"
        )
        bodies = (read_event(*row).body for row in rows)
        sets = [body for body in bodies if type(body) is BoardSet]
        archived = self._archived()
        return [
            Board.read(body.board, body.rules).archived_later(archived.get(body.generation, {}))
            for body in sets
        ]

    def _archived(self) -> dict[int, dict[str, int]]:
        """By generation of a board: its marks of what is archived, at the end of the journal."""
        found: dict[int, dict[str, int]] = {}
        pages = self._store.pages(
            "SELECT position, recorded_at, kind, body FROM events"
            " WHERE kind IN ('board', 'archived') AND position > ?",
            0,
        )
        for row in chain.from_iterable(pages):
            body = read_event(*row).body
            if type(body) is BoardSet:
                found[body.generation] = dict(body.rules.get("archived", {}))
            elif type(body) is PeriodArchived:
                found.setdefault(body.generation, {})[body.window] = body.ended_at
        return found

    def keys_after(self, position: int, count_max: int) -> Iterator[tuple[int, int, str]]:
        """(position, board generation, owned key) of keyed submissions after a position.

        Of more than `count_max`, the newest.
        """
        if self.last()[0] - position > count_max:
            newest = self._store.select(
                "SELECT position FROM submissions WHERE key IS NOT NULL AND position > ? "
                "ORDER BY position DESC LIMIT 1 OFFSET ?",
                (position, count_max),
            )
            position = newest[0][0] if newest else position
        pages = self._store.pages(
            "SELECT s.position, r.generation, s.key FROM submissions AS s "
            "JOIN routes AS r ON r.number = s.route "
            "WHERE s.key IS NOT NULL AND s.position > ?",
            position,
            "s.position",
        )
        yield from chain.from_iterable(pages)

    def fingerprint(self, position: int) -> str:
        """What stands at a position, as text to be hashed; empty when nothing does."""
        for table in ("submissions", "events"):
            columns = "route, player, at, score" if table == "submissions" else "kind, body"
            rows = self._store.select(
                f"SELECT position, recorded_at, {columns} FROM {table} "  # noqa: S608
                "WHERE position = ?",
                (position,),
            )
            if rows:
                return repr(rows[0])
        return ""

    def position_at(self, moment: int) -> int:
        """The last position recorded before a moment; recording times never go back."""
        low, high = 0, self.last()[0]
        while low < high:
            middle = (low + high + 1) // 2
            rows = self._store.select(
                "SELECT recorded_at FROM submissions WHERE position >= ? ORDER BY position LIMIT 1",
                (middle,),
            )
            if rows and rows[0][0] < moment:
                low = middle
            else:
                high = middle - 1
        return low
