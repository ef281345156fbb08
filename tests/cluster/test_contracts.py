"""The contract suites, unchanged, on PostgreSQL with each kind of index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cluster.conftest import INDEXES
from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.jobs import Daily
from toprung.profiles.cluster import ClusterProfile
from toprung.service.run_secrets import rotate
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.access_key_contract import AccessKeyContract
from toprung.testing.contracts.activity_contract import ActivityContract
from toprung.testing.contracts.amending_contract import AmendingContract
from toprung.testing.contracts.archive_contract import ArchiveContract
from toprung.testing.contracts.archive_upkeep_contract import ArchiveUpkeepContract
from toprung.testing.contracts.audit_contract import AuditContract
from toprung.testing.contracts.background_contract import BackgroundContract
from toprung.testing.contracts.batch_contract import BatchContract
from toprung.testing.contracts.board_contract import BoardContract
from toprung.testing.contracts.checks_contract import ChecksContract
from toprung.testing.contracts.clock_contract import ClockContract
from toprung.testing.contracts.command_contract import CommandContract
from toprung.testing.contracts.effect_contract import EffectContract
from toprung.testing.contracts.ending_contract import EndingContract
from toprung.testing.contracts.follower_contract import FollowerContract
from toprung.testing.contracts.history_contract import HistoryContract
from toprung.testing.contracts.index_contract import IndexContract
from toprung.testing.contracts.job_contract import Counting, JobContract
from toprung.testing.contracts.journal_contract import JournalContract
from toprung.testing.contracts.key_quota_contract import KeyQuotaContract
from toprung.testing.contracts.ladder_quota_contract import LadderQuotaContract
from toprung.testing.contracts.maintenance_contract import MaintenanceContract
from toprung.testing.contracts.moderation_contract import ModerationContract
from toprung.testing.contracts.name_contract import NameContract
from toprung.testing.contracts.review_contract import ReviewContract
from toprung.testing.contracts.run_contract import RunContract
from toprung.testing.contracts.workbench import Session, Workbench
from toprung.testing.servers import PostgresServer, RedisServer, valkey_program


def test_valkey_takes_part() -> None:
    """Not every system packages Valkey: where it is not to be had, that is to be seen."""
    if valkey_program() is None:
        pytest.skip("not installed: valkey-server")
    assert "valkey_server" in INDEXES


class OnCluster:
    @pytest.fixture
    def workbench(self, postgres: PostgresServer, index_url: str) -> Workbench:
        return ClusterWorkbench(postgres.url, index_url)


class TestAccessKeys(OnCluster, AccessKeyContract):
    pass


class TestJournal(OnCluster, JournalContract):
    pass


class TestCommands(OnCluster, CommandContract):
    pass


class TestEnding(OnCluster, EndingContract):
    pass


class TestHistory(OnCluster, HistoryContract):
    pass


class TestChecks(OnCluster, ChecksContract):
    """What is checked before a score counts."""


class TestReview(OnCluster, ReviewContract):
    """Submissions that wait for a verdict."""


class TestAmending(OnCluster, AmendingContract):
    pass


class TestArchiveUpkeep(OnCluster, ArchiveUpkeepContract):
    pass


class TestAudit(OnCluster, AuditContract):
    async def tamper(self, opened: Session, submission: int) -> None:
        profile = opened.opened.maintenance
        assert isinstance(profile, ClusterProfile)
        await profile.store.execute("UPDATE events SET score = 99 WHERE position = $1", submission)


class TestArchives(OnCluster, ArchiveContract):
    pass


class TestModeration(OnCluster, ModerationContract):
    pass


class TestBatch(OnCluster, BatchContract):
    pass


class TestBoard(OnCluster, BoardContract):
    pass


class TestIndex(OnCluster, IndexContract):
    pass


class TestMaintenance(OnCluster, MaintenanceContract):
    pass


class OnOneIndex:
    @pytest.fixture
    def workbench(self, postgres: PostgresServer, redis_server: RedisServer) -> Workbench:
        return ClusterWorkbench(postgres.url, redis_server.url)


class TestRuns(RunContract):
    @pytest.fixture
    def workbench(
        self,
        postgres: PostgresServer,
        redis_server: RedisServer,
        tmp_path: Path,
        clock: FrozenClock,
    ) -> Workbench:
        rotate(tmp_path / "secrets", clock.now())
        return ClusterWorkbench(postgres.url, redis_server.url, str(tmp_path / "secrets"))


class TestNames(NameContract):
    @pytest.fixture
    def workbench(
        self, postgres: PostgresServer, redis_server: RedisServer, words: Path
    ) -> Workbench:
        return ClusterWorkbench(postgres.url, redis_server.url, name_words=str(words))


class TestClock(OnOneIndex, ClockContract):
    pass


class TestKeyQuota(OnOneIndex, KeyQuotaContract):
    pass


class TestLadderQuota(OnOneIndex, LadderQuotaContract):
    pass


class TestFollowers(OnOneIndex, FollowerContract):
    pass


class TestActivity(OnOneIndex, ActivityContract):
    steps = 120 if os.environ.get("TOPRUNG_SOAK") else ActivityContract.steps


class TestEffects(OnOneIndex, EffectContract):
    pass


class TestBackground(OnOneIndex, BackgroundContract):
    pass


class TestJobs(OnOneIndex, JobContract):
    def test_after_a_night_of_rest_it_is_done_at_once(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        """How long nobody was at work is told by the server's clock, which cannot be moved on."""
        workbench = opened.workbench
        assert isinstance(workbench, ClusterWorkbench)
        job = Counting("day", Daily(is_each=True))
        self.step(opened, self.working(opened, job))
        opened.run(opened.boards.close())
        clock.advance(days=2)
        opened.run(workbench.pass_on_server("2 days"))
        opened.reopen()
        self.step(opened, self.working(opened, job))
        assert len(job.marks) == 3
