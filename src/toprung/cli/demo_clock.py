"""The clock of the demo: the machine's, but behind it while the past is made up."""

from __future__ import annotations

from datetime import datetime, timedelta

from toprung.domain.instant import parse_instant
from toprung.profiles.embedded import SystemClock


class DemoClock:
    """A Clock that is behind at first. Going on from there is time that passes."""

    def __init__(self, behind: timedelta) -> None:
        self._system = SystemClock()
        self._behind = behind // timedelta(microseconds=1)
        self._passed = 0

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self._system.now() - self._behind

    def elapsed(self) -> int:
        """Microseconds that have passed, those that were gone on by included."""
        return self._system.elapsed() + self._passed

    def go_on_to(self, moment: datetime) -> None:
        """Let time pass until a moment of the past."""
        self._pass(self._system.now() - parse_instant(moment.isoformat(), "moment"))

    def go_on(self) -> None:
        """Let time pass until now."""
        self._pass(0)

    def _pass(self, behind: int) -> None:
        self._passed += max(0, self._behind - behind)
        self._behind = behind
