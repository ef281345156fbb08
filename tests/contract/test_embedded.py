"""The embedded profile fulfils every port's contract."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.workbenches import EmbeddedWorkbench
from toprung.testing.contracts.activity_contract import ActivityContract
from toprung.testing.contracts.background_contract import BackgroundContract
from toprung.testing.contracts.batch_contract import BatchContract
from toprung.testing.contracts.board_contract import BoardContract
from toprung.testing.contracts.clock_contract import ClockContract
from toprung.testing.contracts.command_contract import CommandContract
from toprung.testing.contracts.effect_contract import EffectContract
from toprung.testing.contracts.ending_contract import Ending, EndingContract
from toprung.testing.contracts.follower_contract import FollowerContract
from toprung.testing.contracts.history_contract import HistoryContract, Past
from toprung.testing.contracts.index_contract import IndexContract
from toprung.testing.contracts.job_contract import JobContract
from toprung.testing.contracts.journal_contract import JournalContract
from toprung.testing.contracts.key_quota_contract import KeyQuotaContract
from toprung.testing.contracts.ladder_quota_contract import LadderQuotaContract
from toprung.testing.contracts.maintenance_contract import BackupContract, MaintenanceContract
from toprung.testing.contracts.workbench import Workbench


class OnEmbedded:
    @pytest.fixture
    def workbench(self, tmp_path: Path) -> Workbench:
        directory = tmp_path / "data"
        directory.mkdir()
        return EmbeddedWorkbench(directory)


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
