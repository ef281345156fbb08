"""What archives periods that are settled, and what takes erased players out of archives."""

from __future__ import annotations

from typing import Final

from toprung.domain.events import PlayerErased
from toprung.domain.jobs import Every
from toprung.errors import ArchiveUnavailable
from toprung.ports import FollowerState, Journal, Lease, Selection, Step, Stretch
from toprung.service.archiving import Archives
from toprung.service.background.following import Follower
from toprung.service.background.working import Job
from toprung.waiting.pace import next_round

BOARDS_AT_ONCE: Final = 100


class ArchivePeriods:
    """Archives what is settled, on all boards, and deletes archives that are old enough."""

    name = "archives"
    schedule = Every(60.0)

    def __init__(self, journal: Journal, archives: Archives) -> None:
        self._journal = journal
        self._archives = archives

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Look at all boards; what cannot be archived now is tried the next time."""
        done = waiting = dropped = 0
        after, generations = "", set()
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                generations.add(board.generation)
                some, others = await self._archives.archive_due(board)
                done, waiting = done + some, waiting + others
                dropped += await self._archives.expire(board)
            await next_round()
        dropped += await self._archives.bury(generations)
        if waiting and self._archives.store is not None:
            raise ArchiveUnavailable(f"archived {done} periods, not {waiting} others: see the log")
        return f"archived {done} periods, {waiting} wait; deleted {dropped} archives"


class ErasingFollower:
    """Takes players who were erased out of archives."""

    name = "archives"
    start = 0
    selection = Selection((PlayerErased,))

    def __init__(self, archives: Archives) -> None:
        self._archives = archives

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step:  # noqa: ARG002
        """Write the archives again in which they are; doing it twice changes nothing."""
        bodies = (event.body for event in stretch.events)
        erased = {body.player for body in bodies if isinstance(body, PlayerErased)}
        await self._archives.erase(erased)
        return Step(position=stretch.until)


_: type[Job] = ArchivePeriods
_follower: type[Follower] = ErasingFollower
