"""What the cluster's database lets go of and prepares, by one process at a time.

All of it is deleted a bounded number of rows at a time, each time in a transaction that holds the
lease: nobody else can renew or take it meanwhile, so none may last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toprung.journals.postgres_ladders import GRACE_SECONDS, PostgresLadders
from toprung.journals.postgres_leases import PostgresLeases
from toprung.journals.postgres_store import PostgresStore, count_of
from toprung.journals.postgres_time import PostgresTime
from toprung.ports import Lease

KEPT_SECONDS: Final = 900.0
"""How long the outbox keeps what was applied: a replica that takes over may lack it."""

AT_ONCE: Final = 5_000
DELETED_MAX: Final = 500_000
"""Rows that go in one run, for others are waiting."""

LISTED_MAX: Final = 1_000
"""Erasures or deleted boards that are answered at once."""

_DELETE: Final = "DELETE FROM {} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {} WHERE {} LIMIT $1))"
_OUTBOX: Final = "erased = '{}' AND marked_at < now() - make_interval(secs => $2)"
_BATCHES: Final = "written_at < (SELECT began_at FROM hours ORDER BY number DESC OFFSET 2 LIMIT 1)"
_BURIED: Final = (
    "cards",
    "keys",
    "names",
    "scope_ladders",
    "scope_ladder_counts",
    "shards",
    "outbox",
)
"""What a deleted board leaves behind."""


class PostgresUpkeep:
    """Lets go of what is obsolete."""

    def __init__(
        self,
        store: PostgresStore,
        leases: PostgresLeases,
        time: PostgresTime,
        ladders: PostgresLadders,
    ) -> None:
        self._store = store
        self._leases = leases
        self._time = time
        self._ladders = ladders

    # --- what is kept for a while only -----------------------------------------------------------

    async def prune_outbox(self, lease: Lease) -> int:
        """Drop what the index has known for a while, and the ids of old batches; how many."""
        rows = await self._delete(lease, "outbox", _OUTBOX, KEPT_SECONDS)
        return rows + await self._delete(lease, "batches", _BATCHES)

    async def forget_keys(self, lease: Lease) -> int:
        """Drop idempotency keys that nobody heeds any more; how many."""
        return await self._delete(lease, "keys", "position <= $2", self._time.forgotten)

    async def forget_leases(self, lease: Lease) -> int:
        """Drop leases that ended long ago; how many."""
        return await self._delete(lease, "leases", "ends_at < clock_timestamp() - interval '1 day'")

    async def erased(self, after: int = 0) -> list[tuple[int, int, Sequence[str]]]:
        """(outbox id, generation, players) of erasures that nothing late can undo any more.

        The first `LISTED_MAX` of those with ids above one.
        """
        async with self._store.connection() as connection:
            rows: list[Any] = await connection.fetch(
                "SELECT id, generation, erased FROM outbox WHERE erased <> '{}' AND id > $2"
                " AND marked_at < now() - make_interval(secs => $1) ORDER BY id LIMIT $3",
                KEPT_SECONDS,
                after,
                LISTED_MAX,
            )
        return [(row[0], row[1], row[2]) for row in rows]

    async def drop_erased(self, lease: Lease, ids: Sequence[int]) -> None:
        """Drop erasures, now that the index knows nothing of the players."""
        if ids:
            async with self._leases.fenced(lease) as connection:
                await connection.execute("DELETE FROM outbox WHERE id = ANY ($1)", list(ids))

    # --- deleted boards --------------------------------------------------------------------------

    async def graves(self, after: int = 0) -> list[int]:
        """The generations of deleted boards that have left something behind.

        The first `LISTED_MAX` of those above one.
        """
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT generation FROM graves WHERE generation > $1 ORDER BY generation LIMIT $2",
                after,
                LISTED_MAX,
            )
        return [row[0] for row in rows]

    async def bury(self, lease: Lease, generation: int) -> int:
        """Drop what a deleted board has left behind; how many rows. Of a large one, only a part.

        Its routes stay: events name them.
        """
        rows = 0
        for table in _BURIED:
            further = " AND kind <> 'r'" if table == "names" else ""
            rows += await self._delete(lease, table, f"generation = $2{further}", generation)
            if rows >= DELETED_MAX:
                return rows
        async with self._leases.fenced(lease) as connection:
            await connection.execute("DELETE FROM graves WHERE generation = $1", generation)
        return rows

    # --- the rest --------------------------------------------------------------------------------

    async def count_ladders(self, lease: Lease) -> int:
        """Count the ladders of crowded boards; of how many.

        Counting takes long and is not fenced: it finds what is true whenever it happens.
        """
        async with self._leases.fenced(lease) as connection:
            boards = await self._ladders.claim_crowded(connection)
            horizon = await self._time.horizon(connection)
        for board in boards:
            await self._ladders.count(board, horizon, GRACE_SECONDS)
        return len(boards)

    async def prepare_partitions(self, lease: Lease) -> list[str]:
        """Make the partitions of events that the next months need; those that were missing."""
        now = self._time.moment().recorded_at
        return await self._store.prepare_partitions(now, lambda: self._leases.fenced(lease))

    async def _delete(self, lease: Lease, table: str, which: str, *values: object) -> int:
        """Delete rows, some at a time; how many."""
        rows, some = 0, AT_ONCE
        while some >= AT_ONCE and rows < DELETED_MAX:
            async with self._leases.fenced(lease) as connection:
                text = _DELETE.format(table, table, which)
                status = await connection.execute(text, AT_ONCE, *values)
            some = count_of(status)
            rows += some
        return rows
