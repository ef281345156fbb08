"""What a batch of changed cards becomes for `lua/move.lua`: a few scripts of bounded work.

The journal knows which card each new one replaces. So what leaves ladders and what enters them is
found here, where there are processors to spare, and not on the server, which has one: a script
compares versions and is told the rest. Where the shard has another card, it does nothing and says
so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from toprung._native import CardMoves
from toprung.domain.board import Board
from toprung.domain.card import STOP_BYTES, Card
from toprung.ports import AskedPlace, CardChange, CardChanges, Moved

UNITS_PER_MOVE = 1_000
"""Members that are put or taken off, ladders that are noted (two each) and places that are counted
before no further card is begun: about 5 ms of the server's time where a ladder has a million
entries. A card that takes more by itself is not moved but applied, which can be done in parts."""

CARD_BYTES_PER_MOVE = 256_000
"""Bytes of cards before no further one is sent along."""

NOWHERE = b"\0\0", b""
"""An empty text: there is no entry."""


class Move:
    """Cards that one script changes, and the places that it tells."""

    def __init__(self, board: Board, *, packs: bool) -> None:
        """`packs`: whether cards are packed."""
        self._board = board
        self._packs = packs
        self.changes: list[CardChange] = []
        self.asked: list[AskedPlace] = []
        self._units = 0
        self._moves = CardMoves(words=board.shape.words, order=board.shape.order, packs=packs)

    @property
    def is_full(self) -> bool:
        """Whether no more should be added."""
        return self._units >= UNITS_PER_MOVE or self._moves.nbytes >= CARD_BYTES_PER_MOVE

    def add(self, change: CardChange) -> bool:
        """Note what a new card changes; False if that is too much for a script."""
        (player, version, entries), before = change
        since, old = (0, b"") if before is None else before[1:]
        scopes = len(self._board.scopes)
        fits, members, stops = self._moves.add(
            player, version, entries, since, old, UNITS_PER_MOVE // scopes
        )
        if fits:
            self.changes.append(change)
            self._units += (members + 2 * stops) * scopes + 1
        return fits

    def ask(self, places: Iterable[AskedPlace]) -> None:
        """Have the script tell places, too."""
        for place in places:
            self.asked.append(place)
            self._units += 2

    def arguments(self, outbox_id: int) -> list[Any]:
        """What the script is told."""
        board = self._board
        tied = 8 * board.shape.tied if board.ranking == "dense" else 0
        cards, *stops = self._moves.arguments()
        places = b"".join(
            [
                text
                for place in self.asked
                for text in (place.period, *self._point(place.before, place.player),
                             *self._point(place.after, place.player))
            ]
        )  # fmt: skip
        return [outbox_id, tied, board.ranking, cards, places, *stops]

    def _point(self, entry: bytes | None, player: str) -> tuple[bytes, bytes]:
        """What is counted up to: the member itself, or all that are better than its result."""
        if entry is None:
            return NOWHERE
        shape = self._board.shape
        if self._board.ranking == "ordinal":
            point = entry[STOP_BYTES : STOP_BYTES + 8 * shape.order] + player.encode()
        else:
            point = entry[STOP_BYTES : STOP_BYTES + 8 * shape.tied]
        return len(point).to_bytes(2), point

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

    def part(self, stale: Sequence[int]) -> tuple[Move, list[Card]]:
        """The same without the players of some cards, which are told by number from 1 on.

        And the newest cards of those players, which are to be applied.
        """
        gone = {self.changes[number - 1].card.player for number in stale}
        rest = Move(self._board, packs=self._packs)
        apart: dict[str, Card] = {}
        for change in self.changes:
            if change.card.player in gone:
                apart[change.card.player] = change.card
            else:
                rest.add(change)
        rest.ask(place for place in self.asked if place.player not in gone)
        return rest, list(apart.values())


def moves_of(changes: CardChanges, others: list[CardChange], *, packs: bool) -> Iterator[Move]:
    """The changes in pieces, each with the places that are asked of its players.

    What cannot be moved goes to `others`, and no places of its players are told.
    """
    asked: dict[str, list[AskedPlace]] = {}
    for place in changes.asked:
        asked.setdefault(place.player, []).append(place)
    move = Move(changes.board, packs=packs)
    for change in changes.cards:
        places = asked.pop(change.card.player, ())
        if change.before is None or not move.add(change):
            others.append(change)
            continue
        move.ask(places)
        if move.is_full:
            yield move
            move = Move(changes.board, packs=packs)
    for places in asked.values():
        move.ask(places)
        if move.is_full:
            yield move
            move = Move(changes.board, packs=packs)
    if move.changes or move.asked:
        yield move


def plain(version: int, entries: bytes) -> bytes:
    """A card as a shard keeps it that processes of older versions read, too."""
    return version.to_bytes(8) + entries
