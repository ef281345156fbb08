"""Formats of events while processes of two versions share a database.

Every process tells the highest format that it reads, with its clock (`postgres_time`). An event of
a newer format is recorded once nobody at work reads less; from then on, who reads less may not
begin to work. Raising the format is a transaction of its own that comes before the first such
event, and happens once.
"""

from __future__ import annotations

from toprung.domain.events import EventBody, kind_name
from toprung.errors import OlderProcesses
from toprung.journals.postgres_store import PostgresStore


class PostgresFormats:
    """What one process may write."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._written = 1
        store.line.on_move(self._forget)

    def _forget(self) -> None:
        self._written = 1

    async def permit(self, kind: type[EventBody]) -> None:
        """Raise OlderProcesses if somebody at work could not read events of this kind."""
        if kind.format <= self._written:
            return
        async with self._store.connection(writes=True) as connection:
            rows = await connection.fetch("SELECT raise_event_format($1)", kind.format)
        if rows:
            names = ", ".join(row[0] for row in rows)
            raise OlderProcesses(
                f"{kind_name(kind)!r} events of format {kind.format} cannot be read by processes of"
                f" an older version: {names}; update or stop them and try again (one that ended"
                " without telling counts for five minutes)"
            )
        self._written = kind.format
