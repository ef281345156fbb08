"""Results delivered by another thread: with a loop, without one, many at once, cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import partial
from typing import Any

import pytest

from toprung.pending import Delivery, Inbox, Pending, resolve_all, run_blocking, start, turn


async def outcome_of(pending: Pending[int]) -> int:
    return await pending


def deliver_later(pending: Pending[int], outcome: int | Exception) -> threading.Timer:
    timer = threading.Timer(0.02, resolve_all, [[(pending, outcome)]])
    timer.start()
    return timer


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
        await turn()
        assert begun == ["a", "b"]
        deliver_later(pendings["b"], 2)
        deliver_later(pendings["a"], 1)
        results = await works[0], await works[1]
        with pytest.raises(ValueError, match="no"):
            await failed
        return results

    coroutine: Coroutine[Any, Any, tuple[int, int]] = scenario()
    assert drive(coroutine) == (1, 2)


def test_an_inbox_is_told_by_other_threads_and_opened_by_its_own() -> None:
    async def owner() -> list[int]:
        results: list[int] = []
        seen: list[list[int]] = []
        inbox = Inbox(asyncio.get_running_loop(), after=lambda: seen.append([*results]))
        waiting: list[Pending[int]] = [Pending() for _ in range(3)]
        for pending in waiting:
            steps = outcome_of(pending)
            delivery = inbox.advance(steps)
            assert isinstance(delivery, Delivery)

            def go_on(steps: Coroutine[Any, Any, int] = steps) -> None:
                with pytest.raises(StopIteration) as end:
                    inbox.advance(steps)
                results.append(end.value.value)

            delivery.go_on = go_on
        worker = threading.Thread(target=resolve_all, args=([(waiting[2], 2), (waiting[0], 0)],))
        worker.start()
        worker.join()
        assert results == []
        inbox.open()
        assert results == [2, 0]
        waiting[1].set_result(1)
        await asyncio.sleep(0)  # the loop opens it, too, when it comes to it
        assert seen[-1] == [2, 0, 1]
        return results

    assert asyncio.run(owner()) == [2, 0, 1]


def test_whoever_drives_by_hand_gets_what_a_task_would() -> None:
    async def both(pending: Pending[int]) -> int:
        await turn()
        await asyncio.get_running_loop().run_in_executor(None, str)
        return await pending

    async def owner() -> None:
        inbox, pending = Inbox(asyncio.get_running_loop()), Pending[int]()
        steps = both(pending)
        assert inbox.advance(steps) is None
        future = inbox.advance(steps)
        assert isinstance(future, asyncio.Future)
        await asyncio.wait([future])
        pending.set_result(7)
        with pytest.raises(StopIteration):
            inbox.advance(steps)

    asyncio.run(owner())


def test_an_inbox_of_a_closed_loop_disturbs_nobody() -> None:
    pending: Pending[int] = Pending()

    async def owner() -> Coroutine[Any, Any, int]:
        steps = outcome_of(pending)
        delivery = Inbox(asyncio.get_running_loop()).advance(steps)
        assert isinstance(delivery, Delivery)
        return steps

    left = asyncio.run(owner())
    pending.set_result(7)
    left.close()
    assert pending.result() == 7


def test_what_fails_to_go_on_holds_up_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def owner() -> list[str]:
        inbox = Inbox(asyncio.get_running_loop())
        went_on: list[str] = []
        broken, sound = Delivery(inbox), Delivery(inbox)
        broken.go_on = partial(went_on.remove, "nobody")
        sound.go_on = partial(went_on.append, "sound")
        inbox.post([broken, sound])
        inbox.open()
        return went_on

    assert asyncio.run(owner()) == ["sound"]
    assert "could not go on" in caplog.text
