"""The outbox and the cards behind it: the journal's side of catching up and rebuilding."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.journals.postgres_histories import PostgresHistories
from toprung.journals.postgres_key_counts import PostgresKeyCounts
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.journals.postgres_time import PostgresTime
from toprung.ports import Histories, Outbox, OutboxRow, OutboxWork

KEPT_SECONDS = 900.0
BURIED_AT_ONCE = 5_000
GRACE_SECONDS = 1.0
"""Rows younger than this are left to the process that wrote them."""

_REBUILD_LOCKS = 21617
_RECONCILE_LOCK = 21618


class PostgresOutbox:
    """Reads and marks the outbox, pages through cards."""

    def __init__(
        self,
        store: PostgresStore,
        time: PostgresTime,
        key_counts: PostgresKeyCounts,
        ladders: PostgresLadders,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._store = store
        self._time = time
        self._key_counts = key_counts
        self._ladders = ladders
        self._grace_seconds = grace_seconds

    async def all_boards(self) -> list[Board]:
        """Every board."""
        async with self._store.connection() as connection:
            rows = await connection.fetch("SELECT * FROM boards ORDER BY id")
        return [read_board(row) for row in rows]

    async def boards_of(self, generations: Collection[int]) -> dict[int, Board]:
        """Those of the boards that exist, by generation."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT * FROM boards WHERE generation = ANY ($1)", list(generations)
            )
        return {row["generation"]: read_board(row) for row in rows}

    async def horizon(self) -> int:
        """The confirmed time, less a day: what was obsolete then may be destroyed."""
        async with self._store.connection() as connection:
            return await self._time.horizon(connection)

    async def unmarked(self, limit: int, work: OutboxWork, without: Sequence[int] = ()) -> int:
        """Hand rows nobody marked to `work`, hidden from other processes; mark what it applied."""
        async with self._store.connection(writes=True) as connection, connection.transaction():
            rows = [
                OutboxRow(*row)
                for row in await connection.fetch(
                    statement("unmarked_outbox"), limit, self._grace_seconds, list(without)
                )
            ]
            if rows:
                ids = list(await work(rows))
                await connection.execute(
                    "UPDATE outbox SET marked_at = now() WHERE id = ANY ($1)", ids
                )
        return len(rows)

    async def lag(self) -> tuple[int, float]:
        """How many rows nobody has marked, and the age of the oldest in seconds."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT count(*), coalesce(extract(epoch FROM now() - min(written_at)), 0)"
                " FROM outbox WHERE marked_at IS NULL"
            )
        return int(row[0]), float(row[1])

    async def kept(self, generation: int, after: int, limit: int) -> list[OutboxRow]:
        """The rows of a board that are still kept, marked or not, by id."""
        rows = await self._store.select("kept_outbox", generation, after, limit)
        return [OutboxRow(*row) for row in rows]

    async def cards_of(self, row: OutboxRow) -> list[Card]:
        """The current cards of the players in a row; empty ones of the erased."""
        rows = await self._store.select("cards_of_players", row.generation, list(row.players))
        erased = [Card(player, row.version, b"") for player in row.erased]
        return [Card(*found) for found in rows] + erased

    async def cards_page(self, generation: int, after: int, limit: int) -> list[tuple[int, Card]]:
        """(player number, card) of a board in the order of numbers."""
        rows = await self._store.select("cards_page", generation, after, limit)
        return [
            (number, Card(player, version, entries)) for number, player, version, entries in rows
        ]

    async def cards_by_id(self, generation: int, players: Sequence[str]) -> list[Card]:
        """The cards of these players, in their order; empty ones for who has none."""
        rows = await self._store.select("cards_by_id", generation, list(players))
        found = {row[0]: Card(*row) for row in rows}
        return [found.get(player) or Card(player, 0, b"") for player in players]

    async def sample_cards(self, generation: int, limit: int) -> list[Card]:
        """Some cards of a board, from a random place on."""
        rows = await self._store.select("sample_cards", generation, limit, random.random())  # noqa: S311
        return [Card(*row) for row in rows]

    async def position(self) -> int:
        """A position that nothing recorded so far lies beyond."""
        async with self._store.connection() as connection:
            return int(await connection.fetchval("SELECT last_value FROM positions"))

    async def shard(self, generation: int) -> tuple[int, str]:
        """The outbox id that the index has reached, and the server that told."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT mark, server FROM shards WHERE generation = $1 AND shard = 0", generation
            )
        return (0, "") if row is None else (row[0], row[1])

    async def note_shard(self, generation: int, reached: int, server: str) -> None:
        """Remember that the index, on this server, has reached the outbox id."""
        await self._store.execute(
            "INSERT INTO shards VALUES ($1, 0, $2, $3) ON CONFLICT (generation, shard) DO UPDATE "
            "SET mark = excluded.mark, server = excluded.server "
            "WHERE (shards.mark, shards.server) IS DISTINCT FROM (excluded.mark, excluded.server)",
            generation,
            reached,
            server,
        )

    def alone(self, generation: int) -> AbstractAsyncContextManager[bool]:
        """Whether this process alone now rebuilds the board's shard."""
        return self._locked(_REBUILD_LOCKS, generation % 2**31)

    @asynccontextmanager
    async def alone_reconciling(self) -> AsyncIterator[bool]:
        """Whether this process alone now compares cards with the index."""
        async with self._store.connection() as connection:  # a database may have several clusters
            number = await connection.fetchval("SELECT hashtext(current_schema())")
        async with self._locked(_RECONCILE_LOCK, number) as alone:
            yield alone

    @asynccontextmanager
    async def _locked(self, kind: int, number: int) -> AsyncIterator[bool]:
        async with self._store.connection() as connection:
            owned = await connection.fetchval("SELECT pg_try_advisory_lock($1, $2)", kind, number)
            try:
                yield bool(owned)
            finally:
                if owned:
                    await connection.execute("SELECT pg_advisory_unlock($1, $2)", kind, number)

    def histories(self) -> AbstractAsyncContextManager[Histories]:
        """A snapshot of the truth."""
        return PostgresHistories.open(self._store)

    async def erased(self) -> list[tuple[int, int, Sequence[str]]]:
        """(outbox id, generation, players) of erasures that nothing late can undo any more."""
        async with self._store.connection() as connection:
            rows: list[Any] = await connection.fetch(
                "SELECT id, generation, erased FROM outbox WHERE erased <> '{}'"
                " AND marked_at < now() - make_interval(secs => $1)",
                KEPT_SECONDS,
            )
        return [(row[0], row[1], row[2]) for row in rows]

    async def drop_erased(self, ids: Sequence[int]) -> None:
        """Prune erasures, now that the index knows nothing of the players."""
        await self._store.execute("DELETE FROM outbox WHERE id = ANY ($1)", list(ids))

    async def housekeep(self) -> None:
        """Prune what is kept for a while only, bury deleted boards, prepare partitions."""
        await self._time.tell()
        await self._key_counts.tell()
        execute = self._store.execute
        await execute(
            "DELETE FROM outbox WHERE erased = '{}'"
            " AND marked_at < now() - make_interval(secs => $1)",
            KEPT_SECONDS,
        )
        await execute(
            "DELETE FROM batches WHERE written_at <"
            " (SELECT began_at FROM hours ORDER BY number DESC OFFSET 2 LIMIT 1)"
        )
        await execute("DELETE FROM keys WHERE position <= $1", self._time.forgotten)
        await self._ladders.count_crowded(await self.horizon())
        await self._bury()
        await self._store.prepare_partitions(self._time.moment().recorded_at)

    async def _bury(self) -> None:
        """Delete cards and keys of deleted boards, a bounded number at a time."""
        async with self._store.connection() as connection:
            rows = await connection.fetch("SELECT generation FROM graves")
        for (generation,) in rows:
            status = await self._store.execute(
                "DELETE FROM cards WHERE generation = $1 AND player IN "
                "(SELECT player FROM cards WHERE generation = $1 LIMIT $2)",
                generation,
                BURIED_AT_ONCE,
            )
            if status != "DELETE 0":
                continue
            await self._store.execute(  # routes stay: events name them
                "DELETE FROM names WHERE generation = $1 AND kind <> 'r'", generation
            )
            ladders = ("scope_ladders", "scope_ladder_counts")
            for table in (*ladders, "keys", "shards", "outbox", "graves"):
                await self._store.execute(
                    f"DELETE FROM {table} WHERE generation = $1",  # noqa: S608
                    generation,
                )


_: type[Outbox] = PostgresOutbox
