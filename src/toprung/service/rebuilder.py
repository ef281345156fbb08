"""Deriving the shards of the index from the cards of their boards."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.errors import NotReady
from toprung.ports import CardChange, CardChanges, Index, JournalLine, Outbox, Shards

CARDS_PER_PAGE = 1_000

_log = logging.getLogger("toprung")


class Rebuilder:
    """Derives shards from cards."""

    def __init__(self, outbox: Outbox, shards: Shards, index: Index, line: JournalLine) -> None:
        self._outbox = outbox
        self._shards = shards
        self._index = index
        self._line = line
        self.cards_done = 0
        """How many cards the present rebuild has put: its progress."""

    async def rebuild(self, board: Board, *, anew: bool = False) -> bool:
        """Rebuild the board's shard unless it is complete; `anew` even then. False: another does.

        Raises Unavailable when the index or the truth cannot be reached.
        """
        with self._line.held():
            return await self._rebuild(board, anew)

    async def _rebuild(self, board: Board, anew: bool) -> bool:
        async with self._outbox.alone(board.generation) as alone:
            if not alone:
                return False
            current = await self._current(board)
            if current is None:
                return True
            self.cards_done = 0
            if (await self._shards.state(current.generation)).ready:
                if anew:
                    await self._put_anew(current)
                return True
            while not await self._derive(current):
                _log.warning("board %r was lost while it was rebuilt; once more", board.id)
            return True

    async def _current(self, board: Board) -> Board | None:
        """The board as it is now: its rules may have changed since somebody asked."""
        boards = await self._outbox.boards_of([board.generation])
        return boards.get(board.generation)

    async def _put_anew(self, board: Board) -> None:
        """Replace every card and every entry of a shard that is being read meanwhile."""
        await self._shards.expire(board, await self._outbox.horizon(), anew=True)
        async for cards in card_pages(self._outbox, board):
            await self._shards.put(board, 0, cards, force=True)
            self.cards_done += len(cards)
        async for players in self._shards.players(board):
            cards = await self._outbox.cards_by_id(board.generation, players)
            gone = [card for card in cards if not card.entries and not card.version]
            if gone:
                position = await self._outbox.position()
                empty = [card._replace(version=position) for card in gone]
                await self._shards.put(board, 0, empty, force=True)
        for ladder, _ in await self._index.ladders(board.id):
            await self._shards.ghosts(board, ladder, remove=True)

    async def _derive(self, board: Board) -> bool:
        token = await self._shards.begin_rebuild(board)
        told = time.monotonic()
        try:
            await self._shards.expire(board, await self._outbox.horizon(), anew=True)
            async for cards in card_pages(self._outbox, board):
                # Nothing is there yet, but for what has come in since: that is left as it is.
                new = [CardChange(card, Card(card.player, 0, b"")) for card in cards]
                await self._shards.move(CardChanges(0, board, new))
                self.cards_done += len(cards)
                if time.monotonic() - told > 1:
                    told = time.monotonic()
                    _log.info("rebuilding board %r: %s cards", board.id, self.cards_done)
        except NotReady:
            return False
        return await self._shards.finish_rebuild(board, token)


async def card_pages(outbox: Outbox, board: Board) -> AsyncIterator[list[Card]]:
    """All cards of a board, a page at a time; the next page is fetched meanwhile."""
    following = asyncio.ensure_future(outbox.cards_page(board.generation, 0, CARDS_PER_PAGE))
    try:
        while page := await following:
            following = asyncio.ensure_future(
                outbox.cards_page(board.generation, page[-1][0], CARDS_PER_PAGE)
            )
            yield [card for _, card in page]
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
