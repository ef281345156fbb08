"""The time of an open file: its clock, and what the file knows of clocks it was used with before.

What is certain when the file is closed is written into it, so that the next start is not at the
mercy of one look at one clock.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress

import apsw
import msgspec

from toprung.domain.idempotency import KEY_LIFE
from toprung.domain.instant import SECOND
from toprung.domain.key_hours import KeyHours
from toprung.domain.timekeeping import (
    OFF_MAX,
    ClockState,
    LowestReading,
    Moment,
    Timekeeper,
    horizon_of,
    jump_text,
)
from toprung.journals.sqlite_events import SqliteEvents
from toprung.journals.sqlite_store import SqliteStore
from toprung.journals.timer import elapsed_of
from toprung.ports import Clock

KEPT_EVERY = 600 * 1_000_000
"""Microseconds after which the file is told the time again, while it is written to."""

_log = logging.getLogger("toprung")


class _Known(msgspec.Struct):
    """What the file knows of the time."""

    expected: int
    confirmed: int
    lowest: int
    off: int = 0
    """How far the clock was from the expected time."""
    let_go: int | None = None
    """What was obsolete then was not in memory any more; None in files of older versions."""
    hours: list[int] = []
    """The positions at which the last hours began."""


class SqliteTime:
    """Looks at the clock for one open file. Any thread may look."""

    def __init__(self, store: SqliteStore, clock: Clock, recorded: SqliteEvents) -> None:
        self._store = store
        self.position, last_recorded = recorded.last()
        """The position of the last event; kept up to date by the writer."""
        self._now, self._elapsed = clock.now, elapsed_of(clock)
        self._reading = threading.Lock()
        known = _read(store, last_recorded)
        now, elapsed = self._now(), self._elapsed()
        if known is None:
            known = _Known(now, now, now)
        self.let_go = horizon_of(known.confirmed) if known.let_go is None else known.let_go
        """What was obsolete then is not in memory."""
        self._hours = _hours_before(recorded, known, elapsed)
        self._hours.start(self.position, known.lowest, now)
        self._lowest = LowestReading(now, elapsed, known.confirmed, known.lowest)
        # Where nobody stays for an hour, the expected time is at least what is confirmed.
        expected = max(known.expected, self._lowest.note(now, elapsed))
        self._keeper = Timekeeper(now, elapsed, expected)
        self._kept_at, self._kept_off = elapsed, 0
        self._told = 0
        self.keep()

    def moment(self) -> Moment:
        """What time it is."""
        now, elapsed = self._now(), self._elapsed()
        with self._reading:
            self._hours.note(self.position, elapsed)
            moment = self._keeper.moment(now, elapsed, self._lowest.note(now, elapsed))
        if self._keeper.jumps != self._told:
            self._tell()
        return moment

    @property
    def forgotten(self) -> int:
        """Keys that were used up to this position are forgotten at the next start."""
        return self._hours.forgotten

    def state(self) -> ClockState:
        """How the clock fares, at this moment."""
        self.moment()
        return ClockState(self._keeper.off / 1e6, self._keeper.jumps)

    def keep_now_and_then(self, moment: Moment) -> None:
        """Write down what is certain, if that was not done for a while. In the writer thread."""
        is_news = bool(self._keeper.off) != bool(self._kept_off)
        if is_news or moment.elapsed - self._kept_at >= KEPT_EVERY:
            self.keep()

    def keep(self) -> None:
        """Write down what is certain; a file that cannot be written to does without."""
        moment = self.moment()
        self._kept_at, self._kept_off = moment.elapsed, self._keeper.off
        with self._reading:
            lowest, hours = self._lowest.lowest, self._hours.positions
        known = _Known(
            moment.expected, moment.confirmed, lowest, self._kept_off, self.let_go, hours
        )
        with suppress(apsw.Error):
            self._store.note("clock", msgspec.json.encode(known).decode())

    def _tell(self) -> None:
        with self._reading:
            self._told, jump = self._keeper.jumps, self._keeper.last_jump
        _log.warning(jump_text(jump))


def known_fault(text: str, now: int) -> str | None:
    """What a file's note of the time (`clock` in `meta`) says against this clock, if anything."""
    try:
        known = msgspec.json.decode(text, type=_Known)
    except msgspec.DecodeError:
        return None
    behind = known.expected - now
    if behind > OFF_MAX:
        return f"the clock is {behind / SECOND:.0f} s behind the time when the file was last used"
    if known.off > 0 and now >= known.expected + known.off - OFF_MAX:
        ahead = f"{known.off / SECOND:.0f} s ahead of the expected time"
        return f"the clock was {ahead} when the file was last used"
    return None


def _hours_before(recorded: SqliteEvents, known: _Known, elapsed: int) -> KeyHours:
    """The hours that the file knows; of an older one, what its clock makes of them."""
    if known.hours:
        return KeyHours(known.hours, elapsed)
    return KeyHours([], elapsed, recorded.position_at(known.confirmed - KEY_LIFE))


def _read(store: SqliteStore, last_recorded: int) -> _Known | None:
    """What the file knows; of an older one, when it was written to."""
    text = store.noted("clock")
    if text is not None:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(text, type=_Known)
    return _Known(last_recorded, last_recorded, last_recorded) if last_recorded else None
