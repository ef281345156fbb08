"""Keeping time with a clock that may be wrong: what it says, what it should say, what is certain.

Answers follow the clock at hand, for they can be given again. What cannot be taken back goes by
two other times:

* The *expected* time is what the clock should say, going by the time that has passed since it was
  believed. A clock that says something else has jumped. It is believed again when it is back, or
  when it has kept its new time for an hour.
* The *confirmed* time is the lowest that the clock has said within the last hour or two. What it
  makes obsolete was obsolete at every look, and the looks lie at least an hour apart.

Nothing here reads a clock. `elapsed` is time that was measured without one (microseconds from any
beginning): by the machine's monotonic timer, or by a test.
"""

from __future__ import annotations

from typing import NamedTuple

from toprung.domain.instant import DAY, EARLIEST, SECOND

OFF_MAX = 60 * SECOND
"""How far (microseconds) a clock may be off the expected time before that is a jump."""

LENIENT_MAX = DAY
"""How far (microseconds) an earlier clock of somebody else may be off to be heeded for late scores.

One in 1970 would have all others accept scores of any past period."""

CONFIRMING = 3600 * SECOND
"""How long (microseconds) a clock must keep a time before what it makes obsolete is destroyed."""


class Moment(NamedTuple):
    """One look at the clock."""

    now: int
    """What it says: which periods are current, and what is late."""
    expected: int
    """What it should say; the same as `now` unless it has jumped."""
    confirmed: int
    """What may be destroyed is what was obsolete then."""
    elapsed: int
    """The time that has passed, from any beginning."""
    recorded_at: int
    """What events say: `now`, or what it should be while the clock has jumped."""
    lenient: int
    """What was retained then takes late scores: clocks are put back a little now and then."""

    @property
    def cautious(self) -> int:
        """The earlier of both times: what is retained by either of them is retained."""
        return min(self.now, self.expected)

    @property
    def believed(self) -> int:
        """What is late is late by this time: `now`, unless the clock has jumped.

        A clock that is ahead at the start, as after a pause, is believed, unlike in `cautious`.
        """
        return self.lenient + OFF_MAX

    @property
    def horizon(self) -> int:
        """What was obsolete then is let go of."""
        return horizon_of(self.confirmed)


def horizon_of(confirmed: int) -> int:
    """What was obsolete then is let go of when this time is confirmed: a day less than may be.

    >>> horizon_of(3 * DAY) == 2 * DAY, horizon_of(DAY // 2) == EARLIEST
    (True, True)
    """
    return max(EARLIEST, confirmed - DAY)


class ClockState(NamedTuple):
    """How a clock fares."""

    off_seconds: float
    """How far it is from the expected time: positive when it is ahead, 0 when it is steady."""
    jumps: int
    """How often it has jumped since the start."""

    @property
    def fault(self) -> str | None:
        """What to say of a clock that is off; None when it is steady."""
        if not self.off_seconds:
            return None
        where = "ahead of" if self.off_seconds > 0 else "behind"
        return f"the clock is {abs(self.off_seconds):.0f} s {where} the expected time"


