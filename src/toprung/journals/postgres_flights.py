"""Transactions of submissions that are under way at a time, no two of them about the same player.

While one waits for the disk another is decided. Submissions of one player are recorded in the order
in which they were handed over, so whoever is in one of these is not in another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from toprung.journals.postgres_queue import Request
from toprung.waiting.tasks import end_task

FLIGHTS_MAX = 2
"""Transactions under way. More would be smaller ones: what waits is what the next one takes."""


class Flights:
    """What is under way."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], frozenset[str]] = {}

    @property
    def players(self) -> set[str]:
        """Who is in one of them."""
        if not self._tasks:
            return set()
        return set().union(*self._tasks.values())

    def begin(
        self, batch: Sequence[Request], commit: Callable[[Sequence[Request]], Awaitable[None]]
    ) -> None:
        """Commit a batch in the background; whatever becomes of it is told to its callers."""

        async def fly() -> None:
            await commit(batch)

        task = asyncio.create_task(fly(), name="toprung-commit")
        self._tasks[task] = frozenset().union(*[request.players for request in batch])
        task.add_done_callback(self._tasks.pop)

    async def wait_for_room(self) -> None:
        """Wait until one more may be under way."""
        while len(self._tasks) >= FLIGHTS_MAX:
            await self.wait_for_one()

    async def wait_for_one(self) -> None:
        """Wait until one of them has ended, if there is any."""
        if self._tasks:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    async def wait_for_all(self) -> None:
        """Wait until none is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def end(self) -> None:
        """Cut off what is under way."""
        for task in list(self._tasks):
            await end_task(task)
