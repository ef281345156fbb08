"""Processes that close and settle periods, and die where they are told to: see `worker`.

Each round makes a board whose season has ended already, submits late scores to it and ends it at
the same time. The file `log` is the world outside: one line ``counted BOARD PLAYER`` or ``skipped
BOARD PLAYER`` for every submission that was acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final, cast

from tests.crash.worker import (
    OUSTED,
    Fate,
    Fated,
    Kind,
    Life,
    append,
    inherit,
    is_alive,
    logged,
    main,
    opened,
    wait_for_index,
    wait_for_leases,
)
from toprung.domain.events import PeriodClosed, PeriodSettled
from toprung.errors import LeaseLost, TooLate
from toprung.profiles.embedded import SystemClock
from toprung.service.background.ending import EndPeriods
from toprung.service.background.runner import Background, Stores
from toprung.service.endings import Endings
from toprung.service.leaderboards import Leaderboard, Leaderboards

CUP: Final = "cup"
ROUNDS: Final = 3
"""Boards of a life that is not cut short."""
LATE: Final = "2026-01-15T00:00:00Z"
RULES: Final = {
    "windows": [
        {"name": CUP, "starts": "2026-01-01T00:00:00Z", "ends": "2026-02-01T00:00:00Z", "grace": 0}
    ],
    "scopes": ["team"],
}


def ending_background(profile: Any, fate: Fate) -> Background:
    """The job that ends periods, on ports at whose calls the process may die."""
    stores: Stores = profile.background.stores
    fated: dict[str, Any] = {
        name: Fated(name, getattr(stores, name), fate) for name in ("leases", "jobs")
    }
    journal = cast(Any, Fated("journal", profile.journal, fate))
    reader = cast(Any, Fated("reader", profile.endings._reader, fate))
    endings = Endings(journal, reader, stores.moment, profile.reviews)
    job = EndPeriods(journal, endings, stores.clock)
    return Background(stores._replace(**fated), [], {}, [job])


async def submit(board: Leaderboard, log: Path, player: str) -> None:
    """Submit late, and note what was acknowledged."""
    try:
        await board.submit(player, 1, at=LATE)
    except TooLate:
        append(log, f"skipped {board.id} {player}")
    else:
        append(log, f"counted {board.id} {player}")


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    background = ending_background(profile, Fate(life, is_mortal=mortal is None))
    while mortal is not None and life.point and is_alive(mortal):  # noqa: ASYNC110 -- let it die
        await asyncio.sleep(0.02)
    number = 0
    while number < ROUNDS or life.seconds:
        board = await boards.create(f"cup-{os.getpid()}-{number}", **RULES)
        await submit(board, log, "first")
        number += 1
        try:
            await asyncio.gather(*(submit(board, log, f"p{n}") for n in range(8)), end(background))
        except LeaseLost:
            return OUSTED
    await boards.close()
    return 0


async def end(background: Background) -> None:
    """Do the job now, although it may have been done a moment ago, unless another process does."""
    leases, working = background.stores.leases, background.working
    lease = await leases.take(working.name)
    if lease is not None:
        records = await background.stores.jobs.records()
        await working._run(lease, working._jobs[0], records.get(EndPeriods.name))
        await leases.release(lease)


async def facts(profile: Any) -> tuple[Counter[str], dict[str, list[PeriodSettled]]]:
    """By board: how often its season was closed, and what was recorded when it was settled."""
    closed: Counter[str] = Counter()
    settled: dict[str, list[PeriodSettled]] = {}
    after = 0
    while events := [event async for event in profile.journal.read(after, 1000)]:
        after = events[-1].position
        for body in (event.body for event in events):
            if isinstance(body, PeriodClosed):
                closed[body.board] += 1
            elif isinstance(body, PeriodSettled):
                settled.setdefault(body.board, []).append(body)
    return closed, settled


async def check(target: str, log: Path) -> list[str]:
    """Finish what is left, and say what is wrong."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    await wait_for_leases(profile.background.stores)
    await boards.end_periods()
    await inherit(profile)
    await wait_for_index(profile.background.stores)
    closed, settled = await facts(profile)
    told: dict[str, dict[str, set[str]]] = {}
    for line in logged(log):
        word, board_id, player = line.split()
        told.setdefault(board_id, {"counted": set(), "skipped": set()})[word].add(player)
    found = []
    for board_id, words in told.items():
        board = await boards.board(board_id)
        shown = {each.player for each in await board.top(100)}
        digest = (await board.settle_period(CUP, CUP)).digest
        ends = settled.get(board_id, [])
        if (closed[board_id], len(ends)) != (1, 1):
            found.append(f"{board_id} was closed {closed[board_id]} times, settled {len(ends)}")
        elif (ends[0].digest, ends[0].players) != (digest, len(shown)):
            found.append(f"{board_id} is not what was settled")
        if words["counted"] - shown:
            found.append(f"{board_id} has lost {words['counted'] - shown}")
        if words["skipped"] & shown:
            found.append(f"{board_id} shows {words['skipped'] & shown}, which did not count")
    await profile.background.stop()
    await boards.close()
    return found


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Kind(live, check))
