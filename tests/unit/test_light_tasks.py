"""Light tasks: begun at once, told where results arrive, and tasks to all who ask."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from tests.unit.deliveries import outcome_of
from toprung.waiting.inbox import Delivery, Inbox
from toprung.waiting.light_tasks import LightTask
from toprung.waiting.pace import next_round
from toprung.waiting.pending import Pending, resolve_all

End = tuple[Any, BaseException | None]


def outside_of_tasks(work: Callable[[asyncio.AbstractEventLoop, Callable[[], None]], None]) -> None:
    """Run `work` as a callback of an event loop, which goes on until all is done."""

    async def main() -> None:
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        failed: list[dict[str, Any]] = []

        def fail(_loop: object, context: dict[str, Any]) -> None:
            failed.append(context)
            done.set()

        loop.set_exception_handler(fail)
        loop.call_soon(work, loop, done.set)
        await asyncio.wait_for(done.wait(), 20)
        if failed:
            raise failed[0]["exception"]

    asyncio.run(main())


def ended(steps: Coroutine[Any, Any, Any], prepare: Callable[[LightTask], object]) -> End:
    """How a light task that has to wait ends; `prepare` is called while it waits."""
    ends: list[End] = []

    def work(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        task = LightTask(Inbox(loop))
        task.begin(steps)

        def end(_task: LightTask, result: Any, error: BaseException | None) -> None:
            ends.append((result, error))
            done()

        task.then(end)
        prepare(task)

    outside_of_tasks(work)
    return ends[0]


def test_what_does_not_wait_is_done_at_once() -> None:
    async def answer(number: int) -> tuple[int, Any]:
        return number, asyncio.current_task()

    def work(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        task = LightTask(Inbox(loop))
        for number in range(2):
            with pytest.raises(StopIteration) as end:
                task.begin(answer(number))
            assert end.value.value == (number, task)
        assert asyncio.current_task(loop) is None
        done()

    outside_of_tasks(work)


def test_an_inbox_is_told_by_other_threads_and_opened_by_its_own() -> None:
    results: list[int] = []
    seen: list[list[int]] = []

    def work(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        def look() -> None:
            seen.append([*results])
            if len(results) == 3:
                done()

        inbox = Inbox(loop, after=look)
        waiting: list[Pending[int]] = [Pending() for _ in range(3)]
        for pending in waiting:
            task = LightTask(inbox)
            task.begin(outcome_of(pending))
            task.then(lambda _task, result, _error: results.append(result))
        worker = threading.Thread(target=resolve_all, args=([(waiting[2], 2), (waiting[0], 0)],))
        worker.start()
        worker.join()
        assert results == []
        inbox.open()
        assert results == [2, 0]
        waiting[1].set_result(1)  # the loop opens it, too, when it comes to it

    outside_of_tasks(work)
    assert seen[-1] == [2, 0, 1]


def test_it_may_wait_for_what_other_tasks_wait_for() -> None:
    async def both(pending: Pending[int]) -> int:
        await next_round()
        await asyncio.get_running_loop().run_in_executor(None, str)
        return await pending

    pending: Pending[int] = Pending()
    pending.set_result(7)
    assert ended(both(pending), lambda _: None) == (7, None)


@pytest.mark.parametrize("kind", ["delivery", "future", "round"])
def test_a_light_task_can_be_cancelled_wherever_it_waits(kind: str) -> None:
    cleaned: list[str] = []

    async def waiting() -> None:
        try:
            if kind == "round":
                await next_round()
                raise AssertionError
            await (Pending[int]() if kind == "delivery" else asyncio.Event().wait())
        finally:
            await next_round()
            cleaned.append(kind)

    result, error = ended(waiting(), lambda task: task.cancel("the server stops"))
    assert result is None
    assert isinstance(error, asyncio.CancelledError)
    assert cleaned == [kind]


def test_a_result_that_comes_too_late_disturbs_nobody() -> None:
    pending: Pending[int] = Pending()

    async def twice() -> str:
        try:
            await pending
        except asyncio.CancelledError:
            pending.set_result(1)
            await asyncio.sleep(0.01)
        return "went on"

    assert ended(twice(), LightTask.cancel) == ("went on", None)


@pytest.mark.parametrize("kind", ["delivery", "future"])
def test_timeouts_work_in_it(kind: str) -> None:
    async def impatient() -> tuple[str, int]:
        task: Any = asyncio.current_task()
        try:
            async with asyncio.timeout(0.01):
                await (Pending[int]() if kind == "delivery" else asyncio.Event().wait())
        except TimeoutError:
            return "timed out", task.cancelling()
        return "never", 0

    assert ended(impatient(), lambda _: None) == (("timed out", 0), None)


def test_task_groups_work_in_it() -> None:
    async def failing() -> None:
        await next_round()
        raise ValueError("no")

    async def group() -> str:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(failing())
                await asyncio.Event().wait()
        except* ValueError:
            pass
        return "ended"

    assert ended(group(), lambda _: None) == ("ended", None)


def test_what_it_raises_is_told() -> None:
    async def failing() -> None:
        await next_round()
        raise ValueError("no")

    result, error = ended(failing(), lambda _: None)
    assert (result, str(error)) == (None, "no")


def test_an_inbox_of_a_closed_loop_disturbs_nobody() -> None:
    pending: Pending[int] = Pending()
    left: list[Coroutine[Any, Any, int]] = []

    def work(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        left.append(outcome_of(pending))
        LightTask(Inbox(loop)).begin(left[0])
        done()

    outside_of_tasks(work)
    pending.set_result(7)
    left[0].close()
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


class Watched(LightTask):
    """One whose end can be noticed."""

    __slots__ = ("__weakref__",)


def test_nothing_of_a_task_is_left_to_the_collector() -> None:
    """A cycle for each request would cost every request a share of the collector's work."""

    def work(loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        inbox, pending = Inbox(loop), Pending[int]()
        task = Watched(inbox)
        seen = weakref.ref(task)

        async def wait() -> int:
            return await pending

        def check() -> None:
            assert seen() is None
            done()

        def end(*_ended: object) -> None:
            loop.call_soon(check)

        task.begin(wait())
        task.then(end)
        resolve_all([(pending, 7)])

    gc.disable()
    try:
        outside_of_tasks(work)
    finally:
        gc.enable()
