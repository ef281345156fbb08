"""Commands that wait for the writer of their process: a bounded queue that is taken in batches."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from toprung.domain.commands import Command, CommandResult, Submit
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.sharing import Sharing, sets_rules
from toprung.errors import Closed, Overloaded

QUEUE_ROWS_MAX = 100_000
"""Submissions that may wait; more are refused with Overloaded."""

COMMIT_ROWS_MAX = 500
"""Submissions after which a batch is closed: while it goes to the index, the next is committed."""

SINGLES_MAX = 60
"""Commands besides submissions in one transaction: each is a subtransaction, of which servers keep
64 at hand."""

HALVED_MIN = 32
"""Submissions that one transaction takes before the rest is left to another."""

PASSED_MAX = 20_000
"""Submissions that are left waiting because their players are busy, while others are taken."""

Result: TypeAlias = CommandResult


class Request:
    """A command on its way to the database."""

    __slots__ = ("_players", "command", "future", "rows")

    def __init__(self, command: Command, future: asyncio.Future[Result]) -> None:
        self.command = command
        self.future = future
        self._players: frozenset[str] | None = None
        if isinstance(command, Submit):  # so many are
            self.rows = len(command.submissions) or 1
        else:
            rows = [each for each in parts_of(command) if isinstance(each, Submit)]
            self.rows = sum(len(each.submissions) for each in rows) or 1

    @property
    def players(self) -> frozenset[str]:
        """Whose submissions these are; found out once, however often it is passed by."""
        if self._players is None:
            self._players = frozenset(
                submission.player
                for part in parts_of(self.command)
                if isinstance(part, Submit)
                for submission in part.submissions
            )
        return self._players

    def answer(self, result: Any) -> None:
        """Give the caller its result, or the exception to be raised there."""
        if self.future.done():  # cancelled meanwhile
            return
        if isinstance(result, Exception):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)


class CommandQueue:
    """What callers have handed over and the writer has not taken yet."""

    def __init__(self) -> None:
        self._requests: deque[Request] = deque()
        self._wake = asyncio.Event()
        self._is_closed = False
        self.rows = 0
        """How many submissions wait."""

    def put(self, command: Command) -> asyncio.Future[Result]:
        """Hand a command over; its result is to come."""
        if self._is_closed:
            raise Closed
        request = Request(command, asyncio.get_running_loop().create_future())
        if self.rows + request.rows > QUEUE_ROWS_MAX and self._requests:
            raise Overloaded
        self._requests.append(request)
        self.rows += request.rows
        self._wake.set()
        return request.future

    async def has_more(self) -> bool:
        """Wait until there is something to take; False when there will be nothing any more."""
        while not self._requests and not self._is_closed:
            self._wake.clear()
            await self._wake.wait()
        return bool(self._requests)

    def take(self, busy: AbstractSet[str] = frozenset()) -> list[Request]:
        """Whatever is waiting and can share a transaction: submissions, or other commands.

        Submissions of players who are `busy` wait, and so does what those players send after them.
        If nobody is, half of what waits is left for the next transaction, which begins meanwhile.
        A change of rules waits for everybody else who relies on them, so it shares with nothing.
        Nor does a bundle with submissions, which must know the players that its transaction made.
        """
        batch: list[Request] = []
        passed: list[Request] = []
        rows, sharing = 0, Sharing(singles_max=SINGLES_MAX)
        most = COMMIT_ROWS_MAX if busy else min(COMMIT_ROWS_MAX, max(HALVED_MIN, self.rows // 2))
        waiting: set[str] = set()
        passed_rows = 0
        while self._requests and rows < most and passed_rows < PASSED_MAX:
            request = self._requests[0]
            if request.future.done():  # nobody waits any more, and nothing was done yet
                self._remove_first()
                continue
            if busy and isinstance(request.command, Submit):
                players = request.players
                if not (players.isdisjoint(busy) and players.isdisjoint(waiting)):
                    waiting |= players
                    passed_rows += request.rows
                    passed.append(self._requests.popleft())
                    continue
            if (busy or passed) and not isinstance(request.command, Submit):
                break
            if batch and not _goes_with(batch[-1].command, request.command):
                break
            if not sharing.takes(request.command):
                break
            self._remove_first()
            batch.append(request)
            rows += request.rows
        self._requests.extendleft(reversed(passed))
        return batch

    def _remove_first(self) -> None:
        self.rows -= self._requests.popleft().rows

    def close(self) -> None:
        """Accept no more."""
        self._is_closed = True
        self._wake.set()

    def refuse(self) -> None:
        """Tell those who still wait that nothing was recorded for them."""
        while self._requests:
            request = self._requests.popleft()
            self.rows -= request.rows
            request.answer(Closed())


def _goes_with(one: Command, other: Command) -> bool:
    """Whether both are submissions, or neither submits or sets rules."""
    if isinstance(one, Submit) and isinstance(other, Submit):
        return True
    return not any(sets_rules(each) or _submits(each) for each in (one, other))


def _submits(command: Command) -> bool:
    return any(isinstance(each, Submit) for each in parts_of(command))
