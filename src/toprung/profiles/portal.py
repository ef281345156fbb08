"""A portal: an event loop in a thread of its own, for programs that have none.

The services run in the calling thread; only what needs an event loop, the ports of the cluster,
crosses over (`Crossing`), one call at a time. A call's result comes back as a `Pending`, which the
blocking facade knows how to wait for.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from toprung.errors import Closed
from toprung.waiting.pending import Pending
from toprung.waiting.tasks import end_task

STOP_SECONDS_MAX = 10.0

_log = logging.getLogger("toprung")
T = TypeVar("T")


class Portal:
    """A running event loop in a background thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._gate = threading.Lock()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="toprung-portal", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(_end_all())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def begin(self, work: Coroutine[Any, Any, T]) -> Pending[T]:
        """Start work on the loop; await the result anywhere. Closed once it is stopped."""
        pending: Pending[T] = Pending()

        def deliver(future: Future[T]) -> None:
            if future.cancelled():  # the portal was stopped meanwhile
                pending.set_exception(Closed())
            elif (error := future.exception()) is not None:
                pending.set_exception(error)
            else:
                pending.set_result(future.result())

        with self._gate:  # whatever is begun before the loop is told to stop is ended by it
            if self._is_stopped:
                work.close()
                raise Closed
            asyncio.run_coroutine_threadsafe(work, self._loop).add_done_callback(deliver)
        return pending

    def stop(self) -> None:
        """End the loop and its thread; not from the loop itself. Whoever still waits is told."""
        with self._gate:
            if not self._is_stopped:
                self._is_stopped = True
                self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS_MAX)
        if self._thread.is_alive():
            _log.error("the portal's thread does not end and is left behind")


async def _end_all() -> None:
    """Cancel whatever is still under way, so that nobody waits for it in vain."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        await end_task(task)


class Crossing:
    """An object whose coroutine methods run on a portal's loop."""

    def __init__(self, target: Any, portal: Portal) -> None:
        self._target = target
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if inspect.iscoroutinefunction(found):
            return self._crossing(found)
        if inspect.isasyncgenfunction(found):
            return self._gathering(found)
        return found

    def _crossing(self, method: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> T:
            return await self._portal.begin(method(*args, **kwargs))

        return call

    def _gathering(self, method: Callable[..., AsyncIterator[T]]) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> AsyncIterator[T]:
            async def gather() -> list[T]:
                return [item async for item in method(*args, **kwargs)]

            for item in await self._portal.begin(gather()):
                yield item

        return call


class CrossingMaintenance(Crossing):
    """A profile behind a portal; closing it ends the portal, too."""

    async def close(self) -> None:
        """Finish what was accepted, then end the loop; closing twice is harmless."""
        try:
            await self._portal.begin(self._target.close())
        except Closed:
            return
        finally:
            self._portal.stop()
