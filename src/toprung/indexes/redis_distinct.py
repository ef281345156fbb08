"""Counting distinct results on a ladder that keeps no set of them: one sweep for one request.

The results are counted from the best on, each script doing a bounded part, up to the deepest that
was asked for and to no more than `DISTINCT_MAX`: so a list of a thousand players costs as much as
its last one. Sweeps of one process take turns, and few may wait, so that however many ask for this
the server has time for others between any two scripts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from toprung.domain.board import Board
from toprung.domain.ranking import DISTINCT_MAX
from toprung.errors import Overloaded

UNITS_PER_SCRIPT = 6_000
"""Members that a script reads at most; skipping over a tie group counts as twelve or more."""

PREFIXES_PER_SCRIPT = 200
WAITING_MAX = 64
"""Requests that may wait for their sweep; more are refused."""


class Reached(NamedTuple):
    """How far a sweep has come."""

    rest: bytes = b"-"
    """Where the rest of the order begins, as the start of a range."""
    results: int = 0
    """Distinct results before it."""


class DistinctCounter:
    """Continues what a script began to count."""

    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run
        self._sweeping = asyncio.Lock()
        self._waiting = 0

    async def count(
        self,
        board: Board,
        ladder: str,
        prefixes: Sequence[bytes],
        reached: Reached,
        seen: set[int],
    ) -> list[int]:
        """Distinct results before each prefix, these being in order; beyond the limit, one more.

        `seen` notes how often the shard had changed at each script.
        """
        counts: list[int] = []
        async with self._taking_turns():
            while len(counts) < len(prefixes) and reached.results <= DISTINCT_MAX:
                some = prefixes[len(counts) :][:PREFIXES_PER_SCRIPT]
                changes, *scan = answer = await self._run(
                    "distinct", board, ladder, DISTINCT_MAX, UNITS_PER_SCRIPT, *reached, *some
                )
                reached = Reached(*scan[:2])
                counts += answer[3:]
                seen.add(changes)
        return counts + [DISTINCT_MAX + 1] * (len(prefixes) - len(counts))

    @asynccontextmanager
    async def _taking_turns(self) -> AsyncIterator[None]:
        if self._waiting >= WAITING_MAX:
            raise Overloaded(
                "too many dense ranks are being counted; "
                'a board with ranking "dense" need not count them'
            )
        self._waiting += 1
        try:
            async with self._sweeping:
                yield
        finally:
            self._waiting -= 1
