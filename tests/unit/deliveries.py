"""Awaiting results of another thread, in tests."""

from __future__ import annotations

import threading

from toprung.waiting.pending import Pending, resolve_all


async def outcome_of(pending: Pending[int]) -> int:
    return await pending


def deliver_later(pending: Pending[int], outcome: int | Exception) -> threading.Timer:
    timer = threading.Timer(0.02, resolve_all, [[(pending, outcome)]])
    timer.start()
    return timer
