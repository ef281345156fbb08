"""Where time comes from."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> int:
        """Microseconds since 1970, UTC: what the clock says, which may be wrong."""
        ...

    def elapsed(self) -> int:
        """Microseconds that have passed since any beginning, whatever the clock is set to."""
        ...


def machine_elapsed() -> int:
    """The machine's own timer, which nobody can set; where it can, it counts while asleep."""
    return time.clock_gettime_ns(_TIMER) // 1000


def elapsed_of(clock: Clock) -> Callable[[], int]:
    """How to tell the time that has passed; by the machine, for a clock that has only `now`."""
    return getattr(clock, "elapsed", machine_elapsed)


_TIMER = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
