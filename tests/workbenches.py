"""Where suites open profiles: one workbench per profile."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from toprung.domain.ladder import Ladder
from toprung.domain.quotas import EMBEDDED_QUOTAS
from toprung.journals import sqlite
from toprung.ports import Clock
from toprung.profiles.embedded import EmbeddedProfile
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import BackupWorkbench, Opened


class EmbeddedWorkbench:
    """The embedded profile on one file in a directory of its own."""

    def __init__(self, directory: Path, name: str = "scores.db") -> None:
        self.directory = directory
        self.path = directory / name
        self.quotas: Mapping[str, int] = {}
        self.archive: str | None = None

    async def open(self, clock: Clock) -> Opened:
        return open_profile(str(self.path), clock, self.quotas, self.archive)

    async def open_backup(self, path: str, clock: Clock) -> Opened:
        return open_profile(path, clock, self.quotas, self.archive)

    def backup_path(self) -> str:
        return str(self.directory / "backup.db")

    @contextmanager
    def stalled(self, opened: Opened) -> Iterator[None]:
        """The writer takes turns with `paused` work; here it does not get one."""
        assert isinstance(opened.journal, sqlite.SqliteJournal)
        with opened.journal._committing:
            yield

    def queue_full_after(self) -> int:
        return sqlite.QUEUE_ROWS_MAX + sqlite.COMMIT_WEIGHT_MAX

    async def plant(self, opened: Opened, ladder: Ladder, player: str) -> None:
        assert isinstance(opened.maintenance, EmbeddedProfile)
        fold = opened.maintenance.fold
        ranked, number = fold.index.find(ladder), fold.number(player)
        assert ranked is not None
        assert number is not None
        assert ranked.remove(number) is not None

    async def pass_hours(self, opened: Opened, clock: FrozenClock, count: int) -> None:
        assert isinstance(opened.maintenance, EmbeddedProfile)
        for _ in range(count):
            clock.advance(hours=1)
            opened.maintenance.journal.time.moment()

    async def destroy(self) -> None:
        shutil.rmtree(self.directory)


def open_profile(
    path: str, clock: Clock, quotas: Mapping[str, int] | None = None, archive: str | None = None
) -> Opened:
    """The embedded profile at a path (or ``memory:``), with its parts."""
    profile = EmbeddedProfile(path, clock, "full", EMBEDDED_QUOTAS.changed(quotas), archive)
    boards = Leaderboards(profile.parts)
    return Opened(boards, profile.journal, profile.index, profile)


_: type[BackupWorkbench] = EmbeddedWorkbench
