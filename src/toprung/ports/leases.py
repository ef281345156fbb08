"""Who may do what only one process may do at a time."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Lease(NamedTuple):
    """The right of one process to some work, for a while."""

    name: str
    token: int
    """Grows with every change of hands: whoever writes shows it, and an old one is refused."""


class LeaseHolder(NamedTuple):
    """Who has a lease, for people to read."""

    name: str
    holder: str
    token: int
    seconds_left: float | None
    """None if it does not end by itself."""


class Leases(Protocol):
    """Leases on names, for the processes of one database.

    A lease that is not renewed ends by itself. From then on nothing is written under it, even if
    nobody else has taken it: every port that takes a lease raises LeaseLost and changes nothing.
    """

    @property
    def is_shared(self) -> bool:
        """Whether another process can have them."""
        ...

    async def take(self, name: str) -> Lease | None:
        """The lease on a name, or the present one renewed; None while another process has it."""
        ...

    async def release(self, lease: Lease) -> None:
        """Let others have it at once; harmless if it has ended."""
        ...

    async def holdings(self) -> list[LeaseHolder]:
        """Every lease that has not ended, by name."""
        ...
