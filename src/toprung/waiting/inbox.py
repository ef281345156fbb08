"""The inbox: where results arrive for coroutines that one thread drives by hand, in an event loop.

Its owner is told of results at its next opportunity, and not after two more rounds of a busy loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

_log = logging.getLogger("toprung")


class Delivery:
    """What a coroutine that the owner of an inbox drives yields to wait for a pending result."""

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

    def advance(self, steps: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its next wait, and return what it waits for; or raise StopIteration.

        A pending result yields a `Delivery`, anything else what a task would get: futures and None.
        """
        driver.inbox = self
        try:
            return steps.send(None)
        finally:
            driver.inbox = None

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


class _Driver(threading.local):
    inbox: Inbox | None = None
    """The inbox whose owner drives a coroutine just now, if one does."""


driver = _Driver()
"""Of this thread."""
