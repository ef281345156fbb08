"""The embedded profile against the oracle: files, restarts, checkpoints and all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from tests.workbenches import EmbeddedWorkbench
from toprung.profiles import embedded
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.profile_machine import ProfileMachine


class EmbeddedMachine(ProfileMachine):
    """Databases in files; some write a checkpoint all the time, some never."""

    def workbench(self) -> Workbench:
        return EmbeddedWorkbench(Path(tempfile.mkdtemp(prefix="toprung-machine-")))


class CheckpointingMachine(EmbeddedMachine):
    """The same, with a checkpoint every few events: restarts begin in the middle."""

    @initialize(tail=st.integers(1, 8))
    def shorten_tail(self, tail: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(embedded, "TAIL_MAX", tail)

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            if hasattr(self, "patch"):
                self.patch.undo()


TestEmbedded = EmbeddedMachine.TestCase
TestCheckpointing = CheckpointingMachine.TestCase

# Soak runs have 5,000 histories of each, which are longer.
STEPS = settings(stateful_step_count=100 if os.environ.get("TOPRUNG_SOAK") else 30)
TestEmbedded.settings = TestCheckpointing.settings = STEPS
