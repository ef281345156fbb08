"""The quota of a cluster's ladders of scopes: who may open new ones, and how many there are.

Ladders are entered in `scope_ladders` before a batch opens them, on a connection of its own. Each
process remembers those it has met, so that only the first entry on a ladder costs a query. The
table is held against the cards when a board gets near its quota: only then do ladders that have no
entries any more make room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias

from toprung.domain.board import Board
from toprung.domain.card import entry_width, period_ladder
from toprung.domain.ladder import is_kept
from toprung.domain.quotas import LadderCounts, LadderRoom, Quotas, Refusals
from toprung.errors import TooManyLadders
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import PostgresStore, statement

KNOWN_MAX = 500_000
"""Ladders that a process remembers to exist."""

CROWDED = 0.8
"""The part of its quota from which a board's ladders are counted anew."""

COUNT_EVERY_SECONDS = 600.0
COUNT_SECONDS_MAX = 600.0
GRACE_SECONDS = 120.0
"""How long a batch may take from entering its ladders to its commit."""

_CROWDED_BOARDS = """
SELECT b.* FROM boards AS b JOIN scope_ladder_counts AS c USING (generation)
WHERE c.counted_at IS NULL
    OR c.ladders >= $1 AND c.counted_at < now() - make_interval(secs => $2)
"""

ScopeLadder: TypeAlias = tuple[int, str]
"""The number of a period, and a scope."""


class PostgresLadders:
    """Lets ladders be opened, as far as there is room."""

    def __init__(self, store: PostgresStore, quotas: Quotas, refusals: Refusals) -> None:
        self._store = store
        self._quotas = quotas
        self._refusals = refusals
        self._known: set[tuple[int, ScopeLadder]] = set()
        self.known_routes: set[int] = set()
        """Numbers of routes all of whose ladders were met."""

    def room(self, board: Board, count: int) -> LadderRoom:
        """What judges by the quota, on a board that has so many."""
        return LadderRoom(self._quotas, self._refusals, board.id, count)

    async def admit(
        self, board: Board, wanted: Sequence[Collection[ScopeLadder]], field: str
    ) -> list[TooManyLadders | None]:
        """Of each who needs some ladders, why it cannot have them; None if it can."""
        generation = board.generation
        ladders = dict.fromkeys(each for some in wanted for each in some)
        unknown = [each for each in ladders if (generation, each) not in self._known]
        if not unknown:
            return [None] * len(wanted)
        async with self._store.connection() as connection, connection.transaction():
            room = self.room(
                board, await connection.fetchval("SELECT lock_ladder_count($1)", generation)
            )
            rows = await connection.fetch(statement("find_ladders"), generation, *_columns(unknown))
            missing = set(unknown) - {(row[0], row[1]) for row in rows}
            answers = [
                room.refusal([each for each in some if each in missing], field) for some in wanted
            ]
            opened = [each for each in unknown if each in room.opened]
            if opened:
                await connection.execute(statement("add_ladders"), generation, *_columns(opened))
        self._remember(generation, [*opened, *(each for each in unknown if each not in missing)])
        return answers

    def _remember(self, generation: int, ladders: Iterable[ScopeLadder]) -> None:
        if len(self._known) + len(self.known_routes) > KNOWN_MAX:
            self.forget()
        self._known.update((generation, each) for each in ladders)

    def forget(self) -> None:
        """Ask again about every ladder."""
        self._known.clear()
        self.known_routes.clear()

    async def replace(
        self, connection: Any, board: Board, ladders: Collection[ScopeLadder]
    ) -> None:
        """These are the board's ladders from the caller's commit on."""
        generation = board.generation
        await connection.fetchval("SELECT lock_ladder_count($1)", generation)
        await connection.execute("DELETE FROM scope_ladders WHERE generation = $1", generation)
        await connection.execute(
            "UPDATE scope_ladder_counts SET ladders = 0 WHERE generation = $1", generation
        )
        await connection.execute(statement("add_ladders"), generation, *_columns(ladders))
        self.forget()

    # --- counting anew ---------------------------------------------------------------------------

    async def count_crowded(self, horizon: int) -> None:
        """Count the ladders of boards that are near their quota, or were never counted."""
        crowded = int(self._quotas.scope_ladders * CROWDED)
        async with self._store.connection() as connection:
            rows = await connection.fetch(_CROWDED_BOARDS, crowded, COUNT_EVERY_SECONDS)
        for row in rows:
            await self.count(read_board(row), horizon, GRACE_SECONDS)

    async def count(self, board: Board, horizon: int, grace_seconds: float = 0.0) -> None:
        """Find out which ladders the board has, except those of periods that are obsolete."""
        async with self._store.connection() as connection:
            periods = await connection.fetch(
                "SELECT number, name FROM names WHERE generation = $1 AND kind = 'p'",
                board.generation,
            )
            dead = [
                number
                for number, name in periods
                if not is_kept(board, period_ladder(board.id, name), horizon)
            ]
            await connection.fetchval(
                "SELECT count_ladders($1, $2, $3, $4)",
                board.generation,
                entry_width(board.shape),
                dead,
                grace_seconds,
                timeout=COUNT_SECONDS_MAX,
            )
        self.forget()

    async def counts(self) -> LadderCounts:
        """How many ladders there are."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT coalesce(sum(ladders), 0)::bigint, coalesce(max(ladders), 0)"
                " FROM scope_ladder_counts"
            )
        return LadderCounts(row[0], row[1])


def _columns(ladders: Iterable[ScopeLadder]) -> tuple[list[int], list[str]]:
    pairs = list(ladders)
    return [period for period, _ in pairs], [scope for _, scope in pairs]
