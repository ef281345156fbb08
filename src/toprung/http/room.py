"""Bounds on what requests hold in memory together: bytes of bodies, rows of batches.

Limits of single requests do not bound their sum. Bodies that find no room are refused, because they
are still on their way and their senders can wait better than we can; batches whose bodies are here
wait in line.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """A bounded amount of something, such as bytes: taken at once, or waited for in line."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.taken = 0
        self._line: deque[tuple[int, asyncio.Future[None]]] = deque()

    def take(self, amount: int) -> bool:
        """Take some at once; False if there is not enough left."""
        if self._line or self.taken + amount > self._size:
            return False
        self.taken += amount
        return True

    def give_back(self, amount: int) -> None:
        """Let go of what was taken; whoever is first in line gets it."""
        self.taken -= amount
        while self._line:
            wanted, turn = self._line[0]
            if not turn.done():  # else it has given up
                if self.taken + wanted > self._size:
                    return
                self.taken += wanted
                turn.set_result(None)
            self._line.popleft()

    @asynccontextmanager
    async def holding(self, amount: int) -> AsyncIterator[None]:
        """Wait in line for some, and hold it for a while; more than everything is everything."""
        amount = min(amount, self._size)
        if not self.take(amount):
            await self._wait(amount)
        try:
            yield
        finally:
            self.give_back(amount)

    async def _wait(self, amount: int) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((amount, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given just now
                self.give_back(amount)
            else:
                turn.cancel()
                self.give_back(0)  # whoever stands behind may fit
            raise
