"""The contract suites, unchanged, on PostgreSQL with one Redis and with a Redis Cluster."""

from __future__ import annotations

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.contracts.index_contract import IndexContract
from toprung.testing.contracts.journal_contract import JournalContract
from toprung.testing.contracts.maintenance_contract import MaintenanceContract
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer


class OneRedis:
    @pytest.fixture
    def workbench(self, postgres: PostgresServer, redis_server: RedisServer) -> Workbench:
        return ClusterWorkbench(postgres.url, redis_server.url)


class Cluster:
    @pytest.fixture
    def workbench(self, postgres: PostgresServer, redis_cluster: RedisClusterServers) -> Workbench:
        return ClusterWorkbench(postgres.url, redis_cluster.url)


class TestJournal(OneRedis, JournalContract):
    pass


class TestIndex(OneRedis, IndexContract):
    pass


class TestMaintenance(OneRedis, MaintenanceContract):
    pass


class TestIndexOnCluster(Cluster, IndexContract):
    pass


class TestMaintenanceOnCluster(Cluster, MaintenanceContract):
    pass
