"""The embedded profile fulfils every port's contract."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workbenches import EmbeddedWorkbench
from toprung.testing.contracts.activity_contract import ActivityContract
from toprung.testing.contracts.archive_contract import ArchiveContract
from toprung.testing.contracts.background_contract import BackgroundContract
from toprung.testing.contracts.batch_contract import BatchContract
from toprung.testing.contracts.board_contract import BoardContract
from toprung.testing.contracts.clock_contract import ClockContract
from toprung.testing.contracts.command_contract import CommandContract
from toprung.testing.contracts.effect_contract import EffectContract
from toprung.testing.contracts.ending_contract import Ending, EndingContract
from toprung.testing.contracts.follower_contract import FollowerContract
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


class TestArchives(OnEmbedded, ArchiveContract):
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
