"""Processes that archive periods, and die where they are told to: see `worker`.

Each round makes a board whose days have ended already, each with some scores. They are closed,
settled, archived and, but for the last two, deleted again by the rule `keep`; then somebody is
erased, and is taken out of the archives. The file `log` says who was to be on which day of which
board (``day BOARD PERIOD PLAYERS``), who was erased (``erased PLAYER``), and what was checked.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
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
from toprung.archives.files import ArchiveFilesAt
from toprung.archives.format import load_pyarrow
from toprung.archives.store import ParquetArchives
from toprung.domain.events import PeriodArchived, PeriodClosed, PeriodSettled
from toprung.errors import LeaseLost, UnknownPlayer
from toprung.profiles.embedded import SystemClock
from toprung.service.archiving import Archives
from toprung.service.background.archiving import ArchivePeriods, ErasingFollower
from toprung.service.background.ending import EndPeriods
from toprung.service.background.following import Fixed
from toprung.service.background.runner import Background, Stores
from toprung.service.endings import Endings
from toprung.service.leaderboards import Leaderboard, Leaderboards

ROUNDS: Final = 1
"""Boards of a life that is not cut short."""
DAYS: Final = 4
KEPT: Final = 2
HISTORY: Final = {"name": "daily", "retain": DAYS + 2, "grace": 0, "keep": KEPT}


class FatedFiles(ArchiveFilesAt):
    """Files at whose creation and deletion a process may die."""

    fate: Fate

    def create(self, name: str, source: Path) -> Any:
        point = "index.create" if name.endswith(".players.parquet") else "entries.create"
        self.fate.meet(point, is_after=False)
        found = super().create(name, source)
        self.fate.meet(point, is_after=True)
        return found


def folder_of(log: Path) -> str:
    """Where archives are."""
    return str(log.with_name("archive"))


def archiving_background(profile: Any, log: Path, fate: Fate) -> Background:
    """What ends and archives periods, on ports at whose calls the process may die."""
    stores: Stores = profile.background.stores
    fated: dict[str, Any] = {
        name: Fated(name, getattr(stores, name), fate) for name in ("leases", "jobs", "followers")
    }
    journal = cast(Any, Fated("journal", profile.journal, fate))
    reader = cast(Any, Fated("reader", profile.endings._reader, fate))
    endings = Endings(profile.journal, profile.endings._reader, stores.moment)
    files = FatedFiles(folder_of(log))
    files.fate = fate
    store = cast(Any, Fated("store", ParquetArchives(files, str(log.parent)), fate))
    archives = Archives(journal, reader, stores.moment, store, profile.past.forget)
    return Background(
        stores._replace(**fated),
        [Fixed(ErasingFollower(archives))],
        {},
        [EndPeriods(profile.journal, endings, stores.clock), ArchivePeriods(archives)],
    )


async def play(boards: Leaderboards, log: Path, name: str) -> str:
    """A board with days that have ended; who is going to be erased."""
    board = await boards.create(name, windows=[HISTORY], scopes=["team"])
    erased = f"{name}-erased"
    await boards.set_player(erased, attributes={"team": "red"})
    now = datetime.now(UTC)
    for day in range(1, DAYS + 1):
        at = now - timedelta(days=day)
        players = [erased, *(f"p{number}" for number in range(day))]
        for score, player in enumerate(players):
            await board.submit(player, score % 3, at=at)
        append(log, f"day {name} {at:%Y-%m-%d} {','.join(players)}")
    return erased


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code."""
    profile = await opened(target, SystemClock(), folder_of(log))
    boards = Leaderboards(profile.parts)
    background = archiving_background(profile, log, Fate(life, is_mortal=mortal is None))
    while mortal is not None and life.point and is_alive(mortal):  # noqa: ASYNC110 -- let it die
        await asyncio.sleep(0.02)
    number = 0
    while number < ROUNDS or life.seconds:
        erased = await play(boards, log, f"b{os.getpid()}-{number}")
        number += 1
        try:
            await work(background)
            append(log, f"erased {erased}")
            await boards.erase(erased)
            await work(background)
        except LeaseLost:
            return OUSTED
    await boards.close()
    return 0


