"""Requests that wait for their answers without a task.

A handler that awaits nothing but results of the leaderboards (`toprung.waiting.pending`) and
futures can be driven by whoever delivers them. It cannot be cancelled, and must not use what asks
for the current task (timeouts, task groups).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from toprung.http.answers import Answer, Headers
from toprung.waiting.inbox import Delivery, Inbox

Reply = tuple[Answer, Headers]
"""An answer, and the headers to send before its own."""


class Tell(Protocol):
    """Whom an `Underway` tells of its reply."""

    def __call__(self, reply: Reply, *, keep_alive: bool) -> None:
        """Send the reply; keep the connection after it, or not."""
        ...


class _Nobody:
    """Whom uvicorn tells of news about a cycle: nobody waits for them here."""

    def set(self) -> None:
        pass


class Underway:
    """A request under way; for uvicorn it takes the place of a cycle.

    So requests that follow on the same connection queue up behind it, and a server that stops
    waits for it.
    """

    __slots__ = (
        "_finish",
        "_inbox",
        "_steps",
        "_tell",
        "disconnected",
        "keep_alive",
        "response_complete",
    )

    message_event = _Nobody()

    def __init__(
        self,
        inbox: Inbox,
        steps: Coroutine[Any, Any, Any],
        awaited: object,
        finish: Callable[[Any], Reply],
    ) -> None:
        """`steps` now waits for `awaited`; `finish` makes the reply of what it returns."""
        self._inbox = inbox
        self._steps = steps
        self._finish = finish
        self.disconnected = False
        self.keep_alive = True
        self.response_complete = False
        self._wait(awaited)

    def then(self, tell: Tell) -> None:
        """Whom to tell of the reply."""
        self._tell = tell

    def _wait(self, awaited: Any) -> None:
        if isinstance(awaited, Delivery):
            awaited.go_on = self._go_on
        elif awaited is None:  # it only lets others go first
            asyncio.get_running_loop().call_soon(self._go_on)
        else:
            awaited._asyncio_future_blocking = False  # noqa: SLF001 -- as tasks do
            awaited.add_done_callback(self._go_on)

    def _go_on(self, _future: object = None) -> None:
        try:
            awaited = self._inbox.advance(self._steps)
        except StopIteration as end:
            self.response_complete = True
            self._tell(self._finish(end.value), keep_alive=self.keep_alive)
        else:
            self._wait(awaited)