class Timekeeper:
    """Tells a clock that jumped from one that runs.

    >>> keeper = Timekeeper(1_000 * SECOND, 0, None)
    >>> keeper.read(1_010 * SECOND, 10 * SECOND) == 1_010 * SECOND
    True
    >>> keeper.read(9_999 * SECOND, 20 * SECOND) == 1_020 * SECOND, keeper.off == 8_979 * SECOND
    (True, True)
    >>> keeper.read(9_999 * SECOND + CONFIRMING, 20 * SECOND + CONFIRMING) // SECOND
    13599
    """

    def __init__(self, now: int, elapsed: int, last: int | None, idle: int | None = None) -> None:
        """`last` is what the clock should have said when it was last looked at, if it ever was.

        That was `idle` ago, if anybody knows; but more than an hour takes more than one witness.
        """
        last = now if last is None else last
        ahead = now - last if idle is None else now - last - idle
        last += min(idle or 0, CONFIRMING)
        if abs(now - last) <= OFF_MAX:
            last = now
        self._believed = (last, elapsed)
        self._doubted: tuple[int, int] | None = None
        """What the clock said, and when, after it jumped."""
        self.off = 0
        """How far the clock is from the expected time; 0 unless it has jumped."""
        self.jumps = 0
        self.last_jump = 0
        """How far it jumped the last time: positive when that was ahead."""
        if last != now:
            self._doubted = (now, elapsed)
            if ahead < -OFF_MAX or (idle is not None and ahead > OFF_MAX):
                self._note_jump(ahead)  # else most likely nobody has looked for a while

    @property
    def is_starting(self) -> bool:
        """Whether the clock is ahead of what was known at the start, as after a long pause."""
        return self._doubted is not None and not self.off

    def moment(self, now: int, elapsed: int, confirmed: int, others: int | None = None) -> Moment:
        """Look at the clock; `others` is what the clock of somebody else says, if it is earlier.

        It spares what changes of rules and attributes would drop, however far off it is; late
        scores count by it if it is off by a day at most.
        """
        expected = self.read(now, elapsed)
        recorded_at = expected if self.off else now
        confirmed = min(confirmed, expected)  # what is confirmed may be the sum of many jumps
        late = now if self.is_starting else min(now, expected)
        if others is not None and others < now - OFF_MAX:
            expected = min(expected, others)
            late = min(late, others) if others >= now - LENIENT_MAX else late
        lenient = max(EARLIEST, late - OFF_MAX)
        return Moment(now, expected, confirmed, elapsed, recorded_at, lenient)

    def read(self, now: int, elapsed: int) -> int:
        """The expected time, now that the clock says this."""
        expected = _runs_on(self._believed, elapsed)
        doubted = self._doubted
        kept = now if doubted is None else _runs_on(doubted, elapsed)
        if abs(now - expected) <= OFF_MAX:
            if not self.off and abs(now - kept) > OFF_MAX:  # it was wrong at the start
                self._note_jump(now - kept)
            self._believe(now, elapsed)
            return now
        if doubted is None or abs(now - kept) > OFF_MAX:
            self._doubted = (now, elapsed)
            self._note_jump(now - expected)
        elif elapsed - doubted[1] >= CONFIRMING:
            self._believe(now, elapsed, at_once=True)
            return now
        elif self.off:
            self.off = now - expected
        return expected

    def _believe(self, now: int, elapsed: int, *, at_once: bool = False) -> None:
        """The clock is right; once an hour the expected time is set by it, for clocks drift."""
        self.off, self._doubted = 0, None
        if at_once or elapsed - self._believed[1] >= CONFIRMING:
            self._believed = (now, elapsed)

    def _note_jump(self, off: int) -> None:
        self.off = self.last_jump = off
        self.jumps += 1


def _runs_on(look: tuple[int, int], elapsed: int) -> int:
    """What a clock says that said something at one time and has run since."""
    said, then = look
    return said + elapsed - then


def jump_text(jump: int) -> str:
    """What to say of a jump."""
    return (
        f"the clock jumped {'ahead' if jump > 0 else 'back'} by {abs(jump) / SECOND:.0f} s: the"
        " current periods follow it, but nothing is forgotten until it has kept its new time for"
        " an hour; check the machine's time"
    )


class LowestReading:
    """The lowest that a clock has said within the last one to two hours of elapsed time.

    >>> lowest = LowestReading(100, 0, 100, 100)
    >>> [lowest.note(reading, 0) for reading in (100, 900, 100)]
    [100, 100, 100]
    >>> [lowest.note(900, hours * CONFIRMING) for hours in (1, 2)]
    [100, 900]
    """

    def __init__(self, now: int, elapsed: int, confirmed: int, lowest: int) -> None:
        """What was certain before the start, and the lowest that the clock said since.

        Nobody knows how long ago that was. If the clock says that it was an hour or more, what was
        obsolete then has been seen to be so twice.
        """
        is_later = now >= lowest + CONFIRMING
        self._before = lowest if is_later else confirmed
        self.lowest = now if is_later else min(now, lowest)
        """The lowest that was said lately, which is yet to be confirmed."""
        self._since = elapsed

    def note(self, now: int, elapsed: int) -> int:
        """The confirmed time, now that the clock says this."""
        if elapsed - self._since >= CONFIRMING:
            self._before, self.lowest, self._since = self.lowest, now, elapsed
        elif now < self.lowest:
            self.lowest = now
        return min(self._before, self.lowest)
