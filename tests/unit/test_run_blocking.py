"""Coroutines without an event loop: nested, inside a loop, interrupted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.deliveries import deliver_later, outcome_of
from toprung.waiting.blocking import run_blocking
from toprung.waiting.pending import Pending


def test_blocking_inside_a_running_loop() -> None:
    async def caller() -> int:
        pending: Pending[int] = Pending()
        timer = deliver_later(pending, 7)
        value = run_blocking(outcome_of(pending))
        timer.join()
        other: Pending[int] = Pending()  # and the loop's own way still works afterwards
        deliver_later(other, 1).join()
        return value + await other

    assert asyncio.run(caller()) == 8


def test_an_interrupt_is_raised_inside_the_coroutine() -> None:
    class Interrupted:
        def wait(self) -> None:
            raise KeyboardInterrupt

        def __await__(self) -> Any:
            yield self

    cleaned = []

    async def work() -> None:
        try:
            await Interrupted()
        finally:
            cleaned.append(True)

    with pytest.raises(KeyboardInterrupt):
        run_blocking(work())
    assert cleaned == [True]


def test_blocking_calls_nest() -> None:
    async def outer() -> int:
        inner: Pending[int] = Pending()
        timer = deliver_later(inner, 1)
        value = run_blocking(outcome_of(inner))
        timer.join()
        again: Pending[int] = Pending()
        deliver_later(again, 2)
        return value + await again  # still driven without a loop

    assert run_blocking(outer()) == 3
