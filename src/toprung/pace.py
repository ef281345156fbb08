"""Long work on an event loop, in slices, so that everybody else gets their turn in between.

What takes milliseconds per thousand rows (decoding, validating and deciding batches, building long
answers) does its work inside `async with Work() as work` and calls `work.rest()` whenever
`work.is_due()`. One slice lasts a few milliseconds. All long work of an event loop takes turns, one
slice per round of the loop, however many callers have sent batches: so whoever else asks waits for
one slice and not for one per batch. Without an event loop nobody waits, and resting does nothing.
"""

from __future__ import annotations

import asyncio
import weakref
from time import perf_counter
from typing import Final, Self

from toprung.pending import running_loop, turn

SLICE_SECONDS: Final = 0.004
"""After which others get their turn. Work looks at the clock between pieces of about a tenth."""

_turnstiles: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
    weakref.WeakKeyDictionary()
)


class Work:
    """A stretch of long work, which holds the turn of its event loop except while it rests."""

    __slots__ = ("_is_held", "_turnstile", "_until")

    async def __aenter__(self) -> Self:
        loop = running_loop()
        self._turnstile = None if loop is None else _turnstile(loop)
        self._is_held = False
        await self._begin()
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._end()

    def is_due(self) -> bool:
        """Whether the slice has lasted long enough."""
        return perf_counter() >= self._until

    async def rest(self) -> None:
        """Let others have their turn, where there can be any."""
        if self._turnstile is not None:
            self._end()
            await turn()
        await self._begin()

    async def _begin(self) -> None:
        if self._turnstile is not None:
            await self._turnstile.acquire()
            self._is_held = True
        self._until = perf_counter() + SLICE_SECONDS

    def _end(self) -> None:
        if self._turnstile is not None and self._is_held:  # not if cancelled while waiting for it
            self._is_held = False
            self._turnstile.release()


def _turnstile(loop: asyncio.AbstractEventLoop) -> asyncio.Lock:
    found = _turnstiles.get(loop)
    if found is None:
        found = _turnstiles[loop] = asyncio.Lock()
    return found
