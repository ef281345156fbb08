"""Processes that take snapshots, and die where they are told to: see `worker`.

Each round makes a board with a history and some players on it, and takes its snapshot while others
submit; the board of the round before is deleted. The file `log` is the world outside: one line
``made BOARD`` or ``gone BOARD`` for what was acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, Final, cast

from tests.crash.worker import (
    OUSTED,
    Fate,
    Fated,
    Kind,
    Life,
    append,
    is_alive,
    logged,
    main,
    opened,
    wait_for_index,
    wait_for_leases,
)
from toprung.domain.ranking import RANKINGS
from toprung.domain.standing import Movement
from toprung.errors import LeaseLost
from toprung.profiles.embedded import SystemClock
from toprung.service import snapshots
from toprung.service.background.history import TakeSnapshots
from toprung.service.background.runner import Background, Stores
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.service.snapshots import Snapshots

ROUNDS: Final = 3
"""Boards of a life that is not cut short."""
PLAYERS: Final = 30
"""That are on a board before its snapshot is taken."""
RULES: Final = {"windows": ["all-time"], "scopes": ["team"]}

snapshots.WRITTEN_BYTES = 64  # type: ignore[misc]  # many commits for one snapshot


def taking_background(profile: Any, fate: Fate) -> Background:
    """The job that takes snapshots, on ports at whose calls the process may die."""
    stores: Stores = profile.background.stores
    fated: dict[str, Any] = {
        name: Fated(name, getattr(stores, name), fate) for name in ("leases", "jobs")
    }
    journal = cast(Any, Fated("journal", profile.journal, fate))
    store = cast(Any, Fated("store", profile.snapshot_store, fate))
    reader = profile.snapshots._reader
    taking = Snapshots(journal, reader, store, fated["leases"], stores.moment)
    job = TakeSnapshots(journal, taking, stores.clock)
    return Background(stores._replace(**fated), [], {}, [job])


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    background = taking_background(profile, Fate(life, is_mortal=mortal is None))
    while mortal is not None and life.point and is_alive(mortal):  # noqa: ASYNC110 -- let it die
        await asyncio.sleep(0.02)
    number = 0
    before = ""
    while number < ROUNDS or life.seconds:
        board = await boards.create(f"past-{os.getpid()}-{number}", **RULES)
        await board.submit_many([(f"p{n}", 1000 - n // 2) for n in range(PLAYERS)])
        await boards.patch(board.id, history={"every": "month"})  # not before: others take it, too
        append(log, f"made {board.id}")
        number += 1
        try:
            await asyncio.gather(submit(board), take(background))
        except LeaseLost:
            return OUSTED
        if before:
            append(log, f"gone {before}")
            await boards.delete(before)
        before = board.id
    await boards.close()
    return 0


async def submit(board: Leaderboard) -> None:
    """Others come in meanwhile, behind those who are there."""
    for number in range(5):
        await board.submit(f"late{number}", number)


async def take(background: Background) -> None:
    """Do the job now, although it may have been done a moment ago, unless another process does."""
    leases, working = background.stores.leases, background.working
    lease = await leases.take(working.name)
    if lease is not None:
        records = await background.stores.jobs.records()
        record = await working._run(lease, working._jobs[0], records.get(TakeSnapshots.name))
        assert record.fault is None, record.fault
        await leases.release(lease)


async def check(target: str, log: Path) -> list[str]:
    """Finish what is left, and say what is wrong."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    await wait_for_leases(profile.background.stores)
    words = [line.split() for line in logged(log)]
    gone = {board for word, board in words if word == "gone"}
    made = {board for word, board in words if word == "made"} - gone
    for rules in await boards.list(limit=1000):
        if rules.id in gone:  # it may have died before it did what it said
            await boards.delete(rules.id)
    while True:
        try:
            await boards.take_snapshots()
            break
        except LeaseLost:  # its leases are short, and the machine may be busy
            await wait_for_leases(profile.background.stores)
    await wait_for_index(profile.background.stores)
    listed = [rules for rules in await boards.list(limit=1000) if rules.history is not None]
    store, found = profile.snapshot_store, []
    kept = await store.generations()
    if kept != {rules.generation for rules in listed}:
        found.append("boards that are gone have left something")
    for rules in listed:
        taken = await store.all(rules.generation)
        if len(taken) != 1:
            found.append(f"{rules.id} has {len(taken)} snapshots")
        if rules.id in made:  # else it died while that was made
            found += await wrong_with(await boards.board(rules.id))
    await profile.background.stop()
    await boards.close()
    return found


async def wrong_with(board: Leaderboard) -> list[str]:
    """What is wrong with a board's snapshot."""
    found = []
    for ranking in RANKINGS:
        for each in await board.top(PLAYERS, movement=True, ranking=ranking):
            moved = each.movement
            if not isinstance(moved, Movement) or moved.delta:
                found.append(f"{each.player} of {board.id} has moved: {moved}")
    if [point.score for point in (await board.history("p7")).points] != [997]:
        found.append(f"{board.id} has lost a score")
    return found


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Kind(live, check))
