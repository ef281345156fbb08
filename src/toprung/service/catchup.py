"""Keeping the index in step with the journal, whatever happens to it.

Three ways lead from the journal to the index:

* the process that commits a batch applies its cards at once (`IndexFollower.apply`);
* what it could not apply stays unmarked in the outbox, and some process's `CatchUp` applies it;
* a shard that is not complete is rebuilt from the cards of its board, by one process at a time.

Cards are absolute and carry versions, so all of them may happen twice, at once and in any order.
A shard that tells of an older mark than before, or is served by another server, may have lost what
it knew (a replica took over): then everything the outbox still keeps for it is applied again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.health import HealthCheck
from toprung.domain.ladder import Ladder
from toprung.domain.ranking import Counts
from toprung.errors import NotReady, Unavailable
from toprung.pending import end_task
from toprung.ports import CardChanges, CardSink, Index, Outbox, OutboxRow, Shards

ROWS_AT_ONCE = 100
CARDS_PER_PAGE = 1_000
POLL_SECONDS = 0.5
SWEEP_SECONDS = 2.0
HOUSEKEEPING_SECONDS = 60.0
REBUILD_SECONDS_MAX = 600.0
NOTICE_SECONDS = 3.0
"""How long a board may be incomplete before that is a fault: longer than from sweep to sweep."""

STALL_SECONDS = 60.0

_log = logging.getLogger("toprung")


class Rebuilder:
    """Derives shards from cards."""

    def __init__(self, outbox: Outbox, shards: Shards, index: Index) -> None:
        self._outbox = outbox
        self._shards = shards
        self._index = index
        self.cards_done = 0
        """How many cards the present rebuild has put: its progress."""

    async def rebuild(self, board: Board, *, anew: bool = False) -> bool:
        """Rebuild the board's shard unless it is complete; `anew` even then. False: another does.

        Raises Unavailable when the index or the truth cannot be reached.
        """
        async with self._outbox.alone(board.generation) as alone:
            if not alone:
                return False
            current = await self._current(board)
            if current is None:
                return True
            self.cards_done = 0
            if (await self._shards.state(current)).ready:
                if anew:
                    await self._put_anew(current)
                return True
            while not await self._derive(current):
                _log.warning("board %r was lost while it was rebuilt; once more", board.id)
            return True

    async def _current(self, board: Board) -> Board | None:
        """The board as it is now: its rules may have changed since somebody asked."""
        boards = await self._outbox.all_boards()
        return next((b for b in boards if b.generation == board.generation), None)

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
                head = await self._outbox.position()
                empty = [card._replace(version=head) for card in gone]
                await self._shards.put(board, 0, empty, force=True)
        for ladder, _ in await self._index.ladders(board.id):
            await self._shards.ghosts(board, ladder, remove=True)

    async def _derive(self, board: Board) -> bool:
        token = await self._shards.begin_rebuild(board)
        told = time.monotonic()
        try:
            await self._shards.expire(board, await self._outbox.horizon(), anew=True)
            async for cards in card_pages(self._outbox, board):
                await self._shards.put(board, 0, cards, force=False)
                self.cards_done += len(cards)
                if time.monotonic() - told > 1:
                    told = time.monotonic()
                    _log.info("rebuilding board %r: %s cards", board.id, self.cards_done)
        except NotReady:
            return False
        return await self._shards.finish_rebuild(board, token)


class IndexFollower:
    """Brings what a journal commits to the index."""

    def __init__(
        self, index: Index, shards: Shards, rebuilder: Rebuilder, nudge: Callable[[], None]
    ) -> None:
        self._index = index
        self._shards = shards
        self._rebuilder = rebuilder
        self._nudge = nudge

    async def before(self, wanted: Sequence[tuple[Ladder, str]]) -> list[Counts | None]:
        """What lies before each player on its ladder at the moment, where that can be told."""
        try:
            places = await asyncio.gather(*(self._index.place(*each) for each in wanted))
        except Unavailable:
            return [None] * len(wanted)
        return [*places]

    async def apply(self, changes: Sequence[CardChanges]) -> list[int]:
        """Apply changes; the marks of those that were."""
        applied = []
        for mark, board, cards in changes:
            try:
                await self._shards.put(board, mark, cards, force=False)
            except Unavailable:
                self._nudge()
            else:
                applied.append(mark)
        return applied

    async def close_board(self, board: Board) -> None:
        """No reads until it is rebuilt: its ladders are about to change. May raise Unavailable."""
        await self._shards.begin_rebuild(board)

    async def rebuild_board(self, board: Board) -> None:
        """Derive the board's ladders from its cards; later, if that is impossible now."""
        deadline = time.monotonic() + REBUILD_SECONDS_MAX
        try:
            while not await self._rebuilder.rebuild(board):
                if time.monotonic() > deadline:
                    break
                await asyncio.sleep(0.02)
        except Unavailable as error:
            _log.warning("board %r will be rebuilt later: %s", board.id, error)
            self._nudge()

    async def drop_board(self, board: Board) -> None:
        """The board was deleted."""
        with suppress(Unavailable):  # then its keys are never read again, only in the way
            await self._shards.remove(board)


