"""Results that another thread will deliver, awaited with an event loop or without one.

A `Pending` is set once by a worker thread. Who awaits it may be

* a task of an asyncio loop: it waits on a future of its loop, and `resolve_all` wakes all the
  tasks of one loop with a single call into it, however many results there are;
* a coroutine driven by `run_blocking`, which needs no loop: the `Pending` yields a waiter, the
  driver blocks its thread on it and then goes on. Inside a running loop, where both could be
  meant, a flag of the thread says who is driving;
* a coroutine driven by the owner of an `Inbox`, which is told of results at its next opportunity
  and not after two more turns of a busy event loop.

No lock guards a `Pending`: the awaiting side registers a waiter and then looks whether the
result is there; the worker stores the result and then looks for waiters. Whatever the timing, at
least one of them sees the other, and waking somebody who did not wait is harmless. An awaiting
task may be cancelled at any time: its future is left behind, the result arrives all the same.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import types
from asyncio import _get_running_loop
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar, cast

CANCEL_SECONDS = 0.2
CANCELS_MAX = 25

_log = logging.getLogger("toprung")
T = TypeVar("T")


class Waiter(Protocol):
    """What a suspended coroutine yields to `run_blocking`."""

    def wait(self) -> None:
        """Block the thread until the coroutine can go on."""
        ...


class Pending(Generic[T]):
    """A result that is set once, from any thread, and can be awaited from any other."""

    __slots__ = ("_done", "_error", "_result", "_waiters")

    def __init__(self) -> None:
        self._done = False
        self._error: BaseException | None = None
        self._result: T | None = None
        self._waiters: list[asyncio.Future[None] | _ThreadWaiter | Delivery] = []

    def set_result(self, result: T) -> None:
        """Deliver the result. To deliver many at once, `resolve_all` is cheaper."""
        resolve_all([(self, result)])

    def set_exception(self, error: BaseException) -> None:
        """Deliver an error, to be raised where the result is awaited."""
        resolve_all([(self, error)])

    def done(self) -> bool:
        """Whether the result is there."""
        return self._done

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
                thread_waiter = _ThreadWaiter()
                self._waiters.append(thread_waiter)
                if not self._done:
                    yield thread_waiter
            elif _driver.inbox is not None:
                delivery = Delivery(_driver.inbox)
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
            if isinstance(waiter, _ThreadWaiter):
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


class Delivery:
    """What a coroutine yields that waits for a `Pending` and is driven by the owner of an inbox."""

    __slots__ = ("go_on", "inbox")

    go_on: Callable[[], None]
    """Goes on with the coroutine; set by its driver as soon as this is yielded."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox


class Inbox:
    """Where results arrive for coroutines that one thread drives by hand, in an event loop.

    The loop is woken for them, but a busy loop comes to that late: whoever has the thread may
    `open` the inbox at any time, outside of tasks. `after` is called when the loop has opened it.
    """

    __slots__ = ("_after", "_loop", "arrived")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, after: Callable[[], None] = lambda: None
    ) -> None:
        self._loop = loop
        self._after = after
        self.arrived: deque[Delivery] = deque()

    def advance(self, steps: Coroutine[Any, Any, T]) -> Any:
        """Run a coroutine to its next wait, and return what it waits for; or raise StopIteration.

        A `Pending` yields a `Delivery`, anything else what a task would get: futures and None.
        """
        _driver.inbox = self
        try:
            return steps.send(None)
        finally:
            _driver.inbox = None

    def post(self, deliveries: Iterable[Delivery]) -> None:
        """Say, from any thread, that these coroutines can go on."""
        self.arrived.extend(deliveries)
        with suppress(RuntimeError):  # the loop was closed: nobody waits there any more
            self._loop.call_soon_threadsafe(self._open_by_loop)

    def _open_by_loop(self) -> None:
        self.open()
        self._after()

    def open(self) -> None:
        """Go on with all coroutines that can; one that fails holds up none of the others."""
        while self.arrived:
            try:
                self.arrived.popleft().go_on()
            except Exception:  # noqa: BLE001 -- whoever opens it has nothing to do with it
                _log.exception("what waited for a result could not go on")


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in this thread, without an event loop.

    It may await what never suspends, other coroutines and `Pending`s. An interrupt while the
    thread waits (Ctrl-C) is raised inside the coroutine.

    >>> async def answer() -> int:
    ...     return 42
    >>> run_blocking(answer())
    42
    """
    if _get_running_loop() is not None and not _driver.blocking:
        return _run_inside_loop(coroutine)
    results: list[T] = []
    steps = _steps(coroutine, results)
    for waiter in steps:  # a read takes no step at all
        _wait(waiter, steps)
    return results[0]


async def turn() -> None:
    """Let the event loop, if there is one, run whatever else is ready."""
    await _Turn()


def start(work: Coroutine[Any, Any, T]) -> Awaitable[T]:
    """Begin now what is awaited later; with an event loop it begins at the next `turn`."""
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


def _run_inside_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    _driver.blocking = True
    try:
        return run_blocking(coroutine)
    finally:
        _driver.blocking = False


@types.coroutine
def _steps(
    coroutine: Coroutine[Any, Any, T], results: list[T]
) -> Generator[Waiter | None, None, None]:
    """What the coroutine waits for, one after the other; at the end its result is appended.

    A loop over this costs half of what `send` and its StopIteration cost.
    """
    results.append((yield from coroutine))


def _wait(waiter: Waiter | None, steps: Generator[Waiter | None, None, None]) -> None:
    """Block on the waiter; an interrupt goes to the coroutine, which may wait to clean up."""
    while waiter is not None:
        try:
            waiter.wait()
        except BaseException as error:  # noqa: BLE001
            try:
                waiter = steps.throw(error)
            except StopIteration:  # it has dealt with the interrupt, and ended
                return
        else:
            return


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop whose task is running; None under `run_blocking`."""
    return None if _driver.blocking else _get_running_loop()


def _wake_futures(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():  # cancelled meanwhile
            future.set_result(None)


class _Driver(threading.local):
    blocking = False
    """Whether `run_blocking` drives, although a loop runs in this thread."""
    inbox: Inbox | None = None
    """The inbox whose owner drives, if one does."""


_driver = _Driver()


class _ThreadWaiter:
    __slots__ = ("_gate",)

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()

    def wait(self) -> None:
        self._gate.acquire()

    def wake(self) -> None:
        self._gate.release()


class _Turn:
    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


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
