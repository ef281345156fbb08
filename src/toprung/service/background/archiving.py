"""What archives periods that are settled, and what takes erased players out of archives."""

from __future__ import annotations

from toprung.domain.events import PlayerErased
from toprung.domain.jobs import Every
from toprung.errors import ArchiveUnavailable
from toprung.ports import FollowerState, Lease, Selection, Step, Stretch
from toprung.service.archiving import Archives
from toprung.service.background.following import Follower
from toprung.service.background.working import Job


class ArchivePeriods:
    """Archives what is settled, on all boards, and deletes archives that are old enough."""

    name = "archives"
    schedule = Every(60.0)

    def __init__(self, archives: Archives) -> None:
        self._archives = archives

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Look at all boards; what cannot be archived now is tried the next time."""
        done = await self._archives.archive_all()
        if done.waiting and self._archives.store is not None:
            raise ArchiveUnavailable(
                f"archived {done.archived} periods, not {done.waiting} others: see the log"
            )
        return (
            f"archived {done.archived} periods, {done.waiting} wait;"
            f" deleted {done.deleted} archives"
        )


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
