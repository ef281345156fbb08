"""Where time comes from."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> int:
        """Microseconds since 1970, UTC: what the clock says, which may be wrong."""
        ...

    def elapsed(self) -> int:
        """Microseconds that have passed since any beginning, whatever the clock is set to."""
        ...
