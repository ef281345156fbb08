"""The job that takes snapshots: at each boundary, and after downtime once."""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

from toprung.domain.instant import SECOND
from toprung.domain.jobs import Until
from toprung.errors import UnknownBoard
from toprung.ports import Clock, Journal, Lease
from toprung.service.background.working import Job
from toprung.service.snapshots import Snapshots
from toprung.waiting.pace import next_round

BOARDS_AT_ONCE: Final = 100
LOOK_SECONDS: Final = 60.0
"""After which it is looked for boards that were created, changed or deleted."""
AGAIN_SECONDS: Final = 5
"""After which a board is asked again whose boundary other clocks have not reached."""


class _Known(NamedTuple):
    """What is known of a board."""

    version: int
    due_at: float


class TakeSnapshots:
    """Keeps the order of the ladders of all boards that have a history.

    All boards are read when one of them is new or changed; else only those that are due.
    """

    name = "history"

    def __init__(self, journal: Journal, snapshots: Snapshots, clock: Clock) -> None:
        self._journal = journal
        self._snapshots = snapshots
        self._clock = clock
        self._token = ""
        self._known: dict[str, _Known] = {}
        """Boards that have a history, by id."""

    @property
    def schedule(self) -> Until:
        """When the next snapshot is due; and now and then, for boards that are not known yet."""
        at = min((each.due_at for each in self._known.values()), default=inf)
        return Until(None if at == inf else int(at), LOOK_SECONDS)

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Take what is due."""
        token = await self._journal.boards_token()
        if token != self._token:
            await self._look()
            await self._snapshots.forget(lease)
            self._token = token
        taken, now = 0, self._clock.now()
        due = [board_id for board_id, known in self._known.items() if known.due_at <= now]
        for board_id in due:
            taken += await self._take(lease, board_id)
            await next_round()
        return f"took {taken} snapshots"

    async def _look(self) -> None:
        """See which boards there are; what is new or changed is due."""
        found: dict[str, _Known] = {}
        after = ""
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                if board.history is not None:
                    known = self._known.get(board.id)
                    is_same = known is not None and known.version == board.version
                    found[board.id] = known if known and is_same else _Known(board.version, 0)
            await next_round()
        self._known = found

    async def _take(self, lease: Lease, board_id: str) -> bool:
        try:
            board = await self._journal.board(board_id)
        except UnknownBoard:
            del self._known[board_id]
            return False
        is_taken, due_at = await self._snapshots.take_due(lease, board)
        now = self._clock.now()
        again_at = now + AGAIN_SECONDS * SECOND
        self._known[board_id] = _Known(board.version, due_at if due_at > now else again_at)
        return is_taken


_: type[Job] = TakeSnapshots
