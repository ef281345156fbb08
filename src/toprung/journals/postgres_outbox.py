"""The outbox and the cards behind it: the journal's side of catching up and rebuilding."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.journals.postgres_histories import PostgresHistories
from toprung.journals.postgres_key_counts import PostgresKeyCounts
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.journals.postgres_time import PostgresTime
from toprung.ports import Histories, Outbox, OutboxRow, OutboxWork, ShardReach

GRACE_SECONDS = 1.0
"""Rows younger than this are left to the process that wrote them."""

_REBUILD_LOCKS = 21617


class PostgresOutbox:
    """Reads and marks the outbox, pages through cards."""

    def __init__(
        self,
        store: PostgresStore,
        time: PostgresTime,
        key_counts: PostgresKeyCounts,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._store = store
        self._time = time
        self._key_counts = key_counts
        self._grace_seconds = grace_seconds

    async def tell(self) -> None:
        """Tell others what only this process knows: its time, and how many keys were used."""
        await self._time.tell()
        await self._key_counts.tell()

    async def boards_token(self) -> str:
        """What tells whether boards have changed."""
        return await self._store.boards_token()

    async def versions(self) -> dict[int, int]:
        """The version of every board, by generation."""
        async with self._store.connection() as connection:
            rows = await connection.fetch("SELECT generation, version FROM boards")
        return dict(map(tuple, rows))

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
        """Hand rows nobody marked to `work`, hidden from other processes; mark what it applied.

        Nearly always there are none, and one question without a transaction is all that is asked.
        """
        if not await self._has_unmarked():
            return 0
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

    async def _has_unmarked(self) -> bool:
        async with self._store.connection() as connection:
            found: bool = await connection.fetchval(
                "SELECT EXISTS (SELECT FROM outbox WHERE marked_at IS NULL"
                " AND written_at < now() - make_interval(secs => $1))",
                self._grace_seconds,
            )
        return found

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

    async def reached(self, generations: Sequence[int]) -> dict[int, ShardReach]:
        """What shards are known to have reached, where anything is known."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT generation, mark, server FROM shards"
                " WHERE generation = ANY ($1) AND shard = 0",
                list(generations),
            )
        return {row[0]: ShardReach(row[1], row[2]) for row in rows}

    async def note_reached(self, reached: Mapping[int, ShardReach]) -> None:
        """Remember what shards have reached."""
        order = sorted(reached)  # the same for everybody: nobody locks in turn
        await self._store.execute(
            statement("note_reached"),
            order,
            [reached[generation].outbox_id for generation in order],
            [reached[generation].server for generation in order],
        )

    async def former_lines(self) -> set[str]:
        """The lines before the present one whose shards may still be there."""
        async with self._store.connection() as connection:
            rows = await connection.fetch("SELECT tag FROM journal_lines WHERE NOT is_cleared")
        return {row[0] for row in rows} - {self._store.line.of_work}

    async def note_cleared(self, lines: Collection[str]) -> None:
        """Remember that the shards of lines were dropped."""
        await self._store.execute(
            "UPDATE journal_lines SET is_cleared = true WHERE tag = ANY ($1)", list(lines)
        )

    def alone(self, generation: int) -> AbstractAsyncContextManager[bool]:
        """Whether this process alone now rebuilds the board's shard."""
        return self._locked(_REBUILD_LOCKS, generation % 2**31)

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


_: type[Outbox] = PostgresOutbox
