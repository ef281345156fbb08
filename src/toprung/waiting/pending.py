"""Results that another thread will deliver, awaited with an event loop or without one.

A `Pending` is set once by a worker thread. Who awaits it may be

* a task of an asyncio loop: it waits on a future of its loop, and `resolve_all` wakes all the
  tasks of one loop with a single call into it, however many results there are;
* a coroutine driven by `run_blocking`, which needs no loop: its thread waits;
* a light task, which gets a delivery in its inbox.

No lock guards a `Pending`: the awaiting side registers a waiter and then looks whether the
result is there; the worker stores the result and then looks for waiters. Whatever the timing, at
least one of them sees the other, and waking somebody who did not wait is harmless. An awaiting
task may be cancelled at any time: its future is left behind, the result arrives all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable
from typing import Any, Generic, TypeVar, cast

from toprung.waiting.blocking import ThreadWaiter, running_loop
from toprung.waiting.inbox import Delivery, Inbox
from toprung.waiting.light_tasks import inbox_of

T = TypeVar("T")


class Pending(Generic[T]):
    """A result that is set once, from any thread, and can be awaited from any other."""

    __slots__ = ("_done", "_error", "_result", "_waiters")

    def __init__(self) -> None:
        self._done = False
        self._error: BaseException | None = None
        self._result: T | None = None
        self._waiters: list[asyncio.Future[None] | ThreadWaiter | Delivery] = []

    def set_result(self, result: T) -> None:
        """Deliver the result. To deliver many at once, `resolve_all` is cheaper."""
        resolve_all([(self, result)])

    def set_exception(self, error: BaseException) -> None:
        """Deliver an error, to be raised where the result is awaited."""
        resolve_all([(self, error)])

    def done(self) -> bool:
        """Whether the result is there."""
        return self._done

    @property
    def is_abandoned(self) -> bool:
        """Whether everybody who awaited it was cancelled; not while nobody has awaited it yet."""
        return bool(self._waiters) and all(map(_is_gone, self._waiters))

    def result(self) -> T:
        """The result, which must be there; raises the error if that is what was delivered."""
        assert self._done, "the result is not there yet"
        if self._error is not None:
            raise self._error
        return cast(T, self._result)

    def __await__(self) -> Generator[Any, None, T]:
        if not self._done:
            loop = running_loop()
            if loop is None:
                thread_waiter = ThreadWaiter()
                self._waiters.append(thread_waiter)
                if not self._done:
                    yield thread_waiter
            elif (inbox := inbox_of(loop)) is not None:
                delivery = Delivery(inbox)
                self._waiters.append(delivery)
                if not self._done:
                    yield delivery
            else:
                future = loop.create_future()
                self._waiters.append(future)
                if not self._done:
                    yield from future
        return self.result()

    def _store(self, outcome: T | BaseException) -> None:
        assert not self._done, "the result is there already"
        if isinstance(outcome, BaseException):
            self._error = outcome
        else:
            self._result = outcome
        self._done = True


def resolve_all(outcomes: Iterable[tuple[Pending[Any], Any]]) -> None:
    """Deliver a result, or an exception to be raised, to each; wake each event loop only once."""
    sleeping: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    posted: dict[Inbox, list[Delivery]] = {}
    for pending, outcome in outcomes:
        pending._store(outcome)  # noqa: SLF001 -- this function is the other half of the class
        for waiter in pending._waiters:  # noqa: SLF001
            if isinstance(waiter, ThreadWaiter):
                waiter.wake()
            elif isinstance(waiter, Delivery):
                posted.setdefault(waiter.inbox, []).append(waiter)
            else:
                sleeping.setdefault(waiter.get_loop(), []).append(waiter)
    for loop, futures in sleeping.items():
        try:
            loop.call_soon_threadsafe(_wake_futures, futures)
        except RuntimeError:  # the loop was closed: nobody waits there any more
            continue
    for inbox, deliveries in posted.items():
        inbox.post(deliveries)


def _is_gone(waiter: asyncio.Future[None] | ThreadWaiter | Delivery) -> bool:
    if isinstance(waiter, ThreadWaiter):
        return False
    return waiter.is_abandoned if isinstance(waiter, Delivery) else waiter.cancelled()


def _wake_futures(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():  # cancelled meanwhile
            future.set_result(None)
