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
            wanted, given = self._line[0]
            if not given.done():  # else it has given up
                if self.taken + wanted > self._size:
                    return
                self.taken += wanted
                given.set_result(None)
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
        given: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((amount, given))
        try:
            await given
        except asyncio.CancelledError:
            if given.done() and not given.cancelled():  # just now
                self.give_back(amount)
            else:
                given.cancel()
                self.give_back(0)  # whoever stands behind may fit
            raise


class Shares:
    """A room of which one caller may have a part, and all callers without a key another.

    So neither a stranger nor a customer can take everything.
    """

    def __init__(self, size: int, *, of_caller: int, of_strangers: int, of_stranger: int) -> None:
        self._room = Room(size)
        self._of_caller = of_caller
        self._of_stranger = of_stranger
        self._strangers = Room(of_strangers)
        self._by_caller: dict[str, int] = {}

    @property
    def taken(self) -> int:
        """By all together."""
        return self._room.taken

    def take(self, amount: int, caller: str | None, *, is_stranger: bool) -> bool:
        """Take some at once; False if there is not enough left. Who has no name has no limit."""
        if caller is None:
            return self._room.take(amount)
        taken = self._by_caller.get(caller, 0) + amount
        if taken > (self._of_stranger if is_stranger else self._of_caller):
            return False
        if is_stranger and not self._strangers.take(amount):
            return False
        if not self._room.take(amount):
            if is_stranger:
                self._strangers.give_back(amount)
            return False
        self._by_caller[caller] = taken
        return True

    def give_back(self, amount: int, caller: str | None, *, is_stranger: bool) -> None:
        """Let go of what was taken."""
        self._room.give_back(amount)
        if caller is None:
            return
        if is_stranger:
            self._strangers.give_back(amount)
        self._by_caller[caller] -= amount
        if not self._by_caller[caller]:
            del self._by_caller[caller]
