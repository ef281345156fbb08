"""The embedded profile fulfils every port's contract."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.workbenches import EmbeddedWorkbench
from toprung.archives.files import ArchiveFilesAt
from toprung.journals.sqlite import SqliteJournal
from toprung.testing.contracts.access_key_contract import AccessKeyContract
from toprung.testing.contracts.activity_contract import ActivityContract
from toprung.testing.contracts.amending_contract import AmendingContract
from toprung.testing.contracts.archive_contract import BRIEF, ArchiveContract, Archiving
from toprung.testing.contracts.archive_upkeep_contract import ArchiveUpkeepContract
from toprung.testing.contracts.audit_contract import AuditContract
from toprung.testing.contracts.background_contract import BackgroundContract
from toprung.testing.contracts.batch_contract import BatchContract
from toprung.testing.contracts.board_contract import BoardContract
from toprung.testing.contracts.checks_contract import ChecksContract
from toprung.testing.contracts.clock_contract import ClockContract
from toprung.testing.contracts.command_contract import CommandContract
from toprung.testing.contracts.effect_contract import EffectContract
from toprung.testing.contracts.ending_contract import DAILY, Ending, EndingContract
from toprung.testing.contracts.follower_contract import FollowerContract
from toprung.testing.contracts.history_contract import HistoryContract, Past
from toprung.testing.contracts.index_contract import IndexContract
from toprung.testing.contracts.job_contract import JobContract
from toprung.testing.contracts.journal_contract import JournalContract
from toprung.testing.contracts.key_quota_contract import KeyQuotaContract
from toprung.testing.contracts.ladder_quota_contract import LadderQuotaContract
from toprung.testing.contracts.maintenance_contract import BackupContract, MaintenanceContract
from toprung.testing.contracts.moderation_contract import ModerationContract
from toprung.testing.contracts.name_contract import NameContract
from toprung.testing.contracts.review_contract import ReviewContract
from toprung.testing.contracts.run_contract import RunContract
from toprung.testing.contracts.workbench import Session, Workbench


class OnEmbedded:
    @pytest.fixture
    def workbench(self, tmp_path: Path) -> Workbench:
        directory = tmp_path / "data"
        directory.mkdir()
        return EmbeddedWorkbench(directory)


class TestAccessKeys(OnEmbedded, AccessKeyContract):
    pass


class TestJournal(OnEmbedded, JournalContract):
    pass


class TestCommands(OnEmbedded, CommandContract):
    pass


class TestEnding(OnEmbedded, EndingContract):
    @pytest.mark.parametrize("hours", [14, 24 * 5])
    def test_what_ended_meanwhile_is_ended_at_the_start(self, ending: Ending, hours: int) -> None:
        ending.create(["all-time", "daily"])
        ending.submit("ann", 5)
        ending.run(ending.opened.boards.close())
        ending.clock.advance(hours=hours)
        ending.opened.reopen()
        ending.step()
        assert ending.state() == "settled"


class TestHistory(OnEmbedded, HistoryContract):
    def test_after_being_closed_for_days_there_is_one(self, past: Past) -> None:
        past.create()
        past.submit(ann=5, bob=7)
        past.step()
        past.run(past.opened.boards.close())
        past.clock.advance(days=5)
        past.opened.reopen()
        self.check_one_for_all(past, "2026-11-20")

    def test_backups_have_them(self, past: Past, workbench: EmbeddedWorkbench) -> None:
        past.create()
        past.submit(ann=5, bob=7)
        past.step()
        found = past.points("ann")
        path = workbench.backup_path()
        past.run(past.opened.boards.backup(path))

        async def read() -> Any:
            boards = (await workbench.open_backup(path, past.clock)).boards
            try:
                board = await boards.board("blitz")
                return (await board.history("ann")).points, await board.top(movement=True)
            finally:
                await boards.close()

        points, top = past.run(read())
        assert list(points) == found != []
        assert [each.movement for each in top] == list(past.movement().values())


class TestChecks(OnEmbedded, ChecksContract):
    """What is checked before a score counts."""


class TestReview(OnEmbedded, ReviewContract):
    """Submissions that wait for a verdict."""


class TestAmending(OnEmbedded, AmendingContract):
    pass


class TestArchiveUpkeep(OnEmbedded, ArchiveUpkeepContract):
    pass


class TestRuns(OnEmbedded, RunContract):
    pass


class TestNames(OnEmbedded, NameContract):
    pass


class TestAudit(OnEmbedded, AuditContract):
    async def tamper(self, opened: Session, submission: int) -> None:
        assert isinstance(opened.journal, SqliteJournal)
        await opened.journal.write_beside(
            lambda execute: (
                execute("UPDATE submissions SET score = 99 WHERE position = ?", (submission,))
                and None
            )
        )


class TestArchives(OnEmbedded, ArchiveContract):
    def test_what_is_archived_is_not_replayed(self, days: Archiving) -> None:
        """Also if the whole journal is."""
        days.create(["all-time", BRIEF])
        days.fill()
        top = days.top()
        days.pass_day(16)
        self.release(days, DAILY)
        workbench = days.opened.workbench
        assert isinstance(workbench, EmbeddedWorkbench)
        days.run(days.opened.boards.close())
        for path in workbench.directory.glob("*.checkpoint"):
            path.unlink()
        days.opened.reopen()
        assert not days.held(*DAILY)
        assert days.held("all-time", "all")
        assert days.top() == top
        assert days.run(days.opened.boards.verify()) == []

    def test_what_waits_again_for_its_archive_is_replayed(self, days: Archiving) -> None:
        """Its archive was given up, and is wanted again: an older mark says nothing of that."""
        window = {**BRIEF, "retain": 3}
        days.create([window])
        days.fill()
        top = days.top()
        days.pass_day(16)
        days.run(days.opened.boards.patch("blitz", windows=[{**window, "keep": 0}]))
        days.clock.advance(minutes=2)
        days.step()
        days.run(days.opened.boards.patch("blitz", windows=[{**window, "keep": "forever"}]))
        assert days.files() == set()
        with patch.object(ArchiveFilesAt, "create", side_effect=OSError("it is away")):
            for day in range(17, 25):
                days.pass_day(day)
            days.opened.restart()
        assert days.held(*DAILY)
        assert days.top() == top

    def test_files_that_were_left_behind_are_deleted(self, days: Archiving) -> None:
        """A process dies before it deletes what it has replaced: it still names who was erased."""
        days.create([BRIEF])
        days.fill()
        days.pass_day(16)
        with patch.object(ArchiveFilesAt, "delete", side_effect=OSError("it dies here")):
            days.run(days.opened.boards.erase("p1"))
            days.step()
        assert len(days.files()) > 2
        days.opened.restart()
        days.pass_day(17)
        assert len(days.files()) == 2


class TestModeration(OnEmbedded, ModerationContract):
    pass


class TestBatch(OnEmbedded, BatchContract):
    pass


class TestBoard(OnEmbedded, BoardContract):
    pass


class TestIndex(OnEmbedded, IndexContract):
    pass


class TestMaintenance(OnEmbedded, MaintenanceContract):
    pass


class TestBackup(OnEmbedded, BackupContract):
    pass


class TestClock(OnEmbedded, ClockContract):
    pass


class TestKeyQuota(OnEmbedded, KeyQuotaContract):
    pass


class TestLadderQuota(OnEmbedded, LadderQuotaContract):
    pass


class TestFollowers(OnEmbedded, FollowerContract):
    pass


class TestEffects(OnEmbedded, EffectContract):
    pass


class TestJobs(OnEmbedded, JobContract):
    pass


class TestActivity(OnEmbedded, ActivityContract):
    steps = 120 if os.environ.get("TOPRUNG_SOAK") else ActivityContract.steps


class TestBackground(OnEmbedded, BackgroundContract):
    pass
