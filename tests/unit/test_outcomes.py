"""What is recorded with an idempotency key, to answer a repeat."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.outcomes import Outcomes
from toprung.domain.commands.submit import WindowOutcome


def test_what_was_recorded_is_told_again() -> None:
    outcomes = (WindowOutcome("all-time", "all", 5, None),)
    recorded = Outcomes(outcomes, (("daily", "not-retained"), ("cup", "not-open")))
    found = msgspec.json.decode(msgspec.json.encode(recorded), type=Outcomes)
    assert found == recorded
    receipt = found.receipt(7, "accepted")
    assert (receipt.submission, receipt.status, receipt.outcomes) == (7, "accepted", outcomes)
    assert receipt.skipped == recorded.skipped


def test_records_without_reasons_can_still_be_read() -> None:
    found = msgspec.json.decode(b'[[["all-time","all",5,null]],["daily"]]', type=Outcomes)
    assert found.receipt(7, "accepted").skipped == (("daily", "not-retained"),)
