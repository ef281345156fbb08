"""Work that is under way beside other work, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.unit.deliveries import deliver_later
from toprung.waiting.blocking import run_blocking
from toprung.waiting.pace import next_round
from toprung.waiting.pending import Pending
from toprung.waiting.tasks import CANCELS_MAX, end_task, start


@pytest.mark.parametrize("drive", [run_blocking, asyncio.run])
def test_started_work_is_under_way_before_it_is_awaited(drive: Any) -> None:
    begun: list[str] = []
    pendings: dict[str, Pending[int]] = {"a": Pending(), "b": Pending()}

    async def step(name: str) -> int:
        begun.append(name)
        return await pendings[name]

    async def failing() -> int:
        raise ValueError("no")

    async def scenario() -> tuple[int, int]:
        works = [start(step("a")), start(step("b"))]
        failed = start(failing())
        await next_round()
        assert begun == ["a", "b"]
        deliver_later(pendings["b"], 2)
        deliver_later(pendings["a"], 1)
        results = await works[0], await works[1]
        with pytest.raises(ValueError, match="no"):
            await failed
        return results

    coroutine: Coroutine[Any, Any, tuple[int, int]] = scenario()
    assert drive(coroutine) == (1, 2)


async def stubborn(cancels: list[int], ignored: int) -> None:
    """Work that swallows cancellations, as client libraries do."""
    while len(cancels) < ignored:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancels.append(len(cancels))
    await asyncio.Event().wait()


@pytest.mark.parametrize("ignored", [0, 1, 3])
def test_a_task_that_swallows_cancellations_is_ended_all_the_same(
    monkeypatch: pytest.MonkeyPatch, ignored: int
) -> None:
    monkeypatch.setattr("toprung.waiting.tasks.CANCEL_SECONDS", 0.001)

    async def scenario() -> None:
        cancels: list[int] = []
        task = asyncio.create_task(stubborn(cancels, ignored))
        await next_round()
        await end_task(task)
        assert (task.cancelled(), len(cancels)) == (True, ignored)
        await end_task(task)  # which has ended, and so has nothing to do
        await end_task(None)

    asyncio.run(scenario())


def test_a_task_that_never_ends_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("toprung.waiting.tasks.CANCEL_SECONDS", 0.001)

    async def scenario() -> None:
        task = asyncio.create_task(stubborn([], CANCELS_MAX))
        await next_round()
        await end_task(task)
        assert not task.done()

    asyncio.run(scenario())
    assert "is left behind" in caplog.text
