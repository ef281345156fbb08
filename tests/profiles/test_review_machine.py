"""Histories of submissions that wait, on files, against their oracle."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.workbenches import EmbeddedWorkbench
from toprung.testing.contracts.workbench import Workbench
from toprung.testing.review_machine import ReviewMachine


class EmbeddedReviewMachine(ReviewMachine):
    """Databases in files."""

    def make(self) -> Workbench:
        return EmbeddedWorkbench(Path(tempfile.mkdtemp(prefix="toprung-machine-")))


TestReview = EmbeddedReviewMachine.TestCase
