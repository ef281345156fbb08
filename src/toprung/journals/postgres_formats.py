"""Formats of events while processes of two versions share a database.

Every process tells the highest format that it reads, with its clock (`postgres_time`). An event of
a newer format is recorded once nobody at work reads less; from then on, who reads less may not
begin to work. Raising the format is a transaction of its own that comes before the first such
event, and happens once.
"""

from __future__ import annotations

import time
from contextlib import suppress

from toprung.domain.events import EventBody, kind_name
from toprung.errors import OlderProcesses, StorageFailed, TruthUnavailable
from toprung.journals.postgres_store import PostgresStore

ASKED_SECONDS = 30.0
"""How often others are asked after that still read less."""


class PostgresFormats:
    """What one process may write."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._written = 1
        self._asked_at: dict[int, float] = {}
        """By format: when others were last asked after."""
        store.line.on_move(self._forget)

    def _forget(self) -> None:
        self._written = 1
        self._asked_at.clear()

    async def permit(self, kind: type[EventBody], written_format: int | None = None) -> None:
        """Raise OlderProcesses if somebody at work could not read events of this kind.

        An event that makes use of what is newer than its kind is of a higher format.
        """
        wanted = kind.format if written_format is None else written_format
        older = await self._raise(wanted)
        if older:
            names = ", ".join(older)
            raise OlderProcesses(
                f"{kind_name(kind)!r} events of format {wanted} cannot be read by processes of"
                f" an older version: {names}; update or stop them and try again (one that ended"
                " without telling counts for five minutes)"
            )

    def has(self, wanted: int) -> bool:
        """Whether everybody at work is known to read a format."""
        return wanted <= self._written

    async def seek(self, wanted: int) -> None:
        """Find out whether everybody at work reads a format, now and then until it is so."""
        now = time.monotonic()
        asked_at = self._asked_at.get(wanted, -ASKED_SECONDS)
        if wanted > self._written and now >= asked_at + ASKED_SECONDS:
            self._asked_at[wanted] = now
            with suppress(TruthUnavailable, StorageFailed):  # it can wait
                await self._raise(wanted)

    async def _raise(self, wanted: int) -> list[str]:
        """Begin to write a format, unless somebody at work reads less: the names of those."""
        if wanted <= self._written:
            return []
        async with self._store.connection(writes=True) as connection:
            rows = await connection.fetch("SELECT raise_event_format($1)", wanted)
        if not rows:
            self._written = wanted
        return [row[0] for row in rows]
