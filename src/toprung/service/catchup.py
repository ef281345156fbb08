"""Keeping the index in step with the journal, whatever happens to it.

Three ways lead from the journal to the index:

* the process that commits a batch applies its cards at once (`IndexFollower.apply`);
* what it could not apply stays unmarked in the outbox, and some process's `CatchUp` applies it;
* a shard that is not complete is rebuilt from the cards of its board, by one process at a time.

Cards are absolute and carry versions, so all of them may happen twice, at once and in any order.
A shard that tells of an older outbox id, or is served by another server, may have lost what
it knew (a replica took over): then everything the outbox still keeps for it is applied again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from toprung.domain.board import Board
from toprung.domain.health import HealthCheck
from toprung.domain.ladder import Ladder
from toprung.domain.ranking import Counts
from toprung.errors import IndexUnavailable, NotReady, Unavailable
from toprung.ports import CardChanges, CardSink, Index, Outbox, OutboxRow, Shards
from toprung.service.rebuilder import Rebuilder
from toprung.waiting.tasks import end_task

ROWS_AT_ONCE = 100
POLL_SECONDS = 0.5
SWEEP_SECONDS = 2.0
HOUSEKEEPING_SECONDS = 60.0
REBUILD_SECONDS_MAX = 600.0
CHECKED_AT_ONCE = 4
NOTICE_SECONDS = 3.0
"""How long a board may be incomplete before that is a fault: longer than from sweep to sweep."""

STALL_SECONDS = 60.0

_log = logging.getLogger("toprung")


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
        """Apply changes; the ids of those that were."""
        applied = []
        for outbox_id, board, cards in changes:
            try:
                await self._shards.put(board, outbox_id, cards, force=False)
            except Unavailable:
                self._nudge()
            else:
                applied.append(outbox_id)
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
        self._away: set[int] = set()
        """Generations whose shards took no cards when last asked."""
        self._incomplete: dict[int, float] = {}
        """Since when boards cannot be read, by generation."""
        self._behind: set[int] = set()
        """Generations whose shards have gone back: what is kept is to be applied to them."""
        self._boards = 0
        self._cards_done = 0

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
        """Look once: now and then the housekeeping, then shards, then what was left behind.

        The housekeeping comes first because the truth's does not need the index.
        """
        now = time.monotonic()
        if now - self._housekept_at >= HOUSEKEEPING_SECONDS:
            self._housekept_at = now
            await self._housekeep()
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            await self.sweep()
        self._away.clear()
        while await self._outbox.unmarked(ROWS_AT_ONCE, self._apply, [*self._away]) == ROWS_AT_ONCE:
            self._moved_at = time.monotonic()
        self._moved_at = time.monotonic()

    async def _housekeep(self) -> None:
        """Drop what is obsolete; the index's part waits where a server of it is away."""
        await self._outbox.housekeep()
        await self._expire()
        await self._forget_erased()

    async def _expire(self) -> None:
        """Drop ladders that are certainly obsolete."""
        horizon = await self._outbox.horizon()
        for board in await self._outbox.all_boards():
            with suppress(IndexUnavailable):
                await self._shards.expire(board, horizon)

    async def _forget_erased(self) -> None:
        """Nothing late can bring them back any more: drop the last traces of erased players."""
        erased = await self._outbox.erased()
        boards = await self._outbox.boards_of({generation for _, generation, _ in erased})
        forgotten = []
        for outbox_id, generation, players in erased:
            with suppress(IndexUnavailable, NotReady):
                if generation in boards:
                    await self._shards.forget(boards[generation], players)
                forgotten.append(outbox_id)
        await self._outbox.drop_erased(forgotten)

    async def sweep(self) -> bool:
        """See that every shard is complete and none has gone back; whether all are complete.

        All are looked at before the first is rebuilt, so that `health` knows of every board that
        cannot be read. Boards on a server that is away do not keep the others waiting; what they
        raised is raised in the end.
        """
        boards = await self._outbox.all_boards()
        self._boards, known = len(boards), {board.generation for board in boards}
        self._incomplete = {g: at for g, at in self._incomplete.items() if g in known}
        self._behind &= known
        away = await self._check_shards(boards)
        for board in boards:
            if board.generation in self._incomplete or board.generation in self._behind:
                try:
                    await self._mend(board)
                except IndexUnavailable as error:
                    away = error
        if away is not None:
            raise away
        return not self._incomplete

    async def _check_shards(self, boards: Sequence[Board]) -> IndexUnavailable | None:
        """Look at boards, some at a time; what those raised that cannot be reached."""
        away = None
        for at in range(0, len(boards), CHECKED_AT_ONCE):
            checks = map(self._check_shard, boards[at : at + CHECKED_AT_ONCE])
            for error in await asyncio.gather(*checks, return_exceptions=True):
                if isinstance(error, IndexUnavailable):
                    away = error
                elif error is not None:
                    raise error
            self._moved_at = time.monotonic()
        return away

    async def _check_shard(self, board: Board) -> None:
        """Note whether a board can be read, and whether its shard has gone back."""
        state = await self._shards.state(board)
        known_reached, known_server = await self._outbox.shard(board.generation)
        if state.reached < known_reached or (known_server and state.server != known_server):
            self._behind.add(board.generation)
        if not state.ready:
            self._incomplete.setdefault(board.generation, time.monotonic())
            return
        self._incomplete.pop(board.generation, None)
        if board.generation not in self._behind:
            await self._outbox.note_shard(board.generation, state.reached, state.server)

    async def _mend(self, board: Board) -> None:
        """Rebuild a board that is incomplete, and apply what is kept to one that has gone back."""
        if board.generation in self._incomplete and not await self._rebuild(board):
            return
        if board.generation in self._behind:
            _log.warning("board %r: the index went back; applying what is kept", board.id)
            await self._apply_kept(board)
            state = await self._shards.state(board)
            if state.reached < 0:  # it has gone back once more
                return
            self._behind.discard(board.generation)
            await self._outbox.note_shard(board.generation, state.reached, state.server)
        await self._check_shard(board)

    async def _rebuild(self, board: Board) -> bool:
        """Rebuild a board; the others that cannot be read are looked at meanwhile."""
        rebuilding = asyncio.create_task(self._rebuilder.rebuild(board))
        try:
            while not (await asyncio.wait([rebuilding], timeout=SWEEP_SECONDS))[0]:
                if self._cards_done != self._rebuilder.cards_done:
                    self._cards_done = self._rebuilder.cards_done
                    self._moved_at = time.monotonic()
                boards = await self._outbox.boards_of(self._incomplete)
                await self._check_shards(list(boards.values()))
            return rebuilding.result()
        finally:
            await end_task(rebuilding)

    async def _apply_kept(self, board: Board) -> None:
        after = 0
        while rows := await self._outbox.kept(board.generation, after, ROWS_AT_ONCE):
            for row in rows:
                cards = await self._outbox.cards_of(row)
                await self._shards.put(board, row.outbox_id, cards, force=False)
            after = rows[-1].outbox_id

    async def _apply(self, rows: Sequence[OutboxRow]) -> list[int]:
        """Apply rows of the outbox; the ids of those that are done.

        Boards that take no cards at the moment are left out from then on: there may be more rows
        of theirs than are looked at at a time.
        """
        boards = await self._outbox.boards_of({row.generation for row in rows})
        done = []
        for row in rows:
            if row.generation in self._away:
                continue
            board = boards.get(row.generation)
            if board is not None:
                cards = await self._outbox.cards_of(row)
                try:
                    await self._shards.put(board, row.outbox_id, cards, force=False)
                except (NotReady, IndexUnavailable) as error:
                    self._away.add(row.generation)
                    if isinstance(error, NotReady):
                        self._swept_at = -1e9
                    continue
            done.append(row.outbox_id)
        return done


_: type[CardSink] = IndexFollower
