"""A batch's transaction, tried until it is known to have been committed once, or not at all.

Failure rules. What deadlocks or loses a race is tried again. When the connection breaks before
COMMIT was sent, nothing happened and it is tried again for a while. When it breaks after, the
batch's id decides: inserting it again waits for a transaction that is still under way, and tells
whether it has committed. So it does for a commit on a server that another has taken over from
meanwhile: what counts is whether it is known there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar
from uuid import UUID, uuid4

from toprung.errors import OutcomeUnknown, StorageFailed, TruthUnavailable
from toprung.journals.postgres_store import PostgresStore
from toprung.journals.postgres_used_keys import Raced

RETRY_SECONDS = 10.0
"""How long a batch is tried again before its callers hear that it failed."""

SETTLE_SECONDS = 60.0
"""How long an interrupted commit is asked after."""

_SETTLE = """
INSERT INTO batches (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET written_at = now()
RETURNING xmax <> 0
"""
"""Whether the batch was there; a row that this inserts has no xmax."""

T = TypeVar("T")

Transacted: TypeAlias = Callable[[Any, UUID], Awaitable[T]]
"""What to do on a connection; it inserts the id into `batches`."""


async def transact(store: PostgresStore, work: Transacted[T]) -> tuple[T, str]:
    """Do `work` in a transaction, again if need be; its result, durable, and on which line."""
    again: tuple[type[BaseException], ...] = (*store.collided, Raced, TruthUnavailable)
    deadline = time.monotonic() + RETRY_SECONDS
    attempt = 0
    while True:
        batch, commit = uuid4(), _Commit()
        try:
            return await _attempt(store, work, batch, commit)
        except store.lost as error:
            if commit.sent:
                if await _has_committed(store, batch):
                    return commit.result, store.line.tag
            elif time.monotonic() > deadline:
                raise StorageFailed(
                    f"PostgreSQL does not respond ({error}); nothing was recorded"
                ) from error
        except store.refused as error:
            raise store.refusal(error) from error
        except again as error:
            if time.monotonic() > deadline:
                raise StorageFailed(f"{error}; nothing was recorded") from error
        attempt += 1
        await asyncio.sleep(min(0.01 * 2**attempt, 0.5))


class _Commit:
    """How far a transaction got."""

    sent = False
    result: Any = None


async def _attempt(
    store: PostgresStore, work: Transacted[T], batch: UUID, commit: _Commit
) -> tuple[T, str]:
    async with store.acquire() as connection:
        line = store.line.tag
        transaction = connection.transaction()
        await transaction.start()
        try:
            result = commit.result = await work(connection, batch)
            commit.sent = True
            await transaction.commit()
        except BaseException:
            if not commit.sent:
                with suppress(*store.lost):
                    await transaction.rollback()
            raise
        connection.note_clean()
        if store.line.tag != line:
            raise ConnectionError("PostgreSQL has failed over")
        return result, line


async def _has_committed(store: PostgresStore, batch: UUID) -> bool:
    """Settle a commit whose answer was lost.

    Writes in any case: what waits for a synchronous standby here has waited for the batch, too. A
    commit whose wait was cut short is visible before any standby has it.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        try:
            async with store.connection(writes=True) as connection:
                return bool(await connection.fetchval(_SETTLE, batch))
        except (TruthUnavailable, StorageFailed) as error:
            if time.monotonic() > deadline:
                raise OutcomeUnknown from error
            await asyncio.sleep(0.1)
