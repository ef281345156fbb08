"""Leases of a database that belongs to one process: it has them all."""

from __future__ import annotations

import os
import socket

from toprung.ports import Lease, LeaseHolder, Leases


class LocalLeases:
    """Whoever asks gets the lease: nobody else can ask."""

    is_shared = False

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._holder = f"{socket.gethostname()}:{os.getpid()}"

    async def take(self, name: str) -> Lease | None:
        """The lease on a name."""
        self._taken.add(name)
        return Lease(name, 1)

    async def release(self, lease: Lease) -> None:
        """Let it go."""
        self._taken.discard(lease.name)

    async def holdings(self) -> list[LeaseHolder]:
        """Every lease that was taken."""
        return [LeaseHolder(name, self._holder, 1, None) for name in sorted(self._taken)]


_: type[Leases] = LocalLeases
