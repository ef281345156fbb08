"""Leases in PostgreSQL, by the server's clock, and the fence that every write under one passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from uuid import UUID

from toprung.errors import Closed, LeaseLost, StorageFailed, TruthUnavailable
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.journals.postgres_time import END_SECONDS
from toprung.ports import Lease, LeaseHolder, Leases

LEASE_SECONDS: Final = 15.0
"""After which a lease that is not renewed ends."""


class PostgresLeases:
    """The leases of one process."""

    is_shared = True

    def __init__(self, store: PostgresStore, process: UUID, holder: str) -> None:
        """`holder` is what people are told of the process."""
        self._store = store
        self._process = process
        self._holder = holder

    async def take(self, name: str) -> Lease | None:
        """The lease on a name, or the present one renewed; None while another process has it."""
        async with self._store.connection(writes=True) as connection:
            token = await connection.fetchval(
                statement("take_lease"), name, self._process, self._holder, LEASE_SECONDS
            )
        return None if token is None else Lease(name, token)

    async def release(self, lease: Lease) -> None:
        """Let others have it at once; harmless if it has ended."""
        await self._store.execute(
            "UPDATE leases SET ends_at = clock_timestamp()"
            " WHERE name = $1 AND process = $2 AND token = $3 AND ends_at > clock_timestamp()",
            lease.name,
            self._process,
            lease.token,
        )

    async def end(self) -> None:
        """Let go of all leases; a database that is away finds out by itself."""
        with suppress(TruthUnavailable, StorageFailed, Closed, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self._store.execute(
                    "UPDATE leases SET ends_at = clock_timestamp()"
                    " WHERE process = $1 AND ends_at > clock_timestamp()",
                    self._process,
                )

    async def holdings(self) -> list[LeaseHolder]:
        """Every lease that has not ended, by name."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT name, holder, token, -passed_since(ends_at) / 1e6::float8 FROM leases"
                " WHERE ends_at > clock_timestamp() ORDER BY name"
            )
        return [LeaseHolder(*row) for row in rows]

    @asynccontextmanager
    async def fenced(self, lease: Lease) -> AsyncIterator[Any]:
        """A connection in a transaction in which nobody else can take the lease.

        LeaseLost if it is not ours any more, or has ended; then nothing is written. What collides
        with another transaction is TruthUnavailable: it may be tried again.
        """
        try:
            async with self._store.connection(writes=True) as connection, connection.transaction():
                if not await connection.fetchval(
                    "SELECT hold_lease($1, $2, $3)", lease.name, self._process, lease.token
                ):
                    raise LeaseLost
                yield connection
        except self._store.collided as error:
            raise TruthUnavailable(f"another transaction came first: {error}") from error


_: type[Leases] = PostgresLeases
