"""Whole ladders in a cluster, out of the cards of a board.

The index may be behind, and has no numbers of players. Cards are cut up by the native core a page
at a time, so that the event loop is held for less than a millisecond; each ladder is put in order
there, too, in a thread and without the GIL.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import Any, Final

from toprung._native import CardColumns, PlayerTable, RankedSet
from toprung.domain.board import Board
from toprung.domain.card import number_bytes, parse_period_name, parse_scopes_name
from toprung.domain.events import PeriodName
from toprung.domain.trust.restriction import is_hidden
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import LadderName
from toprung.waiting.pace import LongWork

CARDS_AT_ONCE: Final = 500
_CARDS: Final = (
    "SELECT c.player, p.id, c.entries FROM cards AS c JOIN players AS p ON p.number = c.player"
    " WHERE c.generation = $1 AND c.player > $2 AND p.number > $2 ORDER BY c.player LIMIT $3"
)
"""The second lower bound is one for PostgreSQL, which would read all players before it else."""


class Gathered:
    """The entries of some periods, in columns: about fifty bytes for each."""

    def __init__(self, board: Board, periods: dict[bytes, PeriodName]) -> None:
        self._shape = board.shape
        self._periods = periods
        self._columns = CardColumns(words=board.shape.words, periods=list(periods))
        self._stops: dict[LadderName, list[bytes]] = {}
        self.players = PlayerTable()
        self.numbers = array("q")
        """The players' numbers in the journal, by those in the table."""

    def add(self, rows: Collection[Any]) -> None:
        """Number, id and card of players; those who have an entry get the next numbers."""
        rows = list(rows)
        chosen = memoryview(self._columns.add([card for _, _, card in rows])).cast("I")
        found = rows if len(chosen) == len(rows) else [rows[at] for at in chosen]
        self.players.intern_many([player for _, player, _ in found])
        self.numbers.extend([number for number, _, _ in found])

    def name(self, scopes: dict[bytes, tuple[str, ...]]) -> None:
        """Say which scopes the numbers on cards stand for, once all are added.

        What restricted players have is left out.
        """
        for stop in self._columns.stops():
            named = scopes[stop[4:]]
            for scope in () if is_hidden(named[0]) else named:
                self._stops.setdefault((*self._periods[stop[:4]], scope), []).append(stop)

    @property
    def ladders(self) -> list[LadderName]:
        """Those that have an entry, in order."""
        return sorted(self._stops)

    def ordered(self, ladder: LadderName) -> RankedSet:
        """A ladder in its order. O(n log n), mostly without the GIL: for a thread."""
        shape = self._shape
        ranked = RankedSet(self.players, words=shape.words, order=shape.order, tied=shape.tied)
        ranked.build(*self._columns.gather(self._stops[ladder]))
        return ranked


async def gather(
    store: PostgresStore, connection: Any, board: Board, periods: Collection[PeriodName]
) -> Gathered:
    """All entries of some periods, in the snapshot of a transaction. O(cards of the board)."""
    # Names are at least as new as the cards: the snapshot was taken before.
    period_names, scope_names = await store.all_names(board.generation)
    wanted = {
        number_bytes(number): period
        for number, name in period_names.items()
        if (period := parse_period_name(name)) in periods
    }
    gathered, after = Gathered(board, wanted), 0
    while rows := await connection.fetch(_CARDS, board.generation, after, CARDS_AT_ONCE):
        async with LongWork():  # not around the query: others have long work, too
            gathered.add(rows)
        after = rows[-1][0]
    gathered.name({number_bytes(each): parse_scopes_name(n) for each, n in scope_names.items()})
    return gathered
