"""What the audit log reads of one SQLite file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from toprung.domain.events import Event, read_event
from toprung.domain.ladder import Route
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import ActsAsked, AuditStore, LogRows

# As one JSON text: row by row, each would wait for the interpreter lock. They are scanned in the
# order of their key; whoever hashes them refuses any other.
_SCORES: Final = (
    "SELECT json_group_array(json_array("
    "position, recorded_at, route, player, at, score, subscore, status)) FROM submissions"
    " WHERE position > ?1 AND position <= ?2"
)
_ROUTES: Final = (
    "SELECT number, board, version, source, route FROM routes WHERE number IN"
    " (SELECT DISTINCT route FROM submissions WHERE position > ?1 AND position <= ?2)"
)
_DETAILS: Final = (
    "SELECT d.position, s.player, d.body FROM details AS d JOIN submissions AS s"
    " ON s.position = d.position WHERE d.position > ?1 AND d.position <= ?2 ORDER BY d.position"
)
_EVENTS: Final = (
    "SELECT position, recorded_at, kind, body FROM events"
    " WHERE position > ?1 AND position <= ?2 ORDER BY position"
)


class SqliteAudit:
    """The events of one file, as they are hashed; who acted; what salts are made of."""

    def __init__(
        self, store: SqliteStore, in_thread: Callable[[Callable[[], Any]], Awaitable[Any]]
    ) -> None:
        self._store = store
        self._in_thread = in_thread

    async def log_rows(self, after: int, until: int) -> LogRows:
        """The events in (after, until]."""
        rows: LogRows = await self._in_thread(lambda: self._log_rows((after, until)))
        return rows

    def _log_rows(self, between: tuple[int, int]) -> LogRows:
        select = self._store.select_slowly
        ((scores,),) = select(_SCORES, between)
        routes = {
            number: (board, version, source, _route(text))
            for number, board, version, source, text in select(_ROUTES, between)
        }
        details = [(position, player, body) for position, player, body in select(_DETAILS, between)]
        events = [read_event(*row) for row in select(_EVENTS, between)]
        return LogRows(scores.encode(), routes, details, events)

    async def secrets(self, players: Sequence[int]) -> dict[int, bytes]:
        """What the salts of players are made of, where there is anything."""
        rows = self._store.select(
            "SELECT player, secret FROM log_secrets WHERE player IN"
            " (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(players)).decode(),),
        )
        return dict(rows)

    async def acts(self, asked: ActsAsked) -> list[Event]:
        """Events that are acts of administration, newest first."""
        wheres, values = _conditions(asked)
        rows = self._store.select(
            "SELECT e.position, e.recorded_at, e.kind, e.body FROM acts AS a JOIN events AS e"  # noqa: S608
            f" ON e.position = a.position WHERE {wheres} ORDER BY a.position DESC LIMIT :limit",
            values | {"limit": asked.limit},
        )
        return [read_event(*row) for row in rows]


def _conditions(asked: ActsAsked) -> tuple[str, dict[str, Any]]:
    """What acts must be like to be shown."""
    found: dict[str, tuple[str, object]] = {"a.position > 0": ("", None)}
    if asked.before is not None:
        found["a.position < :before"] = ("before", asked.before)
    if asked.actor is not None and ":" in asked.actor:
        found["a.actor = :actor"] = ("actor", asked.actor)
    elif asked.actor is not None:
        found["a.actor >= :actor || ':' AND a.actor < :actor || ';'"] = ("actor", asked.actor)
    if asked.board is not None:
        found["a.board = :board"] = ("board", asked.board)
    if asked.since is not None:
        found["a.recorded_at >= :since"] = ("since", asked.since)
    if asked.until is not None:
        found["a.recorded_at < :until"] = ("until", asked.until)
    return " AND ".join(found), {name: value for name, value in found.values() if name}


@lru_cache(maxsize=4096)
def _route(text: str) -> Route:
    return msgspec.json.decode(text, type=Route)


_: type[AuditStore] = SqliteAudit
