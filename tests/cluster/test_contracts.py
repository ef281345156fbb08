"""The contract suites, unchanged, on PostgreSQL with each kind of index."""

from __future__ import annotations

import pytest

from tests.cluster.conftest import INDEXES
from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.contracts.batch_contract import BatchContract
from toprung.testing.contracts.board_contract import BoardContract
from toprung.testing.contracts.clock_contract import ClockContract
from toprung.testing.contracts.command_contract import CommandContract
from toprung.testing.contracts.index_contract import IndexContract
from toprung.testing.contracts.journal_contract import JournalContract
from toprung.testing.contracts.key_quota_contract import KeyQuotaContract
from toprung.testing.contracts.ladder_quota_contract import LadderQuotaContract
from toprung.testing.contracts.maintenance_contract import MaintenanceContract
from toprung.testing.contracts.workbench import Workbench
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


class TestJournal(OnCluster, JournalContract):
    pass


class TestCommands(OnCluster, CommandContract):
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


class TestClock(OnOneIndex, ClockContract):
    pass


class TestKeyQuota(OnOneIndex, KeyQuotaContract):
    pass


class TestLadderQuota(OnOneIndex, LadderQuotaContract):
    pass
