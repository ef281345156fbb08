"""Work beside other work: begun before it is awaited, ended although it does not want to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, Generic, TypeVar, cast

from toprung.waiting.blocking import Waiter, running_loop
from toprung.waiting.pending import Pending

CANCEL_SECONDS = 0.2
CANCELS_MAX = 25

_log = logging.getLogger("toprung")
T = TypeVar("T")


def start(work: Coroutine[Any, Any, T]) -> Awaitable[T]:
    """Begin now what is awaited later; with an event loop it begins at the next round."""
    return _Started(work) if running_loop() is None else asyncio.ensure_future(work)


async def end_task(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task and wait until it has ended, but not for ever.

    It is cancelled more than once: client libraries are known to swallow a cancellation.
    """
    for _ in range(CANCELS_MAX):
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)
    _log.error("%r does not end and is left behind", task)


class _Started(Generic[T]):
    """A coroutine under `run_blocking` that has run up to its first wait."""

    __slots__ = ("_result", "_waiter", "_work")

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._result: Pending[T] = Pending()
        self._waiter: Waiter | None = None
        try:
            self._waiter = work.send(None)
        except StopIteration as end:
            self._result.set_result(end.value)
        except Exception as error:  # noqa: BLE001 -- raised where it is awaited
            self._result.set_exception(error)

    def __await__(self) -> Generator[Any, None, T]:
        if self._result.done():
            return self._result.result()
        if self._waiter is not None:
            yield self._waiter
        while True:
            try:
                waiter = self._work.send(None)
            except StopIteration as end:
                return cast(T, end.value)
            yield waiter
