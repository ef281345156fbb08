"""Reading whole ladders for snapshots in a cluster: from the cards, in one snapshot of PostgreSQL.

The index may be behind, and has no numbers of players. Entries are gathered as packed bytes, and
each ladder is put in order by the native core, in a thread.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any, Final, NamedTuple, overload

from toprung._native import PlayerTable, RankedSet
from toprung.domain.board import Board
from toprung.domain.card import (
    entry_record,
    entry_scopes,
    number_bytes,
    parse_period_name,
    parse_scopes_name,
    split_card,
)
from toprung.domain.events import PeriodName
from toprung.errors import UnknownBoard
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import LadderName, LadderOrder, OrderReader
from toprung.waiting.pace import LongWork

CARDS_AT_ONCE: Final = 500
_CARDS: Final = (
    "SELECT c.player, p.id, c.entries FROM cards AS c JOIN players AS p ON p.number = c.player"
    " WHERE c.generation = $1 AND c.player > $2 ORDER BY c.player LIMIT $3"
)


class _Entries(NamedTuple):
    """The entries of a ladder, in no order: numbers in the table, and records."""

    players: array[int]
    records: bytearray


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
        table, numbers = PlayerTable(), array("q")
        async with self._store.connection() as connection:
            # Whatever has this position or less is committed, and so the snapshot has it.
            position = await connection.fetchval("SELECT settled_position()")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                ladders = await self._read(connection, board, periods, (table, numbers))
        for name in sorted(ladders):
            entries = ladders.pop(name)
            players, starts, words = await asyncio.to_thread(_ordered, board, table, entries)
            yield LadderOrder(
                name,
                position,
                _Numbers(numbers, memoryview(players).cast("I")),
                starts,
                memoryview(words).cast("Q"),
            )

    async def _read(
        self,
        connection: Any,
        board: Board,
        periods: Collection[PeriodName],
        known: tuple[PlayerTable, array[int]],
    ) -> dict[LadderName, _Entries]:
        if not await connection.fetchval(
            "SELECT EXISTS (SELECT FROM boards WHERE generation = $1)", board.generation
        ):
            raise UnknownBoard(f"board {board.id!r} was deleted meanwhile")
        # Names are at least as new as the cards: the snapshot was taken before.
        period_names, scope_names = await self._store.all_names(board.generation)
        wanted = {
            number_bytes(number): period
            for number, name in period_names.items()
            if (period := parse_period_name(name)) in periods
        }
        scopes_of = {
            number_bytes(number): parse_scopes_name(name) for number, name in scope_names.items()
        }
        table, numbers = known
        ladders: dict[LadderName, _Entries] = {}
        after = 0
        async with LongWork() as work:
            while rows := await connection.fetch(_CARDS, board.generation, after, CARDS_AT_ONCE):
                for number, player, card in rows:
                    at: int | None = None
                    for each, entry in split_card(card, board.shape).items():
                        if each not in wanted:
                            continue
                        if at is None:
                            at = table.intern(player)
                            numbers.append(number)
                        for scope in scopes_of[entry_scopes(entry)]:
                            name = (*wanted[each], scope)
                            found = ladders.get(name)
                            if found is None:
                                found = ladders[name] = _Entries(array("I"), bytearray())
                            found.players.append(at)
                            found.records.extend(entry_record(entry))
                    if work.is_due():
                        await work.rest()
                after = rows[-1][0]
        return ladders


def _ordered(board: Board, table: PlayerTable, entries: _Entries) -> tuple[bytes, bytes, bytes]:
    shape = board.shape
    ranked = RankedSet(table, words=shape.words, order=shape.order, tied=shape.tied)
    ranked.build(entries.players, entries.records)
    return ranked.ordered()


_: type[OrderReader] = PostgresOrders
