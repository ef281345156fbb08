"""Committed changes on their way to the index.

They are durable, so nothing here can fail a command: what does not arrive stays unmarked in the
outbox, and is caught up. What arrives is marked a moment later, many rows at a time; a mark that
is lost means that something is applied twice, which is harmless. Outbox ids of a line that has
ended are never used again, so marks of then mark nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import Context
from typing import TypeAlias

from toprung.errors import StorageFailed, TruthUnavailable
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import Applied, CardChanges, CardSink
from toprung.waiting.tasks import end_task

APPLYING_MAX = 4
"""Committed batches that may be on their way to the index while more are written."""

MARK_DELAY_SECONDS = 0.1
"""How long marks are collected; closing does not wait for more."""

MARK_SECONDS = 2.0
"""How long closing waits for marks."""

Then: TypeAlias = Callable[[Sequence[Applied]], None]
"""What is done with what became of changes, as far as they were brought to the index."""

_log = logging.getLogger("toprung")


class HandOver:
    """Batches that are being applied to the index, and the ids of those that were."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._applying: set[asyncio.Task[None]] = set()
        self._applied: list[int] = []
        self._marking: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def begin(self, line: str, changes: Sequence[CardChanges], sink: CardSink, then: Then) -> None:
        """Apply the changes of a batch that was committed on a line of the journal.

        `then` is told what became of them, if anything did.
        """
        with self._store.line.held(line):
            task = asyncio.create_task(self._apply(changes, sink, then))
        self._applying.add(task)
        task.add_done_callback(self._applying.discard)

    async def wait_for_room(self) -> None:
        """Wait until one more batch may be on its way."""
        while len(self._applying) >= APPLYING_MAX:
            await asyncio.wait(self._applying, return_when=asyncio.FIRST_COMPLETED)

    async def wait_for_all(self) -> None:
        """Wait until no batch is on its way."""
        while self._applying:
            await asyncio.wait(self._applying)

    def hurry(self) -> None:
        """Collect marks no longer: there will be no more of them soon."""
        self._closing.set()

    async def finish(self, seconds: float) -> None:
        """Wait for what is on its way, but not longer than that, and for its marks."""
        if self._applying:
            await asyncio.wait(self._applying, timeout=seconds)
        for task in list(self._applying):
            await end_task(task)
        if self._marking is not None:  # if it takes long, others will apply once more
            await asyncio.wait([self._marking], timeout=MARK_SECONDS)
            await end_task(self._marking)

    async def _apply(self, changes: Sequence[CardChanges], sink: CardSink, then: Then) -> None:
        applied: list[Applied] = []
        try:
            for each in changes:
                applied += [await sink.apply(each)]
            self._mark_soon(
                each.outbox_id
                for each, (is_done, _) in zip(changes, applied, strict=True)
                if is_done and each.outbox_id
            )
        except Exception:  # noqa: BLE001 -- it is durable; whatever this is, callers may go on
            _log.exception("committed changes could not be applied; they will be caught up")
        finally:
            then(applied)

    def _mark_soon(self, ids: Iterable[int]) -> None:
        self._applied.extend(ids)
        if self._applied and self._marking is None:
            self._marking = asyncio.create_task(self._mark(), context=Context())

    async def _mark(self) -> None:
        try:
            while self._applied:
                with suppress(TimeoutError):
                    async with asyncio.timeout(MARK_DELAY_SECONDS):
                        await self._closing.wait()
                ids, self._applied = self._applied, []
                with suppress(TruthUnavailable, StorageFailed):  # they are marked by the next look
                    await self._store.execute(
                        "UPDATE outbox SET marked_at = now() WHERE id = ANY ($1)", ids
                    )
        finally:
            self._marking = None
