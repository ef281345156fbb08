"""Driving a coroutine without an event loop: the calling thread blocks whenever it has to wait.

The synchronous interfaces are made of this. A coroutine that suspends yields a `Waiter`; the driver
blocks its thread on it and then goes on. Inside a running loop, where a task could be meant as
well, a flag of the thread says who is driving.
"""

from __future__ import annotations

import asyncio
import threading
import types
from asyncio import _get_running_loop
from collections.abc import Coroutine, Generator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Waiter(Protocol):
    """What a suspended coroutine yields to `run_blocking`."""

    def wait(self) -> None:
        """Block the thread until the coroutine can go on."""
        ...


class ThreadWaiter:
    """Waits for another thread, which wakes it once."""

    __slots__ = ("_gate",)

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()

    def wait(self) -> None:
        """Block the thread until somebody calls `wake`, or return if somebody has."""
        self._gate.acquire()

    def wake(self) -> None:
        """Let the thread go on."""
        self._gate.release()


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in this thread, without an event loop.

    It may await what never suspends, other coroutines and pending results. An interrupt while the
    thread waits (Ctrl-C) is raised inside the coroutine.

    >>> async def answer() -> int:
    ...     return 42
    >>> run_blocking(answer())
    42
    """
    if _get_running_loop() is not None and not _driver.is_blocking:
        return _run_inside_loop(coroutine)
    results: list[T] = []
    steps = _steps(coroutine, results)
    for waiter in steps:  # a read takes no step at all
        _wait(waiter, steps)
    return results[0]


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop whose task is running; None under `run_blocking`."""
    return None if _driver.is_blocking else _get_running_loop()


def _run_inside_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    _driver.is_blocking = True
    try:
        return run_blocking(coroutine)
    finally:
        _driver.is_blocking = False


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


class _Driver(threading.local):
    is_blocking = False
    """Whether `run_blocking` drives, although a loop runs in this thread."""


_driver = _Driver()
