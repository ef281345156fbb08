"""Snapshots in PostgreSQL: taken by the process that has the lease, read by all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from toprung.domain.snapshots import Part
from toprung.journals.postgres_leases import PostgresLeases
from toprung.journals.postgres_store import PostgresStore, count_of
from toprung.ports import KeptLadder, LadderName, Lease, PartPlace, Snapshot, SnapshotStore

REMOVED_AT_ONCE: Final = 1_000
REMEMBERED_SECONDS: Final = 1.0
"""For how long a process may not know of a snapshot that another one has taken."""
MARKS_MAX: Final = 10_000

_FOUND: Final = (
    "SELECT s.number, s.boundary, s.name, s.taken_at,"
    ' l.ladder, l."window", l.period, l.scope, l.total, l.position'
    " FROM snapshot_ladders AS l JOIN snapshots AS s USING (generation, boundary)"
)
_PARTS_AT: Final = """
SELECT found.kind, found.first, found.body
FROM unnest($2::bigint[], $3::integer[], $4::smallint[], $5::bigint[])
    WITH ORDINALITY AS w (boundary, ladder, kind, place, number)
LEFT JOIN LATERAL (
    SELECT p.kind, p.first, p.body FROM snapshot_parts AS p
    WHERE p.generation = $1 AND p.boundary = w.boundary AND p.ladder = w.ladder
        AND p.kind = w.kind AND p.first <= w.place
    ORDER BY p.first DESC LIMIT 1
) AS found ON true
ORDER BY w.number
"""
_FINISH: Final = """
INSERT INTO snapshots (generation, boundary, name, taken_at)
SELECT $1, $2, $3, $4
WHERE $5 = (SELECT count(*) FROM snapshot_ladders WHERE generation = $1 AND boundary = $2)
ON CONFLICT DO NOTHING
"""
_CLEAR: Final = """
DELETE FROM {0} WHERE ctid = ANY (ARRAY(
    SELECT t.ctid FROM {0} AS t WHERE t.generation = $1 AND NOT EXISTS (
        SELECT FROM snapshots AS s WHERE s.generation = $1 AND s.boundary = t.boundary
    ) LIMIT $2
))
"""


class PostgresSnapshots:
    """The snapshots of a cluster."""

    def __init__(self, store: PostgresStore, leases: PostgresLeases) -> None:
        self._store = store
        self._leases = leases
        self._marks: dict[int, tuple[float, object]] = {}
        """By generation: until when a mark is believed, and the mark."""

    # --- reading ---------------------------------------------------------------------------------

    async def all(self, generation: int) -> list[Snapshot]:
        """The snapshots of a board, newest first."""
        rows = await self._select(
            "SELECT number, boundary, name, taken_at FROM snapshots WHERE generation = $1"
            " ORDER BY number DESC",
            generation,
        )
        return [Snapshot(*row) for row in rows]

    async def mark(self, generation: int) -> object:
        """The newest snapshot's number, and how many there are; asked now and then."""
        until, mark = self._marks.get(generation, (0.0, None))
        now = time.monotonic()
        if now >= until:
            rows = await self._select(
                "SELECT max(number), count(*) FROM snapshots WHERE generation = $1", generation
            )
            mark = tuple(rows[0])
            if len(self._marks) >= MARKS_MAX:
                self._marks.clear()
            self._marks[generation] = (now + REMEMBERED_SECONDS, mark)
        return mark

    async def newest(
        self, generation: int, ladder: LadderName
    ) -> tuple[Snapshot, KeptLadder] | None:
        """A ladder in the newest snapshot that has it."""
        window, period, scope = ladder
        rows = await self._select(
            f'{_FOUND} WHERE l.generation = $1 AND l."window" = $2 AND l.scope = $3'
            " AND l.period = $4 ORDER BY s.number DESC LIMIT 1",
            generation,
            window,
            scope,
            period,
        )
        return _found(rows[0]) if rows else None

    async def of_window(
        self, generation: int, window: str, scope: str, before: int | None, limit: int
    ) -> list[tuple[Snapshot, KeptLadder]]:
        """Ladders of a window and scope, newest first."""
        rows = await self._select(
            f'{_FOUND} WHERE l.generation = $1 AND l."window" = $2 AND l.scope = $3'
            " AND ($4::bigint IS NULL OR s.number < $4) ORDER BY s.number DESC LIMIT $5",
            generation,
            window,
            scope,
            before,
            limit,
        )
        return list(map(_found, rows))

    async def parts(self, generation: int, start: PartPlace, limit: int) -> list[Part]:
        """Parts of one kind and ladder, in order."""
        rows = await self._select(
            "SELECT kind, first, body FROM snapshot_parts WHERE generation = $1 AND boundary = $2"
            " AND ladder = $3 AND kind = $4 AND first >= $5 ORDER BY first LIMIT $6",
            generation,
            *start,
            limit,
        )
        return [Part(*row) for row in rows]

    async def parts_at(self, generation: int, wanted: Sequence[PartPlace]) -> list[Part | None]:
        """For each place the last part whose `first` is not above it, in one query."""
        if not wanted:
            return []
        columns = [list(column) for column in zip(*wanted, strict=True)]
        rows = await self._select(_PARTS_AT, generation, *columns)
        return [None if row[0] is None else Part(*row) for row in rows]

    async def generations(self) -> set[int]:
        """Of which boards anything is kept, finished or not."""
        rows = await self._select(
            "SELECT generation FROM snapshots UNION SELECT generation FROM snapshot_ladders"
            " UNION SELECT generation FROM snapshot_parts"
        )
        return {row[0] for row in rows}

    async def _select(self, text: str, *values: object) -> list[Any]:
        async with self._store.connection() as connection:
            rows: list[Any] = await connection.fetch(text, *values)
            return rows

    # --- writing ---------------------------------------------------------------------------------

    async def write(
        self,
        lease: Lease,
        key: tuple[int, int],
        ladders: Sequence[KeptLadder],
        parts: Sequence[tuple[int, Part]],
    ) -> None:
        """Keep some ladders, and parts of ladders."""
        async with self._leases.fenced(lease) as connection:
            if ladders:
                await connection.executemany(
                    "INSERT INTO snapshot_ladders VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                    [(*key, *ladder) for ladder in ladders],
                )
            if parts:
                await connection.executemany(
                    "INSERT INTO snapshot_parts VALUES ($1, $2, $3, $4, $5, $6)",
                    [(*key, index, *part) for index, part in parts],
                )

    async def finish(self, lease: Lease, generation: int, snapshot: Snapshot, ladders: int) -> bool:
        """Have a snapshot be there."""
        async with self._leases.fenced(lease) as connection:
            status = await connection.execute(
                _FINISH,
                generation,
                snapshot.boundary,
                snapshot.name,
                snapshot.taken_at,
                ladders,
            )
        self._marks.pop(generation, None)
        return count_of(status) == 1

    async def drop(self, lease: Lease, generation: int, boundaries: Sequence[int]) -> None:
        """Have snapshots be gone."""
        async with self._leases.fenced(lease) as connection:
            await connection.execute(
                "DELETE FROM snapshots WHERE generation = $1 AND boundary = ANY ($2)",
                generation,
                list(boundaries),
            )
        self._marks.pop(generation, None)

    async def clear(self, lease: Lease, generation: int) -> None:
        """Remove what belongs to no snapshot."""
        for table in ("snapshot_ladders", "snapshot_parts"):
            removed = REMOVED_AT_ONCE
            while removed >= REMOVED_AT_ONCE:
                async with self._leases.fenced(lease) as connection:
                    status = await connection.execute(
                        _CLEAR.format(table), generation, REMOVED_AT_ONCE
                    )
                removed = count_of(status)


def _found(row: Sequence[Any]) -> tuple[Snapshot, KeptLadder]:
    found = tuple(row)
    return Snapshot(*found[:4]), KeptLadder(*found[4:])


_: type[SnapshotStore] = PostgresSnapshots
