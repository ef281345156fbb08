"""Coroutines that begin at once and need no task of asyncio, but are tasks to all who ask.

`asyncio.create_task` begins in the next round of the event loop and goes on one round after its
result has arrived; both rounds cost a short request more than its work. A light task begins where
it is made, so that nothing of it is left where nothing waits, and goes on where its results are
delivered (`inbox`). While it runs it is `asyncio.current_task()`, and it can be cancelled:
`asyncio.timeout`, task groups and a server that stops do with it what they do with others.

What it is not: it has no context of its own (context variables are those of the event loop), and
nobody can await it. Its maker says whom to tell of its end.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # for makers of tasks: "Extending" in the docs
from collections.abc import Callable, Coroutine
from typing import Any

from toprung.waiting.inbox import Delivery, Inbox


class LightTask:
    """One coroutine; another may begin where one has ended without waiting."""

    __slots__ = ("_awaited", "_cancels", "_is_done", "_must_cancel", "_on_end", "_steps", "inbox")

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self._awaited: Any = None
        """What the coroutine waits for: a delivery, a future, or None for the next round."""
        self._cancels = 0
        self._must_cancel = False
        self._is_done = False

    def begin(self, steps: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine to its first wait; StopIteration with its result if there is none."""
        if self._cancels:  # of the one before
            self._cancels, self._must_cancel = 0, False
        task: Any = self
        loop = self.inbox.loop
        _enter_task(loop, task)
        try:
            awaited = steps.send(None)
        finally:
            _leave_task(loop, task)
        self._steps = steps
        self._wait(awaited)

    def then(self, on_end: Callable[[Any, Any, BaseException | None], None]) -> None:
        """Whom to tell that this task has ended: with a result, or what was raised instead."""
        self._on_end = on_end

    def _advance(self) -> Any:
        """Run to the next wait."""
        task: Any = self
        loop = self.inbox.loop
        _enter_task(loop, task)
        try:
            if self._must_cancel:
                self._must_cancel = False
                return self._steps.throw(asyncio.CancelledError())
            return self._steps.send(None)
        finally:
            _leave_task(loop, task)

    def _wait(self, awaited: Any) -> None:
        self._awaited = awaited
        if isinstance(awaited, Delivery):
            awaited.go_on = self._go_on
        elif awaited is None:  # it only lets others go first
            self.inbox.loop.call_soon(self._go_on)
            return  # and is cancelled then
        else:
            awaited._asyncio_future_blocking = False  # noqa: SLF001 -- as tasks do
            awaited.add_done_callback(self._go_on)
        if self._must_cancel:
            self._interrupt()

    def _go_on(self, _future: object = None) -> None:
        self._awaited = None  # it refers to this task: garbage would be left to the collector
        try:
            awaited = self._advance()
        except StopIteration as end:
            self._is_done = True
            self._on_end(self, end.value, None)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- as tasks do
            self._is_done = True
            self._on_end(self, None, error)
        else:
            self._wait(awaited)

    # --- what others ask of tasks -----------------------------------------------------------------

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002 -- the same call as a task's
        """Raise CancelledError where the coroutine waits, or next waits."""
        if self._is_done:
            return False
        self._cancels += 1
        self._must_cancel = True
        current: Any = asyncio.current_task(self.inbox.loop)
        if current is not self:
            self._interrupt()
        return True

    def done(self) -> bool:
        """Whether it has ended, after it had to wait."""
        return self._is_done

    def cancelling(self) -> int:
        """How often it was cancelled, and not `uncancel`-led."""
        return self._cancels

    def uncancel(self) -> int:
        """Take one cancellation back: it was meant for a part of the coroutine, which has ended."""
        self._cancels = max(0, self._cancels - 1)
        return self._cancels

    def _interrupt(self) -> None:
        """Have it go on, although what it waits for has not come."""
        awaited = self._awaited
        if isinstance(awaited, Delivery):
            if not awaited.is_abandoned:  # else it is on its way already
                awaited.abandon()
                self.inbox.loop.call_soon(self._go_on)
        elif awaited is not None and awaited.cancel():
            self._must_cancel = False  # the future raises it


def inbox_of(loop: asyncio.AbstractEventLoop) -> Inbox | None:
    """Where results arrive for the light task that is running; None if none is."""
    task: Any = asyncio.current_task(loop)
    return task.inbox if isinstance(task, LightTask) else None
