"""Moderation of the embedded profile, against its oracle."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.workbenches import EmbeddedWorkbench
from toprung.profiles import embedded
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.moderation_machine import ModerationMachine

SOME = settings(
    max_examples=max(1, settings().max_examples // 2),
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
)


class EmbeddedModeration(ModerationMachine):
    """Databases in files."""

    def workbench(self) -> Workbench:
        return EmbeddedWorkbench(Path(tempfile.mkdtemp(prefix="toprung-moderation-")))


@pytest.mark.parametrize("tail", [3, 100_000])
def test_against_the_oracle(tail: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "TAIL_MAX", tail)  # a checkpoint every few events, or none
    run_state_machine_as_test(EmbeddedModeration, settings=SOME)