async def work(background: Background) -> None:
    """Follow, and do both jobs now, unless another process does."""
    leases = background.stores.leases
    lease = await leases.take(background.following.name)
    if lease is not None:
        while await background.following.step(lease):
            pass
    for job in background.working._jobs:
        lease = await leases.take(background.working.name)
        if lease is not None:
            records = await background.stores.jobs.records()
            await background.working._run(lease, job, records.get(job.name))
    if lease is not None:
        await leases.release(lease)


async def facts(profile: Any) -> dict[type[Any], Counter[tuple[str, str]]]:
    """By kind: how often each period was told of."""
    kinds = PeriodClosed, PeriodSettled, PeriodArchived
    found: dict[type[Any], Counter[tuple[str, str]]] = {kind: Counter() for kind in kinds}
    after = 0
    while events := [event async for event in profile.journal.read(after, 1000)]:
        after = events[-1].position
        for body in (event.body for event in events):
            if isinstance(body, kinds):
                found[type(body)][body.board, body.period] += 1
    return found


async def check_archives(profile: Any, board: Leaderboard, folder: Path) -> list[str]:
    """What is wrong with the archives of a board."""
    found, listed = [], await board.archives()
    rules = await profile.journal.board(board.id)
    for each in listed:
        problem = (await board.verify_archive(each.window, each.period)).problem
        if problem is not None:
            found.append(f"{board.id} {each.period}: {problem}")
        period = await profile.archives.find(rules, each.window, each.period)
        found += [f"{name} is gone" for name in period.files.names if not (folder / name).exists()]
        if period.files.digest != period.digest:
            found.append(f"{board.id} {each.period} is not what was settled")
    if len(listed) != KEPT:
        found.append(f"{board.id} has {len(listed)} archives")
    return found


async def check(target: str, log: Path) -> list[str]:
    """Finish what is left, and say what is wrong."""
    profile = await opened(target, SystemClock(), folder_of(log))
    boards = Leaderboards(profile.parts)
    await wait_for_leases(profile.background.stores)
    lines = [line.split() for line in logged(log)]
    lines = lines[max((at for at, line in enumerate(lines) if line == ["checked"]), default=0) :]
    erased = {line[1] for line in lines if line[0] == "erased"}
    for player in erased:
        with suppress(UnknownPlayer):
            await boards.erase(player)
    await inherit(profile)
    background = archiving_background(profile, log, Fate(Life(), is_mortal=False))
    rounds = 0
    while rounds < 2:
        try:
            await work(background)
            rounds += 1
        except LeaseLost:  # its leases are short, and the machine may be busy
            await wait_for_leases(profile.background.stores)
    await wait_for_index(profile.background.stores)
    found = []
    told = await facts(profile)
    for _, name, day, players in (line for line in lines if line[0] == "day"):
        counts = [counter[name, day] for counter in told.values()]
        if counts != [1, 1, 1]:
            found.append(f"{name} {day} was closed, settled, archived {counts} times")
        expected = set(players.split(",")) - erased
        board = await boards.board(name)
        shown = {each.player for each in await board.top(100, window="daily", period=day)}
        if shown != expected:
            found.append(f"{name} {day} shows {shown}, not {expected}")
    for name in {line[1] for line in lines if line[0] == "day"}:
        found += await check_archives(profile, await boards.board(name), Path(folder_of(log)))
    append(log, "checked")
    await profile.background.stop()
    await boards.close()
    return found


if __name__ == "__main__":
    load_pyarrow()  # or each process would do so for itself
    import_module("pandas")  # as `pyarrow` does, where it is
    import_module("obstore.store")
    main(sys.argv[1], sys.argv[2], Kind(live, check))
