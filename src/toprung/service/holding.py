"""Doing work under a lease that lasts no longer than it takes to notice a dead process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from toprung.errors import LeaseLost
from toprung.ports import Lease
from toprung.waiting.tasks import end_task

RENEW_SECONDS: Final = 5.0
"""How often a lease is renewed, and looked for by those who do not have it."""

T = TypeVar("T")


async def holding(
    lease: Lease, work: Awaitable[T], take: Callable[[str], Awaitable[Lease | None]]
) -> T:
    """Do work under a lease, and renew it by `take` meanwhile; LeaseLost when that fails."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait([task], timeout=RENEW_SECONDS))[0]:
            if await take(lease.name) != lease:
                raise LeaseLost
        return await task
    finally:
        await end_task(task)
