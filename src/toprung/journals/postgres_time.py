"""The time of one process of a cluster.

Its clock is held against the time that passes in the database, and against the other processes'.
Each process tells the database now and then what its clock says. What may be destroyed is what was
obsolete by every clock, for an hour or longer of the database's time (`confirmed_time`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from contextlib import suppress
from typing import Any
from uuid import uuid4

from toprung.domain.events import FORMAT
from toprung.domain.instant import EARLIEST
from toprung.domain.timekeeping import (
    OFF_MAX,
    ClockState,
    Moment,
    Timekeeper,
    horizon_of,
    jump_text,
)
from toprung.errors import Closed, DatabaseDamaged, StorageFailed, TruthUnavailable
from toprung.journals.postgres_store import PostgresStore
from toprung.journals.timer import elapsed_of
from toprung.ports import Clock

_LAST = """
SELECT expected, passed_since(told_at), coalesce(confirmed_time(), 0)
FROM clocks ORDER BY told_at DESC LIMIT 1
"""
_LAST_RECORDED = "SELECT recorded_at FROM events ORDER BY position DESC LIMIT 1"

END_SECONDS = 1.0
"""How long closing waits for the database to hear of it."""

_log = logging.getLogger("toprung")


class PostgresTime:
    """Looks at the clock for one process."""

    def __init__(self, store: PostgresStore, clock: Clock, keeper: Timekeeper) -> None:
        self._store = store
        self._now, self._elapsed = clock.now, elapsed_of(clock)
        self.process = uuid4()
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        """For people."""
        self._keeper = keeper
        self._told = 0
        """Jumps that are in the log."""
        self._others: tuple[int, int, int] | None = None
        """The lowest and highest of the other processes' clocks, and when they said so."""
        self._disagreements = 0
        self._confirmed: int | None = None
        self._format = FORMAT
        """The highest format of events that processes may write."""
        self.forgotten = 0
        """Keys that were used up to this position are forgotten."""

    @classmethod
    async def open(cls, store: PostgresStore, clock: Clock) -> PostgresTime:
        """Find out what time it was, and tell what it is, and which events this process reads.

        DatabaseDamaged where others write events that it does not.
        """
        last, idle = await _last(store)
        keeper = Timekeeper(clock.now(), elapsed_of(clock)(), last, idle)
        time = cls(store, clock, keeper)
        await time.tell()
        if time._format > FORMAT:
            await time.end()
            raise DatabaseDamaged(
                f"a newer version of Toprung records events of format {time._format} here, this one"
                f" reads up to {FORMAT}: update this one"
            )
        return time

    # --- looking ---------------------------------------------------------------------------------

    def moment(self) -> Moment:
        """What time it is."""
        now, elapsed = self._now(), self._elapsed()
        confirmed = EARLIEST if self._confirmed is None else min(now, self._confirmed)
        lowest, _ = self._others_now(elapsed)
        moment = self._keeper.moment(now, elapsed, confirmed, lowest)
        if self._keeper.jumps != self._told:
            self._told = self._keeper.jumps
            _log.warning(jump_text(self._keeper.last_jump))
        return moment

    def state(self) -> ClockState:
        """How the clock fares: by itself, and beside the others'."""
        now = self.moment().now
        off = self._keeper.off or self._off_others(now)
        return ClockState(off / 1e6, self._keeper.jumps + self._disagreements)

    def _others_now(self, elapsed: int) -> tuple[int | None, int | None]:
        if self._others is None:
            return None, None
        lowest, highest, then = self._others
        return lowest + elapsed - then, highest + elapsed - then

    def _off_others(self, now: int) -> int:
        """How far the clock is from the one of another process that differs most; 0: not far."""
        others = self._others_now(self._elapsed())
        off = max((now - other for other in others if other is not None), key=abs, default=0)
        return off if abs(off) > OFF_MAX else 0

    # --- telling and hearing ---------------------------------------------------------------------

    async def tell(self, *, is_open: bool = True) -> None:
        """Tell the database what the clock says, and hear what is confirmed."""
        moment = self.moment()
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT * FROM tell_clock($1, $2, $3, $4, $5, $6)",
                self.process,
                self.name,
                moment.now,
                moment.expected,
                is_open,
                FORMAT,
            )
        self._confirmed, self.forgotten, lowest, highest, self._format = row
        disagreed = self._off_others(moment.now)
        self._others = None if lowest is None else (lowest, highest, moment.elapsed)
        off = self._off_others(moment.now)
        if off and not disagreed:
            self._disagreements += 1
            _log.warning(
                "the clock is %.0f s %s another process's: nothing is forgotten that the "
                "earlier of them still needs; check the time of both machines",
                abs(off) / 1e6,
                "ahead of" if off > 0 else "behind",
            )

    async def end(self) -> None:
        """Tell that this clock is used no more; a database that is away finds out by itself."""
        with suppress(TruthUnavailable, StorageFailed, Closed, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self.tell(is_open=False)

    async def horizon(self, connection: Any) -> int:
        """What was obsolete at this time may go; asked in the transaction that lets go of it."""
        confirmed: int | None = await connection.fetchval("SELECT confirmed_time()")
        if confirmed is None:
            return EARLIEST
        return horizon_of(min(confirmed, self._now()))


async def _last(store: PostgresStore) -> tuple[int | None, int | None]:
    """What the clock should have said when somebody last knew, and how long ago that was."""
    async with store.connection() as connection:
        row = await connection.fetchrow(_LAST)
        if row is None:
            return await connection.fetchval(_LAST_RECORDED), None
    expected, idle, confirmed = row
    # Where nobody stays for an hour, the expected time is at least what is confirmed.
    return (expected, max(0, idle)) if expected >= confirmed else (confirmed, None)
