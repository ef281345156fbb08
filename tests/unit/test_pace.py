"""Long work takes turns with everybody else, and with other long work."""

from __future__ import annotations

import asyncio

import pytest

from toprung.http.room import Room
from toprung.waiting import pace
from toprung.waiting.blocking import run_blocking
from toprung.waiting.pace import LongWork


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock says that the slice is over."""
    monkeypatch.setattr(pace, "SLICE_SECONDS", 0.0)


async def work_on(name: str, steps: int, done: list[str]) -> None:
    async with LongWork() as work:
        for _ in range(steps):
            done.append(name)
            if work.is_due():
                await work.rest()


def test_one_slice_per_round_of_the_loop_however_many_work() -> None:
    async def main() -> None:
        done: list[str] = []
        tasks = [asyncio.create_task(work_on(name, 5, done)) for name in "abcd"]
        rounds: list[int] = []
        while not all(task.done() for task in tasks):
            before = len(done)
            await asyncio.sleep(0)
            rounds.append(len(done) - before)
        assert max(rounds) == 1
        assert "".join(done) == "abcd" * 5

    asyncio.run(main())


@pytest.mark.parametrize("rounds", range(12))
def test_who_is_cancelled_holds_nobody_up(rounds: int) -> None:
    async def main() -> None:
        done: list[str] = []
        tasks = [asyncio.create_task(work_on(name, 50, done)) for name in "abc"]
        for _ in range(rounds):
            await asyncio.sleep(0)
        tasks[0].cancel()
        tasks[1].cancel()
        await asyncio.wait_for(tasks[2], 20)
        assert done.count("c") == 50

    asyncio.run(main())


def test_who_fails_holds_nobody_up() -> None:
    async def fail() -> None:
        async with LongWork() as work:
            await work.rest()
            raise KeyError

    async def main() -> None:
        with pytest.raises(KeyError):
            await fail()
        await asyncio.wait_for(work_on("a", 3, []), 20)

    asyncio.run(main())


def test_without_an_event_loop_nobody_waits() -> None:
    done: list[str] = []
    run_blocking(work_on("a", 3, done))
    assert done == ["a", "a", "a"]


def test_room_is_given_in_the_order_of_asking() -> None:
    async def main() -> None:
        room = Room(10)
        order: list[int] = []

        async def hold(number: int, amount: int) -> None:
            async with room.holding(amount):
                order.append(number)
                assert room.taken <= 10
                await asyncio.sleep(0)

        amounts = (6, 6, 3, 99, 1, 10)
        await asyncio.gather(*(hold(number, amount) for number, amount in enumerate(amounts)))
        assert order == [0, 1, 2, 3, 4, 5]
        assert room.taken == 0
        assert room.take(10)
        assert not room.take(1)

    asyncio.run(main())


@pytest.mark.parametrize("turns", range(4))
def test_who_gives_up_waiting_for_room_leaves_it_to_others(turns: int) -> None:
    async def main() -> None:
        room = Room(10)
        assert room.take(10)

        async def hold(amount: int) -> None:
            async with room.holding(amount):
                pass

        first, second = asyncio.create_task(hold(8)), asyncio.create_task(hold(4))
        await asyncio.sleep(0)
        if turns >= 2:
            room.give_back(5)
        for _ in range(turns):
            await asyncio.sleep(0)
        first.cancel()
        if turns < 2:
            room.give_back(5)
        await asyncio.wait_for(second, 20)
        room.give_back(5)
        await asyncio.sleep(0)
        assert room.taken == 0

    asyncio.run(main())


@pytest.mark.parametrize(("rows", "at_once"), [(pace.FEW_ROWS, 5), (pace.FEW_ROWS + 1, 1)])
def test_long_answers_are_made_one_per_round_of_the_loop(rows: int, at_once: int) -> None:
    async def main() -> None:
        done: list[int] = []
        tasks = [asyncio.create_task(pace.in_turn(lambda: done.append(1), rows)) for _ in range(5)]
        rounds: list[int] = []
        while not all(task.done() for task in tasks):
            before = len(done)
            await asyncio.sleep(0)
            rounds.append(len(done) - before)
        assert max(rounds) == at_once
        assert len(done) == 5

    asyncio.run(main())
