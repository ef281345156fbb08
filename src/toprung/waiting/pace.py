"""Long work on an event loop, in slices, so that everybody else gets their turn in between.

What takes milliseconds per thousand rows (decoding, validating and deciding batches, building long
answers) does its work inside `async with LongWork() as work` and calls `work.rest()` whenever
`work.is_due()`. A round of the event loop has a few milliseconds for all such work together,
however many callers have sent batches: they take turns, and whoever asks for something else waits
for one slice and not for one per batch. Without an event loop nobody waits: resting does nothing.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Generator
from time import perf_counter
from typing import Final, Self, TypeVar

from toprung.waiting.blocking import running_loop

SLICE_SECONDS: Final = 0.004
"""Of long work in one round of an event loop. Work looks at the clock every tenth of it or so."""

FEW_ROWS: Final = 100
"""Of an answer, which take a fraction of a millisecond."""

T = TypeVar("T")


class _Turnstile(asyncio.Lock):
    """Lets one piece of long work at a time through, and knows what this round has cost."""

    spent = 0.0

    def spend(self, seconds: float) -> None:
        """Note that work has taken so long, in this round of the loop."""
        if not self.spent:
            asyncio.get_running_loop().call_soon(self._renew)
        self.spent += seconds

    def _renew(self) -> None:
        self.spent = 0.0


_turnstiles: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Turnstile] = (
    weakref.WeakKeyDictionary()
)


class LongWork:
    """A stretch of long work, which holds the turn of its event loop except while it rests."""

    __slots__ = ("_begin_at", "_is_held", "_turnstile", "_until")

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
        self._end()
        await self._begin()

    async def _begin(self) -> None:
        left = SLICE_SECONDS
        if self._turnstile is not None:
            await self._turnstile.acquire()
            if self._turnstile.spent >= SLICE_SECONDS:
                await self._wait_for_next_round(self._turnstile)
            self._is_held = True
            left -= self._turnstile.spent
        self._begin_at = perf_counter()
        self._until = self._begin_at + left

    async def _wait_for_next_round(self, turnstile: _Turnstile) -> None:
        try:
            await next_round()
        except BaseException:
            turnstile.release()
            raise

    def _end(self) -> None:
        if self._turnstile is not None and self._is_held:  # not if cancelled while waiting for it
            self._is_held = False
            self._turnstile.spend(perf_counter() - self._begin_at)
            self._turnstile.release()


async def in_turn(work: Callable[[], T], rows: int) -> T:
    """What `work` makes of so many rows: at once of a few, when its turn comes of many.

    It is not interrupted, so a round of the event loop has one such piece of work, and not one for
    each of those who asked at the same moment.
    """
    if rows <= FEW_ROWS:
        return work()
    async with LongWork():
        return work()


async def next_round() -> None:
    """Let the event loop, if there is one, run whatever else is ready."""
    await _NextRound()


class _NextRound:
    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


def _turnstile(loop: asyncio.AbstractEventLoop) -> _Turnstile:
    found = _turnstiles.get(loop)
    if found is None:
        found = _turnstiles[loop] = _Turnstile()
    return found
