"""The job that ends periods: it closes and settles them when it is time."""

from __future__ import annotations

import logging
from math import inf
from typing import Final, NamedTuple

from toprung.domain.ending import next_ending
from toprung.domain.instant import SECOND
from toprung.domain.jobs import Until
from toprung.errors import NotYet, OlderProcesses, UnknownBoard
from toprung.ports import Clock, Journal, Lease
from toprung.service.background.working import Job
from toprung.service.endings import Endings
from toprung.waiting.pace import next_round

BOARDS_AT_ONCE: Final = 100
BOARDS_PER_TURN: Final = 10
"""That are asked before others have their turn: a millisecond, if nothing is due on them."""
LOOK_SECONDS: Final = 60.0
"""After which it is looked for boards that were created or changed."""
AGAIN_SECONDS: Final = 5
"""After which a board is asked again on which something is due that could not be done."""

_log = logging.getLogger("toprung")


class _Known(NamedTuple):
    """What is known of a board."""

    version: int
    due_at: float
    """When a period is to be closed or settled."""


class EndPeriods:
    """Closes and settles the periods of all boards, in order, also those that ended long ago.

    All boards are read when one of them is new or changed; else only those on which a period is
    due.
    """

    name = "periods"

    def __init__(self, journal: Journal, endings: Endings, clock: Clock) -> None:
        self._journal = journal
        self._endings = endings
        self._clock = clock
        self._token = ""
        self._known: dict[str, _Known] = {}
        """Boards whose periods are closed some day, by id."""

    @property
    def schedule(self) -> Until:
        """When the next period is due; and now and then, for boards that are not known yet."""
        at = min((each.due_at for each in self._known.values()), default=inf)
        return Until(None if at == inf else int(at), LOOK_SECONDS)

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """End what is due."""
        token = await self._journal.boards_token()
        if token != self._token:
            await self._look()
            self._token = token
        done, now = 0, self._clock.now()
        due = [board_id for board_id, known in self._known.items() if known.due_at <= now]
        for number, board_id in enumerate(due, 1):
            done += await self._end(board_id)
            if number % BOARDS_PER_TURN == 0:
                await next_round()
        return f"closed or settled {done} periods"

    async def _look(self) -> None:
        """See which boards there are; what is new or changed is due."""
        found: dict[str, _Known] = {}
        after = ""
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                if any(window.grace is not None for window in board.windows):
                    known = self._known.get(board.id)
                    is_same = known is not None and known.version == board.version
                    found[board.id] = known if known and is_same else _Known(board.version, 0)
            await next_round()
        self._known = found

    async def _end(self, board_id: str) -> int:
        now, done, due_at = self._clock.now(), 0, 0.0
        try:
            board = await self._journal.board(board_id)
            done, due_at = await self._endings.end_due(board)
            due_at = min(due_at, next_ending(board, now))
        except UnknownBoard:
            del self._known[board_id]
            return 0
        except (NotYet, OlderProcesses) as error:
            _log.warning("periods of board %r cannot be ended yet: %s", board_id, error)
        # Others may go by a clock that is behind: then it is not time yet, whatever this one says.
        again_at = now + AGAIN_SECONDS * SECOND
        version = self._known[board_id].version
        self._known[board_id] = _Known(version, due_at if due_at > now else again_at)
        return done


_: type[Job] = EndPeriods
