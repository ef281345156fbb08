"""What a batch of changed cards becomes for `lua/move.lua`: a few scripts of bounded work.

The journal knows which card each new one replaces. So what leaves ladders and what enters them is
found here, where there are processors to spare, and not on the server, which has one: a script
compares versions and is told the rest. Where the shard has another card, it does nothing and says
so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from toprung._native import move_card, pack_card
from toprung.domain.board import Board
from toprung.domain.card import STOP_BYTES
from toprung.ports import AskedPlace, CardChange, CardChanges, Moved

UNITS_PER_MOVE = 1_000
"""Members that are put or taken off, and places that are counted, before no further card is begun:
about 5 ms of the server's time where a ladder has a million entries. A card that takes more by
itself is not moved but applied, which can be done in parts."""

UNITS_PER_LADDER = 2
"""What it takes to note that a ladder has changed, and to tell of it."""

CARD_BYTES_PER_MOVE = 256_000
"""Bytes of cards before no further one is sent along."""


class Move:
    """Cards that one script changes, and the places that it tells."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.changes: list[CardChange] = []
        self.asked: list[AskedPlace] = []
        self.units = 0
        self._bytes = 0
        self._stops: dict[bytes, tuple[list[bytes], list[bytes]]] = {}
        self._versions: dict[bytes, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether no more should be added."""
        return self.units >= UNITS_PER_MOVE or self._bytes >= CARD_BYTES_PER_MOVE

    def add(self, change: CardChange) -> bool:
        """Note what a new card changes; False if that is too much for a script."""
        shape, (card, before) = self._board.shape, change
        stops: dict[bytes, tuple[list[bytes], list[bytes]]] = {}
        old = b"" if before is None else before.entries
        id_bytes = card.player.encode()
        members = move_card(stops, id_bytes, old, card.entries, shape.words, shape.order)
        new = sum([stop not in self._stops for stop in stops])
        units = (members + UNITS_PER_LADDER * new) * len(self._board.scopes)
        if units > UNITS_PER_MOVE:
            return False
        for stop, (leave, enter) in stops.items():
            lists = self._stops.get(stop)
            if lists is None:
                self._stops[stop] = (leave, enter)
                self._versions[stop] = card.version
            else:
                lists[0].extend(leave)
                lists[1].extend(enter)
                self._versions[stop] = max(self._versions[stop], card.version)
        self.changes.append(change)
        self.units += units + 1
        self._bytes += len(card.entries)
        return True

    def ask(self, places: Iterable[AskedPlace]) -> None:
        """Have the script tell places, too."""
        for place in places:
            self.asked.append(place)
            self.units += 2

    def arguments(self, outbox_id: int, *, packs: bool) -> list[Any]:
        """What the script is told."""
        board, shape = self._board, self._board.shape
        tied = 8 * shape.tied if board.ranking == "dense" else 0
        found: list[Any] = [outbox_id, tied, board.ranking, len(self.changes), len(self._stops)]
        for (player, version, entries), before in self.changes:
            since = b"" if before is None or not before.version else before.version.to_bytes(7)
            kept = pack_card(entries, shape.words, version) if packs else plain(version, entries)
            found += (player, since, kept)
        for stop, (leave, enter) in self._stops.items():
            found += (stop, self._versions[stop], len(leave), len(enter), *leave)
            for member in enter:
                found += (b"0", member)
        for place in self.asked:
            found += (
                place.period,
                self._point(place, place.before),
                self._point(place, place.after),
            )
        return found

    def _point(self, place: AskedPlace, entry: bytes | None) -> bytes:
        """What is counted up to: the member itself, or all that are better than its result."""
        if entry is None:
            return b""
        shape = self._board.shape
        if self._board.ranking == "ordinal":
            return entry[STOP_BYTES : STOP_BYTES + 8 * shape.order] + place.player.encode()
        return entry[STOP_BYTES : STOP_BYTES + 8 * shape.tied]

    def places(self, counts: Sequence[int]) -> dict[tuple[str, bytes], Moved]:
        """What the script has told of them: before, after and total of each."""
        return {
            (place.player, place.period): Moved(
                None if before < 0 else before, None if after < 0 else after, total
            )
            for place, before, after, total in zip(
                self.asked, counts[::3], counts[1::3], counts[2::3], strict=True
            )
        }

    def without(self, stale: Sequence[int]) -> Move:
        """The same without some of the cards, by their numbers from 1 on, and their players."""
        gone = {self.changes[number - 1].card.player for number in stale}
        rest = Move(self._board)
        for change in self.changes:
            if change.card.player not in gone:
                rest.add(change)
        rest.ask(place for place in self.asked if place.player not in gone)
        return rest


def moves_of(changes: CardChanges, too_large: list[CardChange]) -> Iterator[Move]:
    """The changes in pieces, each with the places that are asked of its players.

    What cannot be moved goes to `too_large`, and no places of its players are told.
    """
    asked: dict[str, list[AskedPlace]] = {}
    for place in changes.asked:
        asked.setdefault(place.player, []).append(place)
    move = Move(changes.board)
    for change in changes.cards:
        places = asked.pop(change.card.player, ())
        if change.before is None or not move.add(change):
            too_large.append(change)
            continue
        move.ask(places)
        if move.is_full:
            yield move
            move = Move(changes.board)
    for places in asked.values():
        move.ask(places)
        if move.is_full:
            yield move
            move = Move(changes.board)
    if move.changes or move.asked:
        yield move


def plain(version: int, entries: bytes) -> bytes:
    """A card as a shard keeps it that processes of older versions read, too."""
    return version.to_bytes(8) + entries
