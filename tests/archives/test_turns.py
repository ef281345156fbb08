"""Whoever looks up many players in archives that are not in memory leaves room for others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.archives.filed import Filed, file_period
from tests.workbenches import EmbeddedWorkbench
from toprung.archives.blocks import Blocks
from toprung.archives.index import PLAYERS_AT_ONCE, THREADS
from toprung.domain.ladder import PastLadder
from toprung.errors import Unavailable
from toprung.testing.clock import FrozenClock
from toprung.waiting.threads import FewThreads

PLAYERS = [f"player-{number:04}" for number in range(300)]


class Watched:
    """Counts what threads do, and holds them until it is told to let them go on."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.may_go = threading.Semaphore(0)

    def part(self, name: str) -> Callable[[], str]:
        def do() -> str:
            assert self.may_go.acquire(timeout=30)
            self.done.append(name)
            return name

        return do


def test_parts_of_long_work_take_turns_with_short_work() -> None:
    """With one thread it is known who comes next."""

    async def main() -> None:
        threads, watched = FewThreads(1, 10, Unavailable("too much waits")), Watched()
        long = asyncio.ensure_future(
            threads.run_each([watched.part(f"long {n}") for n in range(4)])
        )
        await asyncio.sleep(0)
        short = [asyncio.ensure_future(threads.run(watched.part(f"short {n}"))) for n in range(2)]
        await asyncio.sleep(0)
        for _ in range(6):
            watched.may_go.release()
        assert await long == [f"long {n}" for n in range(4)]
        assert [await each for each in short] == ["short 0", "short 1"]
        assert watched.done[:4] == ["long 0", "short 0", "short 1", "long 1"]
        threads.close()

    asyncio.run(main())


def test_who_has_begun_is_not_refused() -> None:
    """However much waits by then; who begins is."""

    async def main() -> None:
        threads, watched = FewThreads(1, 1, Unavailable("too much waits")), Watched()
        begun = [asyncio.ensure_future(threads.run_each([watched.part("a")] * 3)) for _ in range(1)]
        await asyncio.sleep(0)
        while threads._waiting:  # noqa: ASYNC110 -- the thread has taken it
            await asyncio.sleep(0)
        begun.append(asyncio.ensure_future(threads.run_each([watched.part("b")] * 3)))
        await asyncio.sleep(0)
        refused = await asyncio.gather(threads.run(watched.part("c")), return_exceptions=True)
        assert isinstance(refused[0], Unavailable)
        for _ in range(6):
            watched.may_go.release()
        assert [len(await each) for each in begun] == [3, 3]
        threads.close()

    asyncio.run(main())


def test_large_look_ups_are_cut_up(tmp_path: Path) -> None:
    """So many of them leave a thread to a single standing as soon as a part is done."""

    async def main() -> None:
        filed, ladder = await archived(tmp_path)
        index = filed.index
        everybody = await index.places(ladder, PLAYERS)
        assert [each.offset for each in everybody if each] == list(range(len(PLAYERS)))
        parts: list[int] = []
        run_each = index._threads.run_each

        async def counted(works: Any) -> Any:
            works = list(works)
            parts.append(len(works))
            return await run_each(works)

        index._threads.run_each = counted  # type: ignore[assignment,method-assign]
        reads: list[Callable[[], Awaitable[Any]]] = [
            partial(index.places, ladder, PLAYERS),
            partial(index.among, ladder, PLAYERS[0], PLAYERS[1:], 10),
            partial(index.place, ladder, PLAYERS[7]),
        ]
        found = []
        for read in reads:
            index.blocks = Blocks()
            found.append(await read())
        assert parts == [30, 31, 1]
        assert -(-len(PLAYERS) // PLAYERS_AT_ONCE) == 30
        assert found[0] == everybody
        count, no_worse, best = found[1]
        assert (count, no_worse, [each for each, _ in best]) == (300, 10, PLAYERS[:10])
        assert found[2] == everybody[7]
        # Many large ones at the same time, and a small one that comes last, with all cold.
        index.blocks = Blocks(bytes_max=1)
        ended: list[str] = []

        async def noted(name: str, work: Awaitable[Any]) -> None:
            await work
            ended.append(name)

        large = [noted("large", index.places(ladder, PLAYERS)) for _ in range(THREADS + 2)]
        await asyncio.gather(*large, noted("small", index.place(ladder, PLAYERS[9])))
        assert ended[0] == "small"

    asyncio.run(main())


async def archived(folder: Path) -> tuple[Filed, PastLadder]:
    """A ladder in an archive, in the order of its players."""
    (folder / "data").mkdir()
    workbench = EmbeddedWorkbench(folder / "data")
    opened = await workbench.open(FrozenClock("2026-11-15T12:00:00Z"))
    board = await opened.boards.create("blitz")
    await board.submit_many([(player, 1000 - n) for n, player in enumerate(PLAYERS)])
    profile: Any = opened.maintenance
    rules = await opened.journal.board("blitz")
    reader = profile.endings._reader
    contents = await reader.read(rules, ("all-time", "all"))
    filed = await file_period(folder / "archive", rules, ("all-time", "all"), contents, reader)
    return filed, PastLadder(rules, "all-time", "all", "global")
