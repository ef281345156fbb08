"""The time that passes, by the machine's own timer."""

from __future__ import annotations

import time
from collections.abc import Callable

from toprung.ports import Clock

_TIMER = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def machine_elapsed() -> int:
    """The machine's own timer, which nobody can set; where it can, it counts while asleep."""
    return time.clock_gettime_ns(_TIMER) // 1000


def elapsed_of(clock: Clock) -> Callable[[], int]:
    """How to tell the time that has passed; by the machine, for a clock that has only `now`."""
    return getattr(clock, "elapsed", machine_elapsed)
