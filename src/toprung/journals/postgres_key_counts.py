"""How many new idempotency keys a cluster has, as one process knows it.

What this process records it counts exactly; what others record it hears about once a minute. So a
quota can be exceeded by what the other processes record within a minute, and no submission waits
for a counter.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from toprung.domain.quotas import KeyQuota, KeyUse, Quotas, Refusals
from toprung.errors import Closed, StorageFailed, ToprungError, TruthUnavailable
from toprung.journals.postgres_store import PostgresStore

SHARE_HEARD = 100
"""Who has used less than this part of a quota is not heard of."""

END_SECONDS = 1.0
"""How long closing waits for the database to hear the last counts."""


class PostgresKeyCounts:
    """Counts keys for one process, and judges new ones."""

    def __init__(self, store: PostgresStore, quotas: Quotas) -> None:
        self._store = store
        self._quotas = quotas
        self.refusals = Refusals()
        self._quota = KeyQuota(quotas, self.refusals)
        self._used = KeyUse()
        """What all processes have, as far as this one has heard, and its own."""
        self._untold: dict[tuple[int, str], int] = {}
        """What the others have not heard of yet, by board and owner."""
        self._seconds_left = 1

    def refusal(self, claimed: KeyUse, generation: int, owner: str) -> ToprungError | None:
        """Why a batch that has `claimed` some keys cannot have one more; None if it can."""
        return self._quota.refusal((self._used, claimed), generation, owner, self._seconds_left)

    def note(self, homes: dict[tuple[int, str], int]) -> None:
        """Count keys that were recorded, by board generation and owner."""
        for (generation, owner), count in homes.items():
            self._used.note(generation, owner, count)
            told = self._untold.get((generation, owner), 0)
            self._untold[generation, owner] = told + count

    async def tell(self) -> None:
        """Tell the database what was recorded here, and hear what was recorded anywhere."""
        telling, self._untold = self._untold, {}
        homes = list(telling)
        try:
            async with self._store.connection() as connection:
                rows = await connection.fetch(
                    "SELECT * FROM tell_keys($1, $2, $3, $4, $5)",
                    [generation for generation, _ in homes],
                    [owner for _, owner in homes],
                    list(telling.values()),
                    max(1, self._quotas.keys_per_board // SHARE_HEARD),
                    max(1, self._quotas.keys_per_owner // SHARE_HEARD),
                )
        except BaseException:  # most likely they were not told: then they are told the next time
            for home, count in telling.items():
                self._untold[home] = self._untold.get(home, 0) + count
            raise
        self._hear(rows)

    def _hear(self, rows: list[tuple[int | None, str | None, int, int]]) -> None:
        used = KeyUse()
        for generation, owner, keys, seconds_left in rows:
            if generation is not None:
                used.boards[generation] = keys
            elif owner is not None:
                used.owners[owner] = keys
            else:
                used.total = keys
                self._seconds_left = seconds_left
        for (generation, owner), count in self._untold.items():  # recorded meanwhile
            used.note(generation, owner, count)
        self._used = used

    async def end(self) -> None:
        """Tell the last counts; a database that is away does not hear them."""
        with suppress(TruthUnavailable, StorageFailed, Closed, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self.tell()
