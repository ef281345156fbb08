"""Coroutines that are driven by hand, and the inbox in which their results arrive."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import partial
from typing import Any

import pytest

from tests.unit.deliveries import outcome_of
from toprung.waiting.inbox import Delivery, Inbox
from toprung.waiting.pace import next_round
from toprung.waiting.pending import Pending, resolve_all


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
        await next_round()
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
