"""The cluster profile against the oracle, on PostgreSQL with each kind of index."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.moderation_machine import ModerationMachine
from toprung.testing.profile_machine import ProfileMachine
from toprung.testing.servers import PostgresServer

# Every step is a transaction and several round trips: fewer and shorter histories than in process,
# but in soak runs 5,000 for each kind of index; and shrinking would take for ever.
SOAK = bool(os.environ.get("TOPRUNG_SOAK"))
FEW = settings(
    max_examples=settings().max_examples if SOAK else max(1, settings().max_examples // 5),
    stateful_step_count=25 if SOAK else 15,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.slow
def test_against_the_oracle(postgres: PostgresServer, index_url: str) -> None:
    class ClusterMachine(ProfileMachine):
        def workbench(self) -> Workbench:
            return ClusterWorkbench(postgres.url, index_url)

    run_state_machine_as_test(ClusterMachine, settings=FEW)


@pytest.mark.slow
def test_moderation_against_its_oracle(postgres: PostgresServer, index_url: str) -> None:
    class ClusterModeration(ModerationMachine):
        def workbench(self) -> Workbench:
            return ClusterWorkbench(postgres.url, index_url)

    run_state_machine_as_test(ClusterModeration, settings=FEW)
