"""Histories of submissions that wait, in a cluster, against their oracle."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.cluster.test_machine import FEW
from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.review_machine import ReviewMachine
from toprung.testing.servers import PostgresServer


@pytest.mark.slow
def test_against_the_oracle(postgres: PostgresServer, index_url: str) -> None:
    class ClusterReviewMachine(ReviewMachine):
        def make(self) -> Workbench:
            return ClusterWorkbench(postgres.url, index_url)

    run_state_machine_as_test(ClusterReviewMachine, settings=FEW)
