"""A store of archives that is away for a day, on either profile: nothing is lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.archives.s3 import S3, URL
from toprung.domain.events import PeriodArchived, PeriodClosed, PeriodSettled
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Workbench

BOARDS = ("blitz", "rapid")
WINDOWS: list[Any] = [
    {"name": "hourly", "retain": 1, "grace": 0},
    {"name": "daily", "retain": 1, "grace": 0},
]
STEP_HOURS = 4
Tops = dict[tuple[str, str, str], list[tuple[int, str]]]


async def away_for_a_day(workbench: Workbench, s3: S3, clock: FrozenClock) -> None:
    """It goes away at noon and is back a day later; a process is started again meanwhile."""
    workbench.archive = URL
    boards = (await workbench.open(clock)).boards
    for name in BOARDS:
        await boards.create(name, windows=WINDOWS)
    tops: Tops = {}
    await play(boards, clock, tops)
    await boards.background.settle()
    assert len(s3.objects()) == 2 * len(BOARDS)  # the first hour of each
    s3.stop()
    for hours in range(0, 24, STEP_HOURS):
        await play(boards, clock, tops)
        await boards.background.settle()
        assert job(await boards.status()).state == "failing"
        if hours == 12:
            await boards.close()
            boards = (await workbench.open(clock)).boards
    waiting = [name for name in tops if name[1:] != ("hourly", "2026-11-15T1200Z")]
    assert len(waiting) > 10
    assert {name: await top(boards, *name) for name in waiting} == {
        name: tops[name] for name in waiting
    }
    s3.start()
    clock.advance(minutes=10)
    await boards.background.settle()
    assert job(await boards.status()).state == "waiting"
    await check(boards, s3, tops)
    await boards.close()


async def play(boards: Leaderboards, clock: FrozenClock, tops: Tops) -> None:
    """Scores of this hour; then some hours pass."""
    for number, name in enumerate(BOARDS):
        board = await boards.board(name)
        now = clock.now() // 3_600_000_000
        await board.submit_many([(f"p{each}", (now * each + number) % 7) for each in range(1, 9)])
        for window in ("hourly", "daily"):
            period = (await board.periods(window))[0].period
            tops[name, window, period] = await top(boards, name, window, period)
    clock.advance(hours=STEP_HOURS)


async def top(boards: Leaderboards, name: str, window: str, period: str) -> list[tuple[int, str]]:
    found = await (await boards.board(name)).top(100, window=window, period=period)
    return [(each.rank, each.player) for each in found]


def job(status: Any) -> Any:
    return next(each for each in status.jobs if each.name == "archives")


async def check(boards: Leaderboards, s3: S3, tops: Tops) -> None:
    """Each period was closed, settled and archived once, in order, and reads as it was."""
    past: Any = boards._parts.past
    past.blocks.forget(lambda _: True)
    assert {name: await top(boards, *name) for name in tops} == tops
    facts = [event.body async for event in boards._journal.read(0, 10_000)]
    for kind in (PeriodClosed, PeriodSettled, PeriodArchived):
        told = [(each.board, each.window, each.period) for each in facts if type(each) is kind]
        assert set(Counter(told).values()) == {1}
        for board in BOARDS:
            for window in ("hourly", "daily"):
                periods = [period for *name, period in told if name == [board, window]]
                assert periods == sorted(periods)
    archived = [each for each in facts if type(each) is PeriodArchived]
    ended = {name for name in tops if name[1] == "hourly" or name[2] == "2026-11-15"}
    assert {(each.board, each.window, each.period) for each in archived} == ended
    assert len(s3.objects()) == 2 * len(ended)
    for name in BOARDS:
        found = await boards.board(name)
        for each in await found.archives():
            assert (await found.verify_archive(each.window, each.period)).problem is None
