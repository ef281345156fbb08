"""What a period holds after an amendment: its entries, read through it in slices."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from toprung._native import RankColumns
from toprung.domain.board import Board
from toprung.domain.player import GLOBAL
from toprung.ports import PeriodContents, PeriodRows

FIRST_ROWS: Final = 200
"""Places of everybody's ladder that are noted, whoever has them."""


class Row(NamedTuple):
    """An entry of a ladder."""

    number: int
    record: bytes
    id: bytes
    """Of the player; empty if it was erased."""


class Noted(NamedTuple):
    """An entry of everybody's ladder, with its rank."""

    player: str
    rank: int
    record: bytes


class WatchedContents:
    """Contents that note some entries while they are read.

    Those are the entries of some players on all ladders, and the first ones of everybody's ladder.
    """

    def __init__(self, contents: PeriodContents, board: Board, players: Collection[int]) -> None:
        self._contents = contents
        self._board = board
        self._players = frozenset(players)
        self.position = contents.position
        self.rows_of: dict[str, list[Row]] = {}
        """By scope: the entries of the players."""
        self.noted: dict[int, Noted] = {}
        """By number: those of everybody's ladder."""

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        return self._contents.ladders

    @property
    def size(self) -> int:
        """How many entries everybody's ladder has."""
        return dict(self.ladders).get(GLOBAL, 0)

    async def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first."""
        self.rows_of[scope] = []
        shape, offset = self._board.shape, 0
        ranks = RankColumns(tied=shape.tied, words=shape.words)
        async for rows in self._contents.rows(scope):
            columns = ranks.add(rows.records) if scope == GLOBAL else None
            is_first = columns is not None and offset < FIRST_ROWS
            if is_first or not self._players.isdisjoint(numbers_of(rows)):
                self._note(scope, rows, offset, columns)
            offset += len(rows)
            yield rows

    def _note(
        self, scope: str, rows: PeriodRows, offset: int, ranks: tuple[bytes, bytes] | None
    ) -> None:
        for at, row in enumerate(rows_of(rows)):
            is_named = row.number in self._players
            if is_named:
                self.rows_of[scope].append(row)
            if ranks is not None and (is_named or offset + at < FIRST_ROWS):
                rank = self._rank(offset + at, at, ranks)
                self.noted[row.number] = Noted(row.id.decode(), rank, row.record)

    def _rank(self, offset: int, at: int, ranks: tuple[bytes, bytes]) -> int:
        if self._board.ranking == "ordinal":
            return offset + 1
        column = ranks[0] if self._board.ranking == "competition" else ranks[1]
        return int(memoryview(column).cast("q")[at])


class AmendedContents:
    """Contents from which some entries are taken, and to which others are added."""

    def __init__(
        self,
        contents: PeriodContents,
        board: Board,
        taken: Mapping[str, Collection[Row]],
        added: Mapping[str, Collection[Row]],
    ) -> None:
        """`taken` and `added` are by scope."""
        self.position = contents.position
        self._contents = contents
        self._key_bytes = 8 * board.shape.order
        self._taken = {scope: {row.number for row in rows} for scope, rows in taken.items()}
        self._added = {scope: sorted(rows, key=self._point) for scope, rows in added.items()}

    def _point(self, row: Row) -> tuple[bytes, bytes]:
        """Where an entry stands in the order."""
        return row.record[: self._key_bytes], row.id

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        sizes = (
            (scope, size - len(self._taken.get(scope, ())) + len(self._added.get(scope, ())))
            for scope, size in self._contents.ladders
        )
        return [(scope, size) for scope, size in sizes if size]

    async def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first."""
        taken, waiting = self._taken.get(scope, set()), deque(self._added.get(scope, ()))
        async for rows in self._contents.rows(scope):
            if taken.isdisjoint(numbers_of(rows)) and not self._is_before(waiting, rows):
                yield rows
                continue
            kept = [row for row in rows_of(rows) if row.number not in taken]
            merged = self._merged(kept, waiting)
            if merged:
                yield packed_rows(merged)
        if waiting:
            yield packed_rows(list(waiting))

    def _is_before(self, waiting: deque[Row], rows: PeriodRows) -> bool:
        """Whether one that waits may come before one of the rows."""
        if not waiting or not rows.records:
            return False
        last = len(rows.records) - len(rows.records) // len(rows)
        return waiting[0].record[: self._key_bytes] <= rows.records[last:][: self._key_bytes]

    def _merged(self, rows: Sequence[Row], waiting: deque[Row]) -> list[Row]:
        """The rows, with those that wait and come before one of them.

        An erased player counts like the one before it.
        """
        merged: list[Row] = []
        key, player = b"", b""
        for row in rows:
            if row.record[: self._key_bytes] != key:
                key, player = row.record[: self._key_bytes], b""
            player = row.id or player
            while waiting and self._point(waiting[0]) < (key, player):
                merged.append(waiting.popleft())
            merged.append(row)
        return merged


def numbers_of(rows: PeriodRows) -> memoryview[int]:
    """The numbers of the players."""
    return memoryview(rows.numbers).cast("q")


def rows_of(rows: PeriodRows) -> list[Row]:
    """Rows, one by one."""
    numbers, width = numbers_of(rows), len(rows.records) // max(1, len(rows))
    offsets, text = memoryview(rows.ids[0]).cast("i"), rows.ids[1]
    return [
        Row(
            number,
            rows.records[at * width : (at + 1) * width],
            text[offsets[at] : offsets[at + 1]],
        )
        for at, number in enumerate(numbers)
    ]


def packed_rows(rows: Sequence[Row]) -> PeriodRows:
    """Rows in columns."""
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row.id))
    return PeriodRows.of(
        array("q", [row.number for row in rows]).tobytes(),
        b"".join(row.record for row in rows),
        offsets,
        b"".join(row.id for row in rows),
    )


_: tuple[type[PeriodContents], ...] = (WatchedContents, AmendedContents)
