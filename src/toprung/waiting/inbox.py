"""The inbox: where results arrive for the light tasks of one event loop.

Its owner is told of results at its next opportunity, and not after two more rounds of a busy loop.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import _get_running_loop
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

_log = logging.getLogger("toprung")


class Delivery:
    """What the coroutine of a light task yields to wait for a pending result."""

    __slots__ = ("go_on", "inbox")

    go_on: Callable[[], None]
    """Goes on with the coroutine; set by its task as soon as this is yielded."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox

    def abandon(self) -> None:
        """Nobody waits any longer; the result comes all the same, for nobody."""
        self.go_on = _nothing

    @property
    def is_abandoned(self) -> bool:
        """Whether who waited for it was cancelled."""
        return self.go_on is _nothing


def _nothing() -> None:
    pass


class Inbox:
    """Where results arrive for the light tasks of one event loop.

    The loop is woken for them, but a busy loop comes to that late: whoever has the thread may
    `open` the inbox at any time, outside of tasks. `after` is called when the loop has opened it.
    """

    __slots__ = ("_after", "arrived", "loop")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, after: Callable[[], None] = lambda: None
    ) -> None:
        self.loop = loop
        self._after = after
        self.arrived: deque[Delivery] = deque()

    def post(self, deliveries: Iterable[Delivery]) -> None:
        """Say, from any thread, that these coroutines can go on."""
        self.arrived.extend(deliveries)
        if _get_running_loop() is self.loop:  # it need not be woken
            self.loop.call_soon(self._open_by_loop)
            return
        with suppress(RuntimeError):  # the loop was closed: nobody waits there any more
            self.loop.call_soon_threadsafe(self._open_by_loop)

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