class CatchUp:
    """A worker of each process: applies what was left behind, rebuilds what was lost."""

    def __init__(self, outbox: Outbox, shards: Shards, rebuilder: Rebuilder) -> None:
        self._outbox = outbox
        self._shards = shards
        self._rebuilder = rebuilder
        self._wake = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._swept_at = self._housekept_at = -1e9
        self._moved_at = time.monotonic()
        self._incomplete: dict[int, float] = {}
        self._boards = 0
        self.is_ready = False
        """Whether every board was complete when last looked at."""

    def start(self) -> None:
        """Begin to work in the background."""
        self._task = asyncio.create_task(self._run(), name="toprung-catch-up")

    def nudge(self) -> None:
        """Something was left behind or found incomplete: look soon, and everywhere."""
        self._swept_at = -1e9
        self._wake.set()

    def health(self) -> list[HealthCheck]:
        """Whether every board can be read, and whether this worker gets on with it.

        A board that was created or changed just now is not complete for a moment; that is no fault.
        """
        now = time.monotonic()
        missing = sum(now - since > NOTICE_SECONDS for since in self._incomplete.values())
        still = now - self._moved_at
        return [
            HealthCheck(
                "boards",
                f"{missing} of {self._boards} boards are being rebuilt" if missing else None,
                ("reads",),
            ),
            HealthCheck(
                "catch-up",
                f"it has not moved for {still:.0f} seconds" if still > STALL_SECONDS else None,
                (),
            ),
        ]

    async def close(self) -> None:
        """Stop; what is under way is cut short, for it can always be done again."""
        self._closing = True
        await end_task(self._task)

    async def _run(self) -> None:
        while not self._closing:
            try:
                await self.step()
            except Unavailable as error:
                _log.info("catching up waits: %s", error)
                self._moved_at = time.monotonic()  # others tell of the outage
            except Exception:  # noqa: BLE001 -- the worker must outlive whatever this is
                _log.exception("catching up failed and will be tried again")
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake.wait()
            self._wake.clear()

    async def step(self) -> None:
        """Look once: shards first, then what was left behind, now and then the housekeeping."""
        now = time.monotonic()
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            await self.sweep()
        while await self._outbox.unmarked(ROWS_AT_ONCE, self._apply) == ROWS_AT_ONCE:
            self._moved_at = time.monotonic()
        if now - self._housekept_at >= HOUSEKEEPING_SECONDS:
            self._housekept_at = now
            await self._forget_erased()
            await self._expire()
            await self._outbox.housekeep()
        self._moved_at = time.monotonic()

    async def _forget_erased(self) -> None:
        """Nothing late can bring them back any more: drop the last traces of erased players."""
        boards = {board.generation: board for board in await self._outbox.all_boards()}
        for generation, players in await self._outbox.erased():
            if generation in boards:
                await self._shards.forget(boards[generation], players)

    async def _expire(self) -> None:
        """Drop ladders that are certainly obsolete."""
        horizon = await self._outbox.horizon()
        for board in await self._outbox.all_boards():
            await self._shards.expire(board, horizon)

    async def sweep(self) -> None:
        """See that every shard is complete and none has gone back."""
        ready = True
        try:
            boards = await self._outbox.all_boards()
            self._boards, known = len(boards), {board.generation for board in boards}
            self._incomplete = {g: at for g, at in self._incomplete.items() if g in known}
            for board in boards:
                ready = await self._check(board) and ready
        except Unavailable:
            ready = False
            raise
        finally:
            self.is_ready = ready

    async def _check(self, board: Board) -> bool:
        state = await self._shards.state(board)
        known_mark, known_server = await self._outbox.shard(board.generation)
        self._moved_at = time.monotonic()
        if not state.ready:
            self._incomplete.setdefault(board.generation, time.monotonic())
            if not await self._rebuilder.rebuild(board):
                return False
            state = await self._shards.state(board)
        if state.ready:
            self._incomplete.pop(board.generation, None)
        if state.mark < known_mark or (known_server and state.server != known_server):
            _log.warning("board %r: the index went back; applying what is kept", board.id)
            await self._apply_kept(board)
            state = await self._shards.state(board)
        await self._outbox.note_shard(board.generation, state.mark, state.server)
        return state.ready

    async def _apply_kept(self, board: Board) -> None:
        after = 0
        while rows := await self._outbox.kept(board.generation, after, ROWS_AT_ONCE):
            for row in rows:
                cards = await self._outbox.cards_of(row)
                await self._shards.put(board, row.mark, cards, force=False)
            after = rows[-1].mark

    async def _apply(self, rows: Sequence[OutboxRow]) -> list[int]:
        """Apply rows of the outbox; the marks of those that are done."""
        boards = {board.generation: board for board in await self._outbox.all_boards()}
        done = []
        for row in rows:
            board = boards.get(row.generation)
            if board is not None:
                try:
                    cards = await self._outbox.cards_of(row)
                    await self._shards.put(board, row.mark, cards, force=False)
                except NotReady:
                    self._swept_at = -1e9
                    continue
            done.append(row.mark)
        return done


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


_: type[CardSink] = IndexFollower
