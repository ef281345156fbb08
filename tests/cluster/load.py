"""Load that knows what was acknowledged, for fault tests."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from toprung.errors import NotRanked, Unavailable
from toprung.service.leaderboards import Leaderboard, Leaderboards

SETTLE_SECONDS_MAX = 30.0


class Load:
    """Players who each send 1 after the other to a board that adds up."""

    def __init__(self, board: Leaderboard, players: int = 5, name: str = "p") -> None:
        self.board = board
        self.acknowledged: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        """Submissions that failed: they may or may not have been recorded."""
        self.stale = 0
        self._stopping = False
        self._tasks = [asyncio.create_task(self._play(f"{name}{n}")) for n in range(players)]

    async def _play(self, player: str) -> None:
        while not self._stopping:
            try:
                result = await self.board.submit(player, 1)
            except Unavailable:
                self.unknown[player] += 1
                await asyncio.sleep(0.02)
            else:
                self.acknowledged[player] += 1
                self.stale += result.stale

    async def acks(self, more: int) -> None:
        """Wait until so many more submissions were acknowledged."""
        wanted = self.acknowledged.total() + more
        await holds(lambda: _told(self.acknowledged.total() >= wanted), "acknowledgements")

    async def fresh_acks(self, more: int) -> None:
        """Wait until so many more were acknowledged with a rank."""
        wanted = self.acknowledged.total() - self.stale + more
        await holds(
            lambda: _told(self.acknowledged.total() - self.stale >= wanted), "answers with a rank"
        )

    async def stop(self) -> None:
        """Let everyone finish."""
        self._stopping = True
        await asyncio.gather(*self._tasks)


class KeyedLoad(Load):
    """The same with a key for each: what fails is sent again until it is acknowledged."""

    async def _play(self, player: str) -> None:
        number = 0
        while not self._stopping:
            try:
                result = await self.board.submit(player, 1, key=f"{player}-{number}")
            except Unavailable:
                await asyncio.sleep(0.02)
            else:
                number += 1
                self.acknowledged[player] += 1
                self.stale += result.stale


async def check_nothing_lost(boards: Leaderboards, load: Load) -> None:
    """The index ends up equal to the truth, and nothing acknowledged is missing."""

    async def is_clean() -> bool:
        try:
            return await boards.verify() == []
        except Unavailable:
            return False

    await holds(is_clean, "a clean verification")
    for player, count in load.acknowledged.items():
        try:
            score = (await load.board.standing(player)).score
        except NotRanked:
            score = 0
        assert count <= score <= count + load.unknown[player], player


async def holds(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Look again and again until it holds, but not for ever."""
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while not await condition():
        assert time.monotonic() < deadline, f"no {what} within {SETTLE_SECONDS_MAX:.0f} s"
        await asyncio.sleep(0.05)


async def _told(answer: bool) -> bool:
    return answer
