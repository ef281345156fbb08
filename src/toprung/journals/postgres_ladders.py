"""The quota of a cluster's ladders of scopes: who may open new ones, and how many there are.

Ladders are entered in `scope_ladders` before a batch opens them, on a connection of its own. Each
process remembers those with several players, so that only the first entries on a ladder cost a
query. A ladder that one player has opened and leaves again makes room at once. Others make room
when the table is held against the cards, which happens when a board gets near its quota.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

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

COUNT_EVERY_SECONDS = 1800.0
COUNT_SECONDS_MAX = 600.0
GRACE_SECONDS = 120.0
"""How long a batch may take from entering its ladders to its commit."""

_CLAIM_CROWDED = """
UPDATE scope_ladder_counts AS c SET counted_at = now() FROM boards AS b
WHERE b.generation = c.generation AND (
    c.counted_at IS NULL
    OR c.ladders >= $1 AND c.counted_at < now() - make_interval(secs => $2)
)
RETURNING b.id, b.generation, b.version, b.rules
"""
"""What one process is going to count, and no other."""

ScopeLadder: TypeAlias = tuple[int, str]
"""The number of a period, and a scope."""


class Need(NamedTuple):
    """Ladders that a player needs, by its number."""

    player: int
    ladders: Collection[ScopeLadder]


class PostgresLadders:
    """Lets ladders be opened, as far as there is room."""

    def __init__(self, store: PostgresStore, quotas: Quotas, refusals: Refusals) -> None:
        self._store = store
        self._quotas = quotas
        self._refusals = refusals
        self._known: set[tuple[int, ScopeLadder]] = set()
        """Ladders, by board generation, that had several players: nothing is left to be told."""
        store.line.on_move(self.forget)

    def room(self, board: Board, count: int) -> LadderRoom:
        """What judges by the quota, on a board that has so many."""
        return LadderRoom(self._quotas, self._refusals, board.id, count)

    async def admit(
        self, board: Board, wanted: Sequence[Need], field: str, left: Sequence[ScopeLadder] = ()
    ) -> list[TooManyLadders | None]:
        """Of each who needs some ladders, why it cannot have them; None if it can.

        `left` are ladders that the one player who needs others leaves for them.
        """
        generation, users = board.generation, _users(wanted)
        unknown = [each for each in users if (generation, each) not in self._known]
        if not unknown and not left:
            return [None] * len(wanted)
        async with self._store.connection(writes=True) as connection, connection.transaction():
            count = await connection.fetchval("SELECT lock_ladder_count($1)", generation)
            found = await self._find(connection, generation, [*unknown, *left])
            missing = set(unknown) - found.keys()
            alone = [each for each in left if each in found and found[each] == wanted[0].player]
            room = LadderRoom(self._quotas, self._refusals, board.id, count)
            answers = [
                room.refusal([each for each in some.ladders if each in missing], field, len(alone))
                for some in wanted
            ]
            opened = [each for each in unknown if each in room.opened]
            if opened:
                players = [users[each] for each in opened]
                await connection.execute(
                    statement("add_ladders"), generation, *_columns(opened), players
                )
            joined = [each for each in unknown if found.get(each, None) not in (None, users[each])]
            if joined:
                await connection.execute(statement("share_ladders"), generation, *_columns(joined))
            if alone and not any(answers):
                await connection.execute(statement("leave_ladders"), generation, *_columns(alone))
        shared = {*joined, *(each for each in found if found[each] is None)}
        shared.update(each for each in opened if users[each] is None)
        self._remember(generation, shared)
        return answers

    async def _find(
        self, connection: Any, generation: int, ladders: Iterable[ScopeLadder]
    ) -> dict[ScopeLadder, int | None]:
        """Those of the ladders that there are, with their only player if they have one."""
        rows = await connection.fetch(statement("find_ladders"), generation, *_columns(ladders))
        return {(period, scope): player for period, scope, player in rows}

    def _remember(self, generation: int, ladders: Iterable[ScopeLadder]) -> None:
        if len(self._known) > KNOWN_MAX:
            self.forget()
        self._known.update((generation, each) for each in ladders)

    def forget(self) -> None:
        """Ask again about every ladder."""
        self._known.clear()

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
        nobody = [None] * len(ladders)
        await connection.execute(statement("add_ladders"), generation, *_columns(ladders), nobody)
        self.forget()

    # --- counting anew ---------------------------------------------------------------------------

    async def claim_crowded(self, connection: Any) -> list[Board]:
        """Boards whose ladders are to be counted: near their quota, or never counted."""
        crowded = int(self._quotas.scope_ladders * CROWDED)
        rows = await connection.fetch(_CLAIM_CROWDED, crowded, COUNT_EVERY_SECONDS)
        return [read_board(row) for row in rows]

    async def count(self, board: Board, horizon: int, grace_seconds: float = 0.0) -> None:
        """Find out which ladders the board has, except those of periods that are obsolete.

        The long part holds no lock, so that nobody waits for it.
        """
        generation = board.generation
        async with self._store.connection() as connection:
            dead = await self._dead_periods(connection, board, horizon)
            await connection.execute(
                statement("hold_ladders"),
                generation,
                entry_width(board.shape),
                dead,
                grace_seconds,
                timeout=COUNT_SECONDS_MAX,
            )
            async with connection.transaction():
                await connection.fetchval("SELECT lock_ladder_count($1)", generation)
                await connection.execute(statement("count_ladders"), generation)
        self.forget()

    async def _dead_periods(self, connection: Any, board: Board, horizon: int) -> list[int]:
        """The numbers of the periods that were neither retained at a time nor came after it."""
        periods = await connection.fetch(
            "SELECT number, name FROM names WHERE generation = $1 AND kind = 'p'",
            board.generation,
        )
        return [
            number
            for number, name in periods
            if not is_kept(board, period_ladder(board.id, name), horizon)
        ]

    async def counts(self) -> LadderCounts:
        """How many ladders there are."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT coalesce(sum(ladders), 0)::bigint, coalesce(max(ladders), 0)"
                " FROM scope_ladder_counts"
            )
        return LadderCounts(row[0], row[1])


def _users(wanted: Iterable[Need]) -> dict[ScopeLadder, int | None]:
    """Of each ladder the only player who needs it; None if there are several."""
    users: dict[ScopeLadder, int | None] = {}
    for player, ladders in wanted:
        for ladder in ladders:
            users[ladder] = player if users.get(ladder, player) == player else None
    return users


def _columns(ladders: Iterable[ScopeLadder]) -> tuple[list[int], list[str]]:
    pairs = list(ladders)
    return [period for period, _ in pairs], [scope for _, scope in pairs]
