"""What a batch of changed cards becomes for `lua/move.lua`: a few scripts of bounded work.

The journal knows which card each new one replaces. So what leaves ladders and what enters them is
found here, where there are processors to spare, and not on the server, which has one: a script
compares versions and is told the rest. Where the shard has another card, it does nothing and says
so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from toprung._native import CardMoves
from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.ports import AskedPlaces, CardChange, CardChanges, Moved

UNITS_PER_MOVE = 250
"""Members that are put or taken off, ladders that are noted (two each) and places that are counted
before no further card is begun: 3 to 10 ms of the server's time where a ladder has a million
entries. A card that takes more by itself is not moved but applied, which can be done in parts."""

CARD_BYTES_PER_MOVE = 256_000
"""Bytes of cards before no further one is sent along."""


class Move:
    """Cards that one script changes, and the places that it tells."""

    def __init__(self, board: Board, *, packs: bool) -> None:
        """`packs`: whether cards are packed."""
        self._board = board
        self._packs = packs
        self.changes: list[CardChange] = []
        self.asked: list[AskedPlaces] = []
        self._units = 0
        self._moves = CardMoves(words=board.shape.words, order=board.shape.order, packs=packs)

    @property
    def is_full(self) -> bool:
        """Whether no more should be added."""
        return self._units >= UNITS_PER_MOVE or self._moves.nbytes >= CARD_BYTES_PER_MOVE

    def add(self, change: CardChange) -> bool:
        """Note what a new card changes; False if that is more than there is room for."""
        (player, version, entries), before = change
        since, old = (0, b"") if before is None else before[1:]
        scopes, each = len(self._board.scopes), 2 if self._board.ranking == "dense" else 1
        room = (UNITS_PER_MOVE - self._units) // (scopes * each)
        fits, members, stops = self._moves.add(player, version, entries, since, old, room)
        if fits:
            self.changes.append(change)
            self._units += (members + 2 * stops) * scopes * each + 1
        return fits

    def ask(self, places: AskedPlaces) -> None:
        """Have the script tell places, too."""
        board = self._board
        by_member = board.ranking == "ordinal"
        counted = board.shape.order if by_member else board.shape.tied
        self._moves.ask(*places, counted, by_member)
        self.asked.append(places)
        self._units += len(places.periods)

    def arguments(self, outbox_id: int) -> list[Any]:
        """What the script is told."""
        board = self._board
        tied = 8 * board.shape.tied if board.ranking == "dense" else 0
        return [outbox_id, tied, board.ranking, *self._moves.arguments()]

    def places(self, counts: Sequence[int]) -> dict[tuple[str, tuple[bytes, ...]], list[Moved]]:
        """What the script has told of them: before, after and total of each."""
        found = {}
        moved = list(zip(counts[::3], counts[1::3], counts[2::3], strict=True))
        at = 0
        for player, periods, _, _ in self.asked:
            found[player, periods] = moved[at : at + len(periods)]
            at += len(periods)
        return found

    def part(self, stale: Sequence[int]) -> tuple[Move, list[Card]]:
        """The same without the players of some cards, which are told by number from 1 on.

        And the newest cards of those players, which are to be applied.
        """
        gone = {self.changes[number - 1].card.player for number in stale}
        rest = Move(self._board, packs=self._packs)
        apart: dict[str, Card] = {}
        for change in self.changes:
            player = change.card.player
            if player in gone or not rest.add(change):
                gone.add(player)
                apart[player] = change.card
        for places in self.asked:
            if places.player not in gone:
                rest.ask(places)
        return rest, list(apart.values())


def moves_of(changes: CardChanges, others: list[CardChange], *, packs: bool) -> Iterator[Move]:
    """The changes in pieces, each with the places that are asked of its players.

    What cannot be moved goes to `others`, and no places of its players are told.
    """
    asked: dict[str, list[AskedPlaces]] = {}
    for each in changes.asked:
        asked.setdefault(each.player, []).append(each)
    move = Move(changes.board, packs=packs)
    for change in changes.cards:
        places = asked.pop(change.card.player, ())
        is_added = change.before is not None and move.add(change)
        if change.before is not None and not is_added and move.changes:
            yield move
            move = Move(changes.board, packs=packs)
            is_added = move.add(change)
        if not is_added:
            others.append(change)
            continue
        for each in places:
            move.ask(each)
        if move.is_full:
            yield move
            move = Move(changes.board, packs=packs)
    for each in chain.from_iterable(asked.values()):
        move.ask(each)
        if move.is_full:
            yield move
            move = Move(changes.board, packs=packs)
    if move.changes or move.asked:
        yield move


def plain(version: int, entries: bytes) -> bytes:
    """A card as a shard keeps it that processes of older versions read, too."""
    return version.to_bytes(8) + entries
