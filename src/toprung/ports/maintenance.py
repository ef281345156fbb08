"""What an operator asks of a profile."""

from __future__ import annotations

from typing import Protocol

from toprung.domain.figures import Figures
from toprung.domain.health import HealthCheck
from toprung.domain.timekeeping import ClockState


class Maintenance(Protocol):
    """What an operator asks of a profile."""

    reads_suspend: bool
    """Whether reads wait for servers; where they do not, they need no event loop."""

    folder: str | None
    """Where large files may lie for a while; None: anywhere."""

    def own_writes(self, board_id: str) -> object:
        """Another value after every write of this process that lists of the board may show.

        It changes when the index has had its chance, and before the caller is answered.
        """
        ...

    async def figures(self) -> Figures:
        """How the profile fares at the moment."""
        ...

    async def health(self) -> list[HealthCheck]:
        """What works at the moment. Raises nothing and takes two seconds at most."""
        ...

    async def clock_state(self) -> ClockState:
        """Whether the clock has jumped, at this moment; asks nobody."""
        ...

    async def verify(self) -> list[str]:
        """Compare the index with the journal; one line per difference, none when all is well."""
        ...

    async def rebuild(self) -> None:
        """Drop the index and derive it again from the journal."""
        ...

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the truth to a new file while work goes on."""
        ...

    def announce(self, url: str) -> None:
        """Tell whoever finds the database in use where it is served, if only one may use it."""
        ...

    async def close(self) -> None:
        """Finish what was accepted and let go of everything. Closing twice is harmless."""
        ...
