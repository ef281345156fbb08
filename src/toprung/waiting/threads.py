"""Blocking work in threads, awaitable with and without an event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from toprung.errors import Unavailable
from toprung.waiting.pending import Pending

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Do something in a thread of its own."""
    pending: Pending[T] = Pending()
    threading.Thread(target=_resolve, args=(pending, work), name="toprung-work").start()
    return await pending


class FewThreads:
    """Some threads that do what waits for them; whoever comes when too much waits is refused."""

    def __init__(self, threads: int, waiting_max: int, refusal: Unavailable) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="toprung-few")
        self._waiting_max = waiting_max
        self._refusal = refusal
        self._waiting = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Do something when a thread is free."""
        (found,) = await self.run_each([work])
        return found

    async def run_each(self, parts: Iterable[Callable[[], T]]) -> list[T]:
        """Do the parts of something, one after the other, each when a thread is free.

        Others who wait have their turn between two parts: so whoever has much to do takes no more
        than one thread, and holds nobody up for longer than a part takes.
        """
        with self._lock:
            if self._waiting >= self._waiting_max:
                raise self._refusal
        return [await self._run(part) for part in parts]

    async def _run(self, work: Callable[[], T]) -> T:
        with self._lock:
            self._waiting += 1
        pending: Pending[T] = Pending()
        self._pool.submit(self._do, pending, work)
        return await pending

    def _do(self, pending: Pending[T], work: Callable[[], T]) -> None:
        with self._lock:
            self._waiting -= 1
        _resolve(pending, work)

    def close(self) -> None:
        """Finish what was begun; nothing else is."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _resolve(pending: Pending[T], work: Callable[[], T]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 -- raised where it is awaited
        pending.set_exception(error)
    else:
        pending.set_result(result)
