"""Reading the orders of ladders in a cluster: from the cards, in one snapshot of PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from functools import partial
from typing import Final, overload

from toprung.domain.board import Board
from toprung.domain.events import PeriodName
from toprung.errors import UnknownBoard
from toprung.journals.postgres_gathering import Gathered, gather
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import LadderName, LadderOrder, OrderReader
from toprung.waiting.threads import in_thread

_EXISTS: Final = "SELECT EXISTS (SELECT FROM boards WHERE generation = $1)"


class _Numbers(Sequence[int]):
    """Numbers of players in the database, by those in a table."""

    def __init__(self, numbers: Sequence[int], players: memoryview) -> None:
        self._numbers = numbers
        self._players = players

    def __len__(self) -> int:
        return len(self._players)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, int):
            return self._numbers[self._players[index]]
        return [self._numbers[player] for player in self._players[index]]


class PostgresOrders:
    """The orders of ladders as the truth has them."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def orders(
        self, board: Board, periods: Collection[PeriodName]
    ) -> AsyncIterator[LadderOrder]:
        """Every ladder of the periods that has entries, all at one moment.

        O(n log n), in memory: about fifty bytes per entry.
        """
        async with self._store.connection() as connection:
            # Whatever has this position or less is committed, and so the snapshot has it.
            position = await connection.fetchval("SELECT settled_position()")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                if not await connection.fetchval(_EXISTS, board.generation):
                    raise UnknownBoard(f"board {board.id!r} was deleted meanwhile")
                gathered = await gather(self._store, connection, board, periods)
        for name in gathered.ladders:
            players, starts, words = await in_thread(partial(_ordered, gathered, name))
            yield LadderOrder(
                name,
                position,
                _Numbers(gathered.numbers, memoryview(players).cast("I")),
                starts,
                memoryview(words).cast("Q"),
            )


def _ordered(gathered: Gathered, name: LadderName) -> tuple[bytes, bytes, bytes]:
    return gathered.ordered(name).ordered()


_: type[OrderReader] = PostgresOrders
