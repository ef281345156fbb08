"""Snapshots in one SQLite file, written by the journal's writer beside its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from toprung.domain.snapshots import Part
from toprung.journals.besides import Execute
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import KeptLadder, LadderName, Lease, PartPlace, Snapshot, SnapshotStore

REMOVED_AT_ONCE: Final = 64
"""Parts that go in one commit, for which submissions wait: a few milliseconds."""
BYTES_PER_WEIGHT: Final = 1024
"""Of parts, which take as long to write as a submission."""

_FOUND: Final = (
    "SELECT s.number, s.boundary, s.name, s.taken_at,"
    " l.ladder, l.window, l.period, l.scope, l.total, l.position"
    " FROM snapshot_ladders AS l JOIN snapshots AS s USING (generation, boundary)"
)
_LEFT: Final = "boundary NOT IN (SELECT boundary FROM snapshots WHERE generation = :generation)"


class SqliteSnapshots:
    """The snapshots of one file. Only this process changes them."""

    def __init__(
        self,
        journal: SqliteJournal,
        store: SqliteStore,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._journal = journal
        self._store = store
        self._in_thread = in_thread
        self._changes: Counter[int] = Counter()
        """By generation: how often a snapshot has come or gone since this was opened."""

    # --- reading ---------------------------------------------------------------------------------

    async def all(self, generation: int) -> list[Snapshot]:
        """The snapshots of a board, newest first."""
        rows = await self._select(
            "SELECT number, boundary, name, taken_at FROM snapshots WHERE generation = ?"
            " ORDER BY number DESC",
            (generation,),
        )
        return [Snapshot(*row) for row in rows]

    async def mark(self, generation: int) -> object:
        """How often something has changed."""
        return self._changes[generation]

    async def newest(
        self, generation: int, ladder: LadderName
    ) -> tuple[Snapshot, KeptLadder] | None:
        """A ladder in the newest snapshot that has it."""
        window, period, scope = ladder
        rows = await self._select(
            f"{_FOUND} WHERE l.generation = ? AND l.window = ? AND l.scope = ? AND l.period = ?"
            " ORDER BY s.number DESC LIMIT 1",
            (generation, window, scope, period),
        )
        return _found(rows[0]) if rows else None

    async def of_window(
        self, generation: int, window: str, scope: str, before: int | None, limit: int
    ) -> list[tuple[Snapshot, KeptLadder]]:
        """Ladders of a window and scope, newest first."""
        rows = await self._select(
            f"{_FOUND} WHERE l.generation = ?1 AND l.window = ?2 AND l.scope = ?3"
            " AND (?4 IS NULL OR s.number < ?4) ORDER BY s.number DESC LIMIT ?5",
            (generation, window, scope, before, limit),
        )
        return list(map(_found, rows))

    async def parts(self, generation: int, start: PartPlace, limit: int) -> list[Part]:
        """Parts of one kind and ladder, in order."""
        rows = await self._select(
            "SELECT kind, first, body FROM snapshot_parts WHERE generation = ? AND boundary = ?"
            " AND ladder = ? AND kind = ? AND first >= ? ORDER BY first LIMIT ?",
            (generation, *start, limit),
        )
        return [Part(*row) for row in rows]

    async def parts_at(self, generation: int, wanted: Sequence[PartPlace]) -> list[Part | None]:
        """For each place the last part whose `first` is not above it."""

        def find() -> list[Part | None]:
            found: list[Part | None] = []
            for place in wanted:
                rows = self._store.select_slowly(
                    "SELECT kind, first, body FROM snapshot_parts WHERE generation = ?"
                    " AND boundary = ? AND ladder = ? AND kind = ? AND first <= ?"
                    " ORDER BY first DESC LIMIT 1",
                    (generation, *place),
                )
                found.append(Part(*rows[0]) if rows else None)
            return found

        parts: list[Part | None] = await self._in_thread(find)
        return parts

    async def generations(self) -> set[int]:
        """Of which boards anything is kept, finished or not."""
        rows = await self._select(
            "SELECT generation FROM snapshots UNION SELECT generation FROM snapshot_ladders"
            " UNION SELECT DISTINCT generation FROM snapshot_parts",
        )
        return {row[0] for row in rows}

    async def _select(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """The rows of a query, in a thread: what is seldom read comes from the disk."""
        rows: list[tuple[Any, ...]] = await self._in_thread(
            lambda: self._store.select_slowly(statement, values)
        )
        return rows

    # --- writing ---------------------------------------------------------------------------------

    async def write(
        self,
        lease: Lease,  # noqa: ARG002
        key: tuple[int, int],
        ladders: Sequence[KeptLadder],
        parts: Sequence[tuple[int, Part]],
    ) -> None:
        """Keep some ladders, and parts of ladders."""

        def write(execute: Execute) -> None:
            for ladder in ladders:
                execute(
                    "INSERT INTO snapshot_ladders VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*key, *ladder),
                )
            for index, part in parts:
                execute(
                    "INSERT INTO snapshot_parts VALUES (?, ?, ?, ?, ?, ?)", (*key, index, *part)
                )

        size = sum(len(part.body) for _, part in parts)
        weight = 1 + len(ladders) // 4 + size // BYTES_PER_WEIGHT
        await self._journal.write_beside(write, weight)

    async def finish(
        self,
        lease: Lease,  # noqa: ARG002
        generation: int,
        snapshot: Snapshot,
        ladders: int,
    ) -> bool:
        """Have a snapshot be there."""
        key = (generation, snapshot.boundary)

        def write(execute: Execute) -> bool:
            ((count,),) = execute(
                "SELECT count(*) FROM snapshot_ladders WHERE generation = ? AND boundary = ?", key
            ).fetchall()
            if count != ladders:
                return False
            made = execute(
                "INSERT INTO snapshots (generation, boundary, name, taken_at)"
                " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING number",
                (*key, snapshot.name, snapshot.taken_at),
            ).fetchall()
            return bool(made)

        is_done = await self._journal.write_beside(write)
        self._changes[generation] += 1
        return is_done

    async def drop(
        self,
        lease: Lease,  # noqa: ARG002
        generation: int,
        boundaries: Sequence[int],
    ) -> None:
        """Have snapshots be gone."""

        def write(execute: Execute) -> None:
            for boundary in boundaries:
                execute(
                    "DELETE FROM snapshots WHERE generation = ? AND boundary = ?",
                    (generation, boundary),
                )

        await self._journal.write_beside(write)
        self._changes[generation] += 1

    async def clear(self, lease: Lease, generation: int) -> None:  # noqa: ARG002
        """Remove what belongs to no snapshot."""
        values = {"generation": generation, "limit": REMOVED_AT_ONCE}

        def write(execute: Execute) -> bool:
            removed = 0
            for table in ("snapshot_ladders", "snapshot_parts"):
                keys = "boundary, ladder" + (", kind, first" if table == "snapshot_parts" else "")
                removed += len(
                    execute(
                        f"DELETE FROM {table} WHERE generation = :generation AND ({keys}) IN"  # noqa: S608
                        f" (SELECT {keys} FROM {table} WHERE generation = :generation"
                        f" AND {_LEFT} LIMIT :limit) RETURNING 1",
                        values,
                    ).fetchall()
                )
            return removed > 0

        while await self._select(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM snapshot_ladders"  # noqa: S608
            f" WHERE generation = :generation AND {_LEFT}) OR EXISTS (SELECT 1 FROM snapshot_parts"
            f" WHERE generation = :generation AND {_LEFT})",
            {"generation": generation},
        ):
            await self._journal.write_beside(write, REMOVED_AT_ONCE)


def _found(row: Sequence[Any]) -> tuple[Snapshot, KeptLadder]:
    return Snapshot(*row[:4]), KeptLadder(*row[4:])


_: type[SnapshotStore] = SqliteSnapshots
