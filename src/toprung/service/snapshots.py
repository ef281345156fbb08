"""Taking snapshots: which are due, and from an order to what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from toprung.domain.board import Board
from toprung.domain.history import HistoryRule, boundary, open_periods
from toprung.domain.snapshots import Part, parts_of
from toprung.domain.timekeeping import Moment
from toprung.errors import UnknownBoard
from toprung.ports import (
    Journal,
    KeptLadder,
    LadderOrder,
    Lease,
    Leases,
    OrderReader,
    Snapshot,
    SnapshotStore,
)
from toprung.service.holding import holding
from toprung.waiting.pace import LongWork, next_round

BOARDS_AT_ONCE: Final = 100
WRITTEN_BYTES: Final = 256 * 1024
LADDERS_WRITTEN: Final = 500
"""That are written in one commit, for which submissions wait."""
JOBS: Final = "jobs"
"""The lease that snapshots are taken under."""


class Snapshots:
    """Takes the snapshots of boards, and lets go of old ones."""

    def __init__(
        self,
        journal: Journal,
        reader: OrderReader,
        store: SnapshotStore,
        leases: Leases,
        moment: Callable[[], Moment],
    ) -> None:
        self._journal = journal
        self._reader = reader
        self._store = store
        self._leases = leases
        self._moment = moment

    async def take_all(self) -> int:
        """Take whatever is due, on all boards; how many. None if another process does that."""
        lease = await self._leases.take(JOBS)
        if lease is None:
            return 0
        work = self._take_all(lease)
        return await (holding(lease, work, self._leases.take) if self._leases.is_shared else work)

    async def _take_all(self, lease: Lease) -> int:
        taken, after = 0, ""
        await self.forget(lease)
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                if board.history is not None:
                    taken += (await self.take_due(lease, board))[0]
            await next_round()
        return taken

    async def take_due(self, lease: Lease, board: Board) -> tuple[bool, float]:
        """Take the snapshot of the newest boundary, unless there is one.

        Tells whether it was taken, and when the next is due.
        """
        rule = board.history
        if rule is None:
            return False, inf
        now = self._moment().believed
        due = boundary(rule, board.timezone, now)
        assert due.opens_at is not None
        assert due.closes_at is not None
        kept = await self._store.all(board.generation)
        is_missing = all(each.boundary != due.opens_at for each in kept)
        is_taken = is_missing and await self._take(
            lease, board, Snapshot(0, due.opens_at, due.id, now)
        )
        if is_taken:
            kept = await self._store.all(board.generation)
        await self._prune(lease, board, rule, kept)
        return is_taken, due.closes_at

    async def forget(self, lease: Lease) -> int:
        """Remove the snapshots of boards that are gone or keep none; of how many boards."""
        generations = await self._store.generations()
        after = ""
        while generations and (boards := await self._journal.boards(after, BOARDS_AT_ONCE)):
            after = boards[-1].id
            generations -= {each.generation for each in boards if each.history is not None}
            await next_round()
        for generation in generations:
            kept = await self._store.all(generation)
            await self._store.drop(lease, generation, [each.boundary for each in kept])
            await self._store.clear(lease, generation)
        return len(generations)

    async def _take(self, lease: Lease, board: Board, snapshot: Snapshot) -> bool:
        """Keep the order of every ladder; whether the snapshot is there now, by this."""
        await self._store.clear(lease, board.generation)  # what somebody left behind who was killed
        calendars = [(window.name, board.calendar(window)) for window in board.windows]
        periods = set(open_periods(calendars, snapshot.taken_at))
        writing = _Writing(self._store, lease, board, snapshot.boundary)
        try:
            async for order in self._reader.orders(board, periods):
                await writing.add(order)
        except UnknownBoard:  # the next look finds out
            return False
        await writing.flush()
        return await self._store.finish(lease, board.generation, snapshot, writing.ladders)

    async def _prune(
        self, lease: Lease, board: Board, rule: HistoryRule, kept: list[Snapshot]
    ) -> None:
        old = [each.boundary for each in kept[rule.keep :]]
        if old:
            await self._store.drop(lease, board.generation, old)
            await self._store.clear(lease, board.generation)


class _Writing:
    """Ladders on their way into the store, several parts at a time."""

    def __init__(self, store: SnapshotStore, lease: Lease, board: Board, boundary: int) -> None:
        self._store = store
        self._lease = lease
        self._key = board.generation, boundary
        self._descending = board.order == "desc"
        self._waiting: list[KeptLadder] = []
        self._parts: list[tuple[int, Part]] = []
        self._bytes = 0
        self.ladders = 0
        """How many were added."""

    async def add(self, order: LadderOrder) -> None:
        """Keep a ladder."""
        index, self.ladders = self.ladders, self.ladders + 1
        self._waiting.append(KeptLadder(index, *order.name, len(order.numbers), order.position))
        steps = parts_of(order.numbers, order.starts, order.words, descending=self._descending)
        is_over = False
        while not is_over:
            is_over = await self._encode(index, steps)
            if self._bytes >= WRITTEN_BYTES or len(self._waiting) >= LADDERS_WRITTEN:
                await self.flush()

    async def _encode(self, index: int, steps: Iterator[Part | None]) -> bool:
        """Encode parts, until there are enough to be written; whether it was all."""
        async with LongWork() as work:
            for part in steps:
                if part is not None:
                    self._parts.append((index, part))
                    self._bytes += len(part.body)
                    if self._bytes >= WRITTEN_BYTES:
                        return False
                if work.is_due():
                    await work.rest()
        return True

    async def flush(self) -> None:
        """Write what is waiting."""
        ladders, parts = self._waiting, self._parts
        self._waiting, self._parts, self._bytes = [], [], 0
        if ladders or parts:
            await self._store.write(self._lease, self._key, ladders, parts)
