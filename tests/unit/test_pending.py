"""Results delivered by another thread: with a loop, without one, many at once, cancelled."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.unit.deliveries import deliver_later, outcome_of
from toprung.waiting.blocking import run_blocking
from toprung.waiting.pending import Pending, resolve_all


def test_a_result_that_is_there_already_does_not_suspend() -> None:
    pending: Pending[int] = Pending()
    pending.set_result(7)
    assert pending.done()
    assert run_blocking(outcome_of(pending)) == 7
    assert asyncio.run(outcome_of(pending)) == 7


@pytest.mark.parametrize("drive", [run_blocking, asyncio.run])
def test_awaiting_a_result_of_another_thread(drive: Any) -> None:
    pending: Pending[int] = Pending()
    timer = deliver_later(pending, 7)
    assert drive(outcome_of(pending)) == 7
    timer.join()


@pytest.mark.parametrize("drive", [run_blocking, asyncio.run])
def test_an_error_is_raised_where_it_is_awaited(drive: Any) -> None:
    pending: Pending[int] = Pending()
    timer = deliver_later(pending, ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        drive(outcome_of(pending))
    timer.join()


def test_all_tasks_of_a_loop_are_woken_by_one_call() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        pendings: list[Pending[int]] = [Pending() for _ in range(50)]
        tasks = [asyncio.create_task(outcome_of(pending)) for pending in pendings]
        await asyncio.sleep(0)
        calls = 0
        original = loop.call_soon_threadsafe

        def count_calls(*args: Any, **kwargs: Any) -> asyncio.Handle:
            nonlocal calls
            calls += 1
            return original(*args, **kwargs)

        loop.call_soon_threadsafe = count_calls  # type: ignore[assignment,method-assign]
        outcomes = list(zip(pendings, range(50), strict=True))
        worker = threading.Thread(target=resolve_all, args=[outcomes])
        worker.start()
        assert await asyncio.gather(*tasks) == list(range(50))
        worker.join()
        assert calls == 1

    asyncio.run(scenario())


def test_one_result_may_be_awaited_by_many_in_different_loops_and_threads() -> None:
    pending: Pending[int] = Pending()
    seen: list[int] = []
    drivers: list[Any] = [run_blocking, asyncio.run] * 4
    threads = [
        threading.Thread(target=lambda d=drive: seen.append(d(outcome_of(pending))))
        for drive in drivers
    ]
    for thread in threads:
        thread.start()
    pending.set_result(3)
    for thread in threads:
        thread.join()
    assert seen == [3] * 8


def test_a_cancelled_task_disturbs_nobody() -> None:
    async def scenario() -> None:
        pendings: list[Pending[int]] = [Pending(), Pending()]
        tasks = [asyncio.create_task(outcome_of(pending)) for pending in pendings]
        await asyncio.sleep(0)
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        resolve_all([(pendings[0], 1), (pendings[1], 2)])
        assert await tasks[1] == 2
        assert await pendings[0] == 1, "the result arrived all the same"

    asyncio.run(scenario())


def test_a_closed_loop_disturbs_nobody() -> None:
    pending: Pending[int] = Pending()

    async def abandon() -> None:
        task = asyncio.create_task(outcome_of(pending))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(abandon())
    pending.set_result(1)
    assert run_blocking(outcome_of(pending)) == 1


def test_no_result_is_lost_between_registering_and_delivering() -> None:
    async def follow(pendings: list[Pending[int]]) -> int:
        return sum([await pending for pending in pendings])

    def deliver(pendings: list[Pending[int]]) -> None:
        for pending in pendings:
            pending.set_result(1)

    drivers: list[Any] = [run_blocking, asyncio.run]
    for drive in drivers:
        pendings: list[Pending[int]] = [Pending() for _ in range(20_000)]
        worker = threading.Thread(target=deliver, args=[pendings])
        worker.start()
        assert drive(follow(pendings)) == 20_000
        worker.join()


def test_a_result_is_abandoned_when_all_who_awaited_it_are_cancelled() -> None:
    async def scenario() -> None:
        pending: Pending[int] = Pending()
        assert not pending.is_abandoned  # nobody has awaited it yet
        tasks = [asyncio.create_task(outcome_of(pending)) for _ in range(2)]
        await asyncio.sleep(0)
        for task, is_abandoned in zip(tasks, (False, True), strict=True):
            assert not pending.is_abandoned
            task.cancel()
            await asyncio.wait([task])
            assert pending.is_abandoned == is_abandoned
        pending.set_result(7)  # for nobody

    asyncio.run(scenario())
