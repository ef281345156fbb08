"""Keeping the index in step with the journal, whatever happens to it.

Three ways lead from the journal to the index:

* the process that commits a batch applies its cards at once (`IndexFollower.apply`);
* what it could not apply stays unmarked in the outbox, and some process's `CatchUp` applies it;
* a shard that is not complete is rebuilt from the cards of its board, by one process at a time.

Cards are absolute and carry versions, so all of them may happen twice, at once and in any order.
A shard that tells of an older outbox id, or is served by another server, may have lost what
it knew (a replica took over): then everything the outbox still keeps for it is applied again.

There may be thousands of shards and there are few servers, so servers are what is looked at every
two seconds: one that was emptied or is another one now is known by its marker and its run id, and
its shards are looked at then. Whatever else can happen to a single shard is found by whoever reads
or writes it, who nudges, and by looking at some shards each time, so that all have their turn.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from toprung.domain.board import Board
from toprung.domain.health import HealthCheck
from toprung.errors import IndexUnavailable, NotReady, Unavailable
from toprung.ports import (
    Applied,
    CardChanges,
    CardSink,
    JournalLine,
    Outbox,
    OutboxRow,
    ShardReach,
    Shards,
    ShardState,
)
from toprung.service.rebuilder import Rebuilder
from toprung.waiting.tasks import end_task

ROWS_AT_ONCE = 100
POLL_SECONDS = 0.5
LOOK_SECONDS = 2.0
TELL_SECONDS = 60.0
REBUILD_SECONDS_MAX = 600.0
CHECKED_AT_ONCE = 4
CHECKED_TOGETHER = 100
BOARDS_PER_LOOK_MIN = 10
LOOKS_PER_ROUND = 300
"""In so many looks every board has its turn, in fewer where there are few boards."""

NOTICE_SECONDS = 3.0
"""How long a board may be incomplete before that is a fault: longer than from look to look."""

STALL_SECONDS = 60.0

_log = logging.getLogger("toprung")


class IndexFollower:
    """Brings what a journal commits to the index."""

    def __init__(self, shards: Shards, rebuilder: Rebuilder, nudge: Callable[[int], None]) -> None:
        """`nudge` is told the generations of boards that are not complete."""
        self._shards = shards
        self._rebuilder = rebuilder
        self._nudge = nudge

    async def apply(self, changes: CardChanges) -> Applied:
        """Apply changes, and tell the places that are asked for."""
        try:
            return Applied(True, await self._shards.move(changes))
        except NotReady:
            self._nudge(changes.board.generation)
        except Unavailable:  # the row stays unmarked until the index is back
            pass
        return Applied(False, {})

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
            self._nudge(board.generation)

    async def drop_board(self, board: Board) -> None:
        """The board was deleted."""
        with suppress(Unavailable):  # whoever buries the board does it again
            await self._shards.remove(board.generation)


class CatchUp:
    """A worker of each process: applies what was left behind, rebuilds what was lost."""

    def __init__(
        self,
        outbox: Outbox,
        shards: Shards,
        rebuilder: Rebuilder,
        line: JournalLine,
        on_complete: Callable[[], None],
    ) -> None:
        """`on_complete` is called when a board can be read again that could not be."""
        self._on_complete = on_complete
        self._outbox = outbox
        self._shards = shards
        self._rebuilder = rebuilder
        self._line = line
        self._known_line: str | None = None
        """The line that everything below is about."""
        self._former: set[str] = set()
        """Lines that have ended and whose shards may still be there."""
        line.on_move(self._hurry)
        self._wake = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._looked_at = self._told_at = -1e9
        self._moved_at = time.monotonic()
        self._away: set[int] = set()
        """Generations whose shards took no cards when last asked."""
        self._token = ""
        self._versions: dict[int, int] = {}
        """The boards there are: versions by generation."""
        self._rounds: Iterator[int] = iter(())
        """Boards that this round over all of them has not come to yet."""
        self._servers: dict[str, str] = {}
        """What each server was known by when it was last looked at."""
        self._suspects: set[int] = set()
        """Boards that something may have happened to, and that are looked at next."""
        self._incomplete: dict[int, float] = {}
        """Since when boards cannot be read, by generation."""
        self._behind: set[int] = set()
        """Generations whose shards have gone back: what is kept is to be applied to them."""
        self._cards_done = 0

    def start(self) -> None:
        """Begin to work in the background."""
        self._task = asyncio.create_task(self._run(), name="toprung-catch-up")

    def nudge(self, generation: int) -> None:
        """A board was found incomplete: look at it soon, and at the servers.

        One that is known to be is looked at anyway: it may have thousands of readers.
        """
        if generation not in self._incomplete:
            self._suspects.add(generation)
            self._looked_at = -1e9
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
                f"{missing} of {len(self._versions)} boards are being rebuilt" if missing else None,
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
        """Look once: now and then tell the others, then the index, then what was left behind."""
        with self._line.held():
            await self._step()

    async def _step(self) -> None:
        now = time.monotonic()
        if now - self._told_at >= TELL_SECONDS:
            self._told_at = now
            await self._outbox.tell()
        if now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            await self.look()
        self._away.clear()
        while await self._outbox.unmarked(ROWS_AT_ONCE, self._apply, [*self._away]) == ROWS_AT_ONCE:
            self._moved_at = time.monotonic()
        self._moved_at = time.monotonic()

    # --- looking ---------------------------------------------------------------------------------

    async def look(self) -> bool:
        """See whether anything was lost, and mend it; whether all that is known is complete.

        Asks the servers, not the boards: only those of a server that is another one or was emptied,
        those that are new or suspected, and a few more, so that each has its turn now and then.
        """
        with self._line.held():
            await self._learn_boards()
            away = await self._look_at_servers()
            return await self._go_over([*self._suspects, *self._next_boards()], away)

    async def sweep(self) -> bool:
        """See that every shard is complete and none has gone back; whether all are complete."""
        with self._line.held():
            await self._learn_boards()
            away = await self._look_at_servers()
            return await self._go_over(list(self._versions), away)

    async def _learn_boards(self) -> None:
        """Read which boards there are, if that has changed; what is new is looked at."""
        if self._known_line != self._line.of_work:
            await self._begin_line()
        if self._former:
            with suppress(IndexUnavailable):
                await self._clear_former()
        token = await self._outbox.boards_token()
        if token != self._token:
            versions = await self._outbox.versions()
            new = versions.items() - self._versions.items()
            self._suspects |= {generation for generation, _ in new}
            self._versions, self._token = versions, token
            self._incomplete = {g: at for g, at in self._incomplete.items() if g in versions}
            self._behind &= versions.keys()
        self._suspects &= self._versions.keys()

    def _hurry(self) -> None:
        """The line is another one: have everything told and looked at."""
        self._told_at = self._looked_at = -1e9
        self._wake.set()

    async def _begin_line(self) -> None:
        """Forget what was known of the boards of another line."""
        for known in (self._versions, self._incomplete, self._servers):
            known.clear()
        self._token, self._rounds = "", iter(())
        self._suspects.clear()
        self._behind.clear()
        self._former = await self._outbox.former_lines() | self._line.left
        self._known_line = self._line.of_work

    async def _clear_former(self) -> None:
        """Drop the shards of former lines; later, if a server is away or another process does it.

        Before others are filled: two indexes may be more than there is memory for.
        """
        async with self._outbox.alone(0) as alone:
            if not alone:
                return
            self._former &= await self._outbox.former_lines() | self._line.left
            for tag in sorted(self._former):
                keys = await self._shards.clear_line(tag)
                _log.info("dropped %s keys of the index of line %r, which has ended", keys, tag)
            await self._outbox.note_cleared(self._former)
        self._line.left -= self._former
        self._former.clear()

    async def _look_at_servers(self) -> IndexUnavailable | None:
        """Suspect the boards of servers that are others now, or have lost what they knew."""
        try:
            servers, away = await self._shards.servers()
        except IndexUnavailable as error:
            return error
        changed = {
            name for name, known_by in servers.items() if self._servers.get(name) != known_by
        }
        if changed:
            self._servers |= servers
            self._suspects |= {g for g in self._versions if self._shards.server(g) in changed}
        return away

    def _next_boards(self) -> list[int]:
        """The boards whose turn it is, although nothing is known against them."""
        count = max(BOARDS_PER_LOOK_MIN, -(-len(self._versions) // LOOKS_PER_ROUND))
        found = list(islice(self._rounds, count))
        if len(found) < count:
            self._rounds = iter(list(self._versions))
        return [generation for generation in found if generation in self._versions]

    async def _go_over(self, generations: Sequence[int], away: IndexUnavailable | None) -> bool:
        """Look at boards and at those known to lack something, and mend what can be mended.

        All are looked at before the first is rebuilt, so that `health` knows of every board that
        cannot be read. Boards on a server that is away do not keep the others waiting; what they
        raised is raised in the end.
        """
        chosen = dict.fromkeys([*generations, *self._incomplete, *self._behind])
        away = await self._check_shards(list(chosen)) or away
        broken = list(dict.fromkeys([*self._incomplete, *self._behind]))
        for at in range(0, len(broken), CHECKED_TOGETHER):
            boards = await self._outbox.boards_of(broken[at : at + CHECKED_TOGETHER])
            for board in boards.values():
                try:
                    await self._mend(board)
                except IndexUnavailable as error:
                    away = error
        if away is not None:
            raise away
        return not self._incomplete

    async def _check_shards(self, generations: Sequence[int]) -> IndexUnavailable | None:
        """Look at boards, some at a time; what those raised that cannot be reached."""
        away = None
        for at in range(0, len(generations), CHECKED_TOGETHER):
            some = generations[at : at + CHECKED_TOGETHER]
            away = await self._check_some(some) or away
            self._moved_at = time.monotonic()
        return away

    async def _check_some(self, generations: Sequence[int]) -> IndexUnavailable | None:
        """Note which boards can be read, and which shards have gone back."""
        known, away = await self._outbox.reached(generations), None
        further: dict[int, ShardReach] = {}
        for at in range(0, len(generations), CHECKED_AT_ONCE):
            some = generations[at : at + CHECKED_AT_ONCE]
            states = await asyncio.gather(*map(self._shards.state, some), return_exceptions=True)
            for generation, state in zip(some, states, strict=True):
                if isinstance(state, IndexUnavailable):
                    away = state
                elif isinstance(state, BaseException):
                    raise state
                elif self._note(generation, state, known.get(generation, ShardReach(0, ""))):
                    further[generation] = ShardReach(state.reached, state.server)
        if further:
            await self._outbox.note_reached(further)
        return away

    def _note(self, generation: int, state: ShardState, known: ShardReach) -> bool:
        """Note whether a board can be read and has gone back; whether it is further than known."""
        self._suspects.discard(generation)
        is_another = known.server and state.server != known.server
        if is_another or state.reached < known.outbox_id:
            self._behind.add(generation)
        if not state.ready:
            self._incomplete.setdefault(generation, time.monotonic())
            return False
        if self._incomplete.pop(generation, None) is not None:
            self._on_complete()
        if generation in self._behind:
            return False
        return known != (state.reached, state.server)

    # --- mending ---------------------------------------------------------------------------------

    async def _mend(self, board: Board) -> None:
        """Rebuild a board that is incomplete, and apply what is kept to one that has gone back."""
        generation = board.generation
        if generation in self._incomplete and not await self._rebuild(board):
            return
        if generation in self._behind:
            _log.warning("board %r: the index went back; applying what is kept", board.id)
            await self._apply_kept(board)
            state = await self._shards.state(generation)
            if state.reached < 0:  # it has gone back once more
                return
            self._behind.discard(generation)
            await self._outbox.note_reached({generation: ShardReach(state.reached, state.server)})
        away = await self._check_some([generation])
        if away is not None:
            raise away

    async def _rebuild(self, board: Board) -> bool:
        """Rebuild a board; the others that cannot be read are looked at meanwhile."""
        rebuilding = asyncio.create_task(self._rebuilder.rebuild(board))
        try:
            while not (await asyncio.wait([rebuilding], timeout=LOOK_SECONDS))[0]:
                if self._cards_done != self._rebuilder.cards_done:
                    self._cards_done = self._rebuilder.cards_done
                    self._moved_at = time.monotonic()
                await self._check_shards(list(self._incomplete))
            return rebuilding.result()
        finally:
            await end_task(rebuilding)

    async def _apply_kept(self, board: Board) -> None:
        """Apply everything that was kept when this began: what comes after has its own writer."""
        after, is_more = 0, True
        while is_more:
            rows = await self._outbox.kept(board.generation, after, ROWS_AT_ONCE)
            for row in rows:
                cards = await self._outbox.cards_of(row)
                await self._shards.put(board, row.outbox_id, cards, force=False)
                after = row.outbox_id
            is_more = len(rows) == ROWS_AT_ONCE

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
                        self.nudge(row.generation)
                    continue
            done.append(row.outbox_id)
        return done


_: type[CardSink] = IndexFollower
