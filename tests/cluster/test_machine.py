"""The cluster profile against the oracle: PostgreSQL with one Redis, and with a Redis Cluster."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.profile_machine import ProfileMachine
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer

# Every step is a transaction and several round trips: fewer examples than in process.
FEW = settings(
    max_examples=25,
    stateful_step_count=25,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take for ever
    suppress_health_check=[HealthCheck.too_slow],
)


def machine(journal_url: str, index_url: str) -> type[ProfileMachine]:
    class ClusterMachine(ProfileMachine):
        def workbench(self) -> Workbench:
            return ClusterWorkbench(journal_url, index_url)

    return ClusterMachine


@pytest.mark.slow
def test_one_redis(postgres: PostgresServer, redis_server: RedisServer) -> None:
    run_state_machine_as_test(machine(postgres.url, redis_server.url), settings=FEW)


@pytest.mark.slow
def test_redis_cluster(postgres: PostgresServer, redis_cluster: RedisClusterServers) -> None:
    run_state_machine_as_test(
        machine(postgres.url, redis_cluster.url), settings=settings(FEW, max_examples=10)
    )
