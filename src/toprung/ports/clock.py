"""Where time comes from."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        ...
