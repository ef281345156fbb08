"""Comparing truth and index: samples that are repaired, and a verification of everything."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from toprung.domain.board import Board
from toprung.domain.card import card_ladders, number_bytes, parse_period_name, split_card
from toprung.ports import Clock, Index, Names, Outbox, Shards
from toprung.service.catchup import card_pages

DIFFERENCES_MAX = 1000
"""Differences that are named; more would help nobody."""


class Reconciled(NamedTuple):
    """What a round of reconciling looked at and repaired."""

    looked_at: int
    repaired: int


class Reconciler:
    """Holds the index against the cards."""

    def __init__(
        self, outbox: Outbox, shards: Shards, index: Index, names: Names, clock: Clock
    ) -> None:
        self._outbox = outbox
        self._shards = shards
        self._index = index
        self._names = names
        self._clock = clock
        self.repaired = 0
        """Players repaired so far."""

    async def reconcile(self, sample: int = 100) -> Reconciled:
        """Look at some players of every board, put right what differs."""
        looked_at = repaired = 0
        for board in await self._outbox.all_boards():
            cards = await self._outbox.sample_cards(board.generation, sample)
            differing = set(await self._shards.differing(board, cards))
            wrong = [card for card in cards if card.player in differing]
            if wrong:
                await self._shards.put(board, 0, wrong, force=True)
            looked_at += len(cards)
            repaired += len(wrong)
        self.repaired += repaired
        return Reconciled(looked_at, repaired)

    async def verify(self) -> list[str]:
        """One line per difference between cards and index; for a moment without writes."""
        found: list[str] = []
        for board in await self._outbox.all_boards():
            found += await self._verify_board(board)
            if len(found) >= DIFFERENCES_MAX:
                break
        return found[:DIFFERENCES_MAX]

    async def _verify_board(self, board: Board) -> list[str]:
        period_names, scope_names = await self._names.all_names(board.generation)
        periods = {number_bytes(number): name for number, name in period_names.items()}
        scopes = {number_bytes(number): name for number, name in scope_names.items()}
        alive = {number for number, name in periods.items() if self._is_retained(board, name)}
        expected: Counter[str] = Counter()
        found = []
        async for cards in card_pages(self._outbox, board):
            found += [
                f"board {board.id!r}: player {player!r} differs from the journal"
                for player in await self._shards.differing(board, cards)
            ]
            for card in cards:
                for number, entry in split_card(card.entries, board.shape).items():
                    if number in alive:
                        expected.update(card_ladders(entry, periods, scopes))
        sizes = {
            "/".join(ladder[1:]): size
            for ladder, size in await self._index.ladders(board.id)
            if self._is_retained(board, "/".join(ladder[1:3]))
        }
        found += [
            f"ladder {board.id}/{name}: {sizes.get(name, 0)} entries in the index, "
            f"{expected[name]} in the journal"
            for name in sorted(expected.keys() | sizes.keys())
            if expected[name] != sizes.get(name, 0)
        ]
        return found

    def _is_retained(self, board: Board, name: str) -> bool:
        window_name, period_id = parse_period_name(name)
        for window in board.windows:
            if window.name == window_name:
                calendar = board.calendar(window)
                period = calendar.period(period_id)
                return period is not None and calendar.is_retained(period, self._clock.now())
        return False
