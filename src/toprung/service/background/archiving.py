"""What archives periods that are settled, and what takes erased players out of archives."""

from __future__ import annotations

from toprung.domain.events import PlayerErased
from toprung.domain.jobs import Every
from toprung.errors import ArchiveUnavailable
from toprung.ports import FollowerState, Journal, Lease, Selection, Step, Stretch
from toprung.service.archive_rounds import ArchiveRounds
from toprung.service.archiving import Archives
from toprung.service.background.following import Follower
from toprung.service.background.working import Job


class ArchivePeriods:
    """Archives what is settled, on all boards, and deletes archives that are old enough."""

    name = "archives"
    schedule = Every(60.0)

    def __init__(self, journal: Journal, archives: Archives) -> None:
        self._archives = archives
        self._rounds = ArchiveRounds(journal, archives)
        self._token: int | None = None
        """Of the lease under which the last round was made."""

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Make a round; what cannot be archived now is tried the next time."""
        if lease.token != self._token:
            self._rounds.forget()
            self._token = lease.token
        done = await self._rounds.go()
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
