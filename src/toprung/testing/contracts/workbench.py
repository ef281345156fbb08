"""Where a suite opens a profile, closes it and opens it again; and what it does behind its back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from toprung.domain.ladder import Ladder
from toprung.ports import Clock, Index, Journal, Maintenance
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock

T = TypeVar("T")


@dataclass(frozen=True)
class Opened:
    """An open profile: the facade, and the ports behind it."""

    boards: Leaderboards
    journal: Journal
    index: Index
    maintenance: Maintenance


class Workbench(Protocol):
    """One place for data, at which one profile is opened as often as a suite likes."""

    quotas: Mapping[str, int]
    """Quotas that differ from the profile's own, from the next opening on."""
    archive: str | None
    """Where settled periods are archived, from the next opening on; None: nowhere."""

    async def open(self, clock: Clock) -> Opened:
        """Open the profile on whatever it held when it was last closed; at first on nothing."""
        ...

    def stalled(self, opened: Opened) -> AbstractContextManager[None]:
        """While inside, nothing is recorded: commands wait or are refused."""
        ...

    def queue_full_after(self) -> int:
        """How many submissions may wait, at most, before more are refused."""
        ...

    async def plant(self, opened: Opened, ladder: Ladder, player: str) -> None:
        """Take a player's entry off one ladder of the index, behind the journal's back."""
        ...

    async def pass_hours(self, opened: Opened, clock: FrozenClock, count: int) -> None:
        """Let hours pass, in which the profile is at work."""
        ...

    async def destroy(self) -> None:
        """Remove all data."""
        ...


class BackupWorkbench(Workbench, Protocol):
    """A workbench of a profile that writes its own backups."""

    async def open_backup(self, path: str, clock: Clock) -> Opened:
        """Open what `backup(path)` wrote."""
        ...

    def backup_path(self) -> str:
        """A path that `backup` may write to."""
        ...


class Session:
    """A profile on a workbench, driven from synchronous tests by one event loop."""

    def __init__(self, workbench: Workbench, clock: FrozenClock) -> None:
        self.workbench = workbench
        self.clock = clock
        self._runner = asyncio.Runner()
        self.opened = self.run(workbench.open(clock))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do asynchronous work to its end."""
        return self._runner.run(work)

    @property
    def boards(self) -> Leaderboards:
        """The facade."""
        return self.opened.boards

    @property
    def journal(self) -> Journal:
        """The journal port."""
        return self.opened.journal

    @property
    def index(self) -> Index:
        """The index port."""
        return self.opened.index

    def restart(self) -> None:
        """Close the profile and open it again."""
        self.run(self.boards.close())
        self.reopen()

    def reopen(self) -> None:
        """Open the profile again, which was closed."""
        self.opened = self.run(self.workbench.open(self.clock))

    def derived(self) -> Iterator[None]:
        """As it is, rebuilt and opened again: each time, cards or journal and ladders agree."""
        for derive in (None, lambda: self.run(self.boards.rebuild()), self.restart):
            if derive is not None:
                derive()
            found = self.run(self.boards.verify())
            assert found == [], found
            yield

    def pass_hours(self, count: int) -> None:
        """Let hours pass, in which the profile is at work."""
        self.run(self.workbench.pass_hours(self.opened, self.clock, count))

    def end(self) -> None:
        """Close the profile and remove its data."""
        try:
            self.run(self.boards.close())
            self.run(self.workbench.destroy())
        finally:
            self._runner.close()


@contextmanager
def session(workbench: Workbench, clock: FrozenClock) -> Iterator[Session]:
    """An open profile, closed and destroyed at the end."""
    opened = Session(workbench, clock)
    try:
        yield opened
    finally:
        opened.end()
