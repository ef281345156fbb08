"""Comparing truth and index: samples that are repaired, and a verification of everything.

Both may run while scores are submitted: what differs is looked at again, a moment later and with
the card as it is then, and only what keeps differing is a difference.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import NamedTuple

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.ladder import Ladder, is_retained
from toprung.errors import NotReady
from toprung.ports import Clock, Index, JournalLine, Outbox, Shards
from toprung.service.rebuilder import Rebuilder, card_pages
from toprung.service.recount import Recount

DIFFERENCES_MAX = 1000
"""Differences that are named; more would help nobody."""

LOOKS = 8
LOOK_SECONDS = 0.05

_log = logging.getLogger("toprung")


class Reconciled(NamedTuple):
    """What a round of reconciling looked at and repaired."""

    looked_at: int
    repaired: int


class Reconciler:
    """Holds the index against the cards."""

    def __init__(
        self,
        outbox: Outbox,
        shards: Shards,
        index: Index,
        clock: Clock,
        rebuilder: Rebuilder,
        line: JournalLine,
    ) -> None:
        self._outbox = outbox
        self._shards = shards
        self._index = index
        self._clock = clock
        self._rebuilder = rebuilder
        self._line = line
        self.looked_at = 0
        """Players looked at so far."""
        self.repaired = 0
        """Players repaired so far."""

    async def reconcile(self, sample: int = 100, boards_max: int | None = None) -> Reconciled:
        """Look at some players of every board, or of some boards, and put right what differs.

        Boards that are being rebuilt are left out.
        """
        with self._line.held():
            return await self._reconcile(sample, boards_max)

    async def _reconcile(self, sample: int, boards_max: int | None) -> Reconciled:
        looked_at = repaired = 0
        generations = sorted(await self._outbox.versions())
        if boards_max is not None and len(generations) > boards_max:
            generations = random.sample(generations, boards_max)
        for generation in generations:
            board = (await self._outbox.boards_of([generation])).get(generation)
            with suppress(NotReady):  # it is being rebuilt, or begins to be meanwhile
                if board is not None and (await self._shards.state(generation)).ready:
                    found = await self._reconcile_board(board, sample)
                    looked_at += found.looked_at
                    repaired += found.repaired
        return Reconciled(looked_at, repaired)

    async def _reconcile_board(self, board: Board, sample: int) -> Reconciled:
        cards = await self._outbox.sample_cards(board.generation, sample)
        players = sorted({player for player, _ in await self._differing(board, cards)})
        self.looked_at += len(cards)
        if not players or not await self._repair(board, players):
            return Reconciled(len(cards), 0)
        _log.warning("board %r: %s players were repaired", board.id, len(players))
        self.repaired += len(players)
        return Reconciled(len(cards), len(players))

    async def _repair(self, board: Board, players: Sequence[str]) -> bool:
        """Put the players' cards once more; False when that is left to another process.

        If that is not enough, their ladders were let go of, by a clock that was believed and has
        come back. Then others are missing there as well: all cards are put once more.
        """
        wrong = await self._outbox.cards_by_id(board.generation, players)
        await self._shards.put(board, 0, wrong, force=True)
        if not any(ladder for _, ladder in await self._differing(board, wrong)):
            return True
        _log.warning("board %r lacks ladders that are retained: rebuilding it", board.id)
        if await self._rebuilder.rebuild(board, anew=True):
            return True
        _log.warning("board %r is being rebuilt by another process", board.id)
        return False

    async def verify(self) -> list[str]:
        """One line per difference, none when all is well: cards and index, events and cards."""
        with self._line.held():
            return await self._verify()

    async def _verify(self) -> list[str]:
        found: list[str] = []
        for board in await self._outbox.all_boards():
            found += await self._verify_board(board)
            if len(found) >= DIFFERENCES_MAX:
                return found[:DIFFERENCES_MAX]
        async with self._outbox.histories() as histories:
            recount = Recount(histories, self._clock.now())
            async with aclosing(recount.differences()) as lines:
                async for line in lines:
                    found.append(line)
                    if len(found) == DIFFERENCES_MAX:
                        break
        return found

    async def _verify_board(self, board: Board) -> list[str]:
        found: list[str] = []
        async for cards in card_pages(self._outbox, board):
            found += _lines(board, await self._differing(board, cards), "is not in the index")
        async for players in self._shards.players(board):
            known = await self._outbox.cards_by_id(board.generation, players)
            nobody = [card for card in known if not card.entries]
            found += _lines(board, await self._differing(board, nobody), "is not in the journal")
        for ladder, _ in await self._index.ladders(board.id):
            if is_retained(board, ladder, self._clock.now()):
                ghosts = await self._ghosts(board, ladder)
                name = "/".join(ladder[1:])
                found += _lines(board, [(player, name) for player in ghosts], "should not be there")
        return found

    async def _ghosts(self, board: Board, ladder: Ladder) -> list[str]:
        """Who is on a ladder, keeps being there, and should not be."""
        found = await self._shards.ghosts(board, ladder, remove=False)
        for look in range(LOOKS):
            if not found:
                break
            await asyncio.sleep(LOOK_SECONDS * look)
            again = set(await self._shards.ghosts(board, ladder, remove=False))
            found = [player for player in found if player in again]
        return found

    async def _differing(self, board: Board, cards: Sequence[Card]) -> list[tuple[str, str]]:
        """What keeps differing, although it is looked at again."""
        found = await self._shards.differing(board, cards)
        for look in range(LOOKS):
            if not found:
                break
            await asyncio.sleep(LOOK_SECONDS * look)
            players = list(dict.fromkeys(player for player, _ in found))
            cards = await self._outbox.cards_by_id(board.generation, players)
            found = await self._shards.differing(board, cards)
        return found


def _lines(board: Board, found: Sequence[tuple[str, str]], what: str) -> list[str]:
    return [
        f"ladder {board.id}/{ladder}: player {player!r} {what}"
        if ladder
        else f"board {board.id}: the card of player {player!r} differs from the journal"
        for player, ladder in found
    ]
