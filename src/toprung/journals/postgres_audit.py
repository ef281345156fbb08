"""What the audit log reads of the cluster's journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toprung.domain.events import Event, read_event
from toprung.journals.postgres_rows import read_route
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.ports import ActsAsked, AuditStore, LogRows

_ROUTES: Final = (
    "SELECT number, name FROM names WHERE number IN (SELECT DISTINCT route FROM events"
    " WHERE position > $1 AND position <= $2 AND kind = 'score')"
)
_DETAILS: Final = (
    "SELECT position, player, details FROM events WHERE position > $1 AND position <= $2"
    " AND kind = 'score' AND details IS NOT NULL ORDER BY position"
)
_EVENTS: Final = (
    "SELECT position, recorded_at, kind, body FROM events"
    " WHERE position > $1 AND position <= $2 AND kind <> 'score' ORDER BY position"
)


class PostgresAudit:
    """The events of a cluster, as they are hashed; who acted; what salts are made of."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def log_rows(self, after: int, until: int) -> LogRows:
        """The events in (after, until]; they are settled, so it may be asked bit by bit."""
        async with self._store.connection() as connection:
            scores = await connection.fetchval(statement("log_scores"), after, until)
            routes = await connection.fetch(_ROUTES, after, until) if scores else ()
            details = await connection.fetch(_DETAILS, after, until) if scores else ()
            events = await connection.fetch(_EVENTS, after, until)
        return LogRows(
            (scores or "").encode(),
            {number: read_route(name) for number, name in routes},
            [(position, player, body) for position, player, body in details],
            [read_event(*row) for row in events],
        )

    async def secrets(self, players: Sequence[int]) -> dict[int, bytes]:
        """What the salts of players are made of, where there is anything."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT player, secret FROM log_secrets WHERE player = ANY ($1)", list(players)
            )
        return dict(rows)

    async def acts(self, asked: ActsAsked) -> list[Event]:
        """Events that are acts of administration, newest first."""
        rows = await self._store.select(
            "log_acts",
            asked.before,
            asked.actor,
            asked.actor is not None and ":" not in asked.actor,
            asked.board,
            asked.since,
            asked.until,
            asked.limit,
        )
        return [read_event(*row) for row in rows]


_: type[AuditStore] = PostgresAudit
