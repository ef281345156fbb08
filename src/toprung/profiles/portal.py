"""A portal: an event loop in a thread of its own, for programs that have none.

The services run in the calling thread; only what needs an event loop, the ports of the cluster,
crosses over (`Crossing`), one call at a time. A call's result comes back as a `Pending`, which the
blocking facade knows how to wait for.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from toprung.pending import Pending

T = TypeVar("T")


class Portal:
    """A running event loop in a background thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="toprung-portal", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def begin(self, work: Coroutine[Any, Any, T]) -> Pending[T]:
        """Start work on the loop; await the result anywhere."""
        pending: Pending[T] = Pending()

        async def do() -> None:
            try:
                result = await work
            except BaseException as error:  # noqa: BLE001 -- raised where it is awaited
                pending.set_exception(error)
            else:
                pending.set_result(result)

        asyncio.run_coroutine_threadsafe(do(), self._loop)
        return pending

    def stop(self) -> None:
        """End the loop and its thread; not from the loop itself."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()


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
        """Finish what was accepted, then end the loop."""
        await self._portal.begin(self._target.close())
        self._portal.stop()
