"""Processes that archive periods and let go of them, and die where they are told to: see `worker`.

Each round makes a board whose days have ended already, each with some scores. By rules that it is
given then, no day is retained after its end: what waits for its archive stays nevertheless. They
are closed, settled, archived and let go of, by memory and its checkpoint or by Redis and the
cards; the archives of all but the last two are deleted by the rule `keep`. Then somebody is
erased, and is taken out of the archives. The file `log` says who was to be on which day of which
board (``day BOARD PERIOD PLAYERS``), who was erased (``erased PLAYER``), and what was checked.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import chain
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
from toprung.errors import LeaseLost, PeriodGone, UnknownPlayer
from toprung.indexes.checkpoint import Checkpoint
from toprung.profiles import cluster_jobs, embedded_jobs
from toprung.profiles.embedded import EmbeddedProfile, SystemClock
from toprung.service.archiving import Archives
from toprung.service.background.archiving import ArchivePeriods, ErasingFollower
from toprung.service.background.ending import EndPeriods
from toprung.service.background.following import Fixed
from toprung.service.background.runner import Background, Stores
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.waiting.threads import in_thread

ROUNDS: Final = 1
"""Boards of a life that is not cut short."""
DAYS: Final = 4
KEPT: Final = 2
PLAYED: Final = {"name": "daily", "retain": DAYS + 2, "grace": 10 * 86_400, "keep": KEPT}
ENDED: Final = {**PLAYED, "retain": 1, "grace": 0}
"""What a board has once its days are played: nobody closes them before, and they are let go of as
soon as they are archived."""
LET_GO: Final = 2
"""The days from this one back are certainly obsolete, whatever time it is today."""


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


def fated(fate: Fate, point: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function before and after which a process may die."""

    def call(*args: Any, **kwargs: Any) -> Any:
        fate.meet(point, is_after=False)
        found = function(*args, **kwargs)
        fate.meet(point, is_after=True)
        return found

    return call


def releasing_job(profile: Any, fate: Fate) -> Any:
    """What lets go of periods, where each step of it may be the last."""
    if isinstance(profile, EmbeddedProfile):
        Checkpoint.write = fated(fate, "checkpoint.write", Checkpoint.write)  # type: ignore[method-assign]
        profile.fold.prune = fated(fate, "memory.prune", profile.fold.prune)  # type: ignore[method-assign]
        return embedded_jobs.PruneLadders(profile.fold, profile.journal, in_thread)
    run = profile.shards._run

    async def fated_run(script: str, *args: Any) -> Any:
        fate.meet(f"script.{script}", is_after=False)
        found = await run(script, *args)
        fate.meet(f"script.{script}", is_after=True)
        return found

    profile.shards._run = fated_run
    return cluster_jobs.PruneLadders(profile.outbox, profile.shards)


def archiving_background(profile: Any, log: Path, fate: Fate) -> Background:
    """What ends, archives and lets go of periods, on ports at whose calls the process may die."""
    stores: Stores = profile.background.stores
    ports: dict[str, Any] = {
        name: Fated(name, getattr(stores, name), fate) for name in ("leases", "jobs", "followers")
    }
    journal = cast(Any, Fated("journal", profile.journal, fate))
    reader = cast(Any, Fated("reader", profile.endings._reader, fate))
    endings = profile.endings
    files = FatedFiles(folder_of(log))
    files.fate = fate
    kept_in = ParquetArchives(files, profile.journal.identity, str(log.parent))
    store = cast(Any, Fated("store", kept_in, fate))
    archives = Archives(journal, reader, stores.moment, store, profile.past.forget)
    ending = EndPeriods(profile.journal, endings, stores.clock)
    releasing = releasing_job(profile, fate)
    return Background(
        stores._replace(**ports),
        [Fixed(ErasingFollower(archives))],
        {},
        [ending, releasing, ArchivePeriods(journal, archives), releasing],
    )


async def confirm_time(profile: Any) -> None:
    """Have a cluster be sure of the time, as in its third hour: nothing is let go of before."""
    if not isinstance(profile, EmbeddedProfile):
        while profile.time.moment().confirmed <= 0:
            async with profile.store.connection() as connection:
                await connection.execute("UPDATE hours SET began_at = began_at - interval '1 hour'")
            await profile.time.tell()


async def play(boards: Leaderboards, log: Path, name: str) -> str:
    """A board with days that have ended; who is going to be erased."""
    board = await boards.create(name, windows=[PLAYED], scopes=["team"])
    erased = f"{name}-erased"
    await boards.set_player(erased, attributes={"team": "red"})
    now = datetime.now(UTC)
    for day in range(1, DAYS + 1):
        at = now - timedelta(days=day)
        players = [erased, *(f"p{number}" for number in range(day))]
        for score, player in enumerate(players):
            await board.submit(player, score % 3, at=at)
        append(log, f"day {name} {at:%Y-%m-%d} {','.join(players)}")
    await boards.replace(name, windows=[ENDED], scopes=["team"])
    return erased


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code."""
    profile = await opened(target, SystemClock(), folder_of(log))
    await confirm_time(profile)
    fate = Fate(life, is_mortal=mortal is None)
    background = archiving_background(profile, log, fate)
    boards = Leaderboards(profile.parts)
    late = Leaderboards(replace(profile.parts, journal=Fated("late", profile.journal, fate)))
    while mortal is not None and life.point and is_alive(mortal):  # noqa: ASYNC110 -- let it die
        await asyncio.sleep(0.02)
    number = 0
    while number < ROUNDS or life.seconds:
        name = f"b{os.getpid()}-{number}"
        erased = await play(boards, log, name)
        number += 1
        try:
            await work(background)
            make_checkpoint_due(profile)
            await touch(await late.board(name), ["p0", "p1", "p2"], 1)
            append(log, f"erased {erased}")
            await boards.erase(erased)
            await work(background)
        except LeaseLost:
            return OUSTED
    await boards.close()
    return 0


def make_checkpoint_due(profile: Any) -> None:
    """Have the next commit followed by a checkpoint, without what was let go of."""
    if isinstance(profile, EmbeddedProfile):
        profile._saved_position = -1_000_000


async def touch(board: Leaderboard, players: Collection[str], score: int) -> None:
    """Have cards written again, which let go of what is obsolete only then.

    A score that is no better than the last one changes no card.
    """
    await board.submit_many([(player, score) for player in sorted(players)])


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


async def check_archives(profile: Any, board: Leaderboard, days: int, folder: Path) -> list[str]:
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
    if len(listed) not in (min(KEPT, days), min(KEPT, days + 1)):  # the last may be half played
        found.append(f"{board.id} has {len(listed)} archives")
    return found


async def check_files(profile: Any, folder: Path) -> list[str]:
    """Files that nobody names: nobody would delete them, or take anybody out of them."""
    named: set[str] = set()
    async for _, document in profile.archives.catalogue():
        if document.value.files is not None:
            named.update(document.value.files.names)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*.parquet")}  # noqa: ASYNC240
    return [f"{name} is left" for name in sorted(there - named)]


async def shown(board: Leaderboard, day: str) -> set[str] | None:
    """Who is on a day; None if it is gone."""
    try:
        return {each.player for each in await board.top(100, window="daily", period=day)}
    except PeriodGone:
        return None


async def check_released(profile: Any, board: Leaderboard, days: list[str]) -> list[str]:
    """What is still held although it was archived, or could be again by what is held."""
    found = []
    rules = await profile.journal.board(board.id)
    held = {ladder.period for ladder, _ in await profile.index.ladders(board.id)}
    for day in days[LET_GO - 1 :]:
        if day in held:
            found.append(f"{board.id} {day} is still in the index")
        if contents := (await profile.endings._reader.read(rules, ("daily", day))).ladders:
            found.append(f"{board.id} {day} is still in the truth: {contents}")
    return found


async def work_twice(background: Any, stores: Any) -> None:
    """Two whole rounds of background work: what the first leaves is due in the second."""
    rounds = 0
    while rounds < 2:
        try:
            await work(background)
            rounds += 1
        except LeaseLost:  # its leases are short, and the machine may be busy
            await wait_for_leases(stores)


async def check(target: str, log: Path) -> list[str]:
    """Finish what is left, and say what is wrong."""
    profile = await opened(target, SystemClock(), folder_of(log))
    await confirm_time(profile)
    boards = Leaderboards(profile.parts)
    await wait_for_leases(profile.background.stores)
    lines = [line.split() for line in logged(log)]
    lines = lines[max((at for at, line in enumerate(lines) if line == ["checked"]), default=0) :]
    erased = {line[1] for line in lines if line[0] == "erased"}
    days: dict[str, list[str]] = {}
    for _, name, day, _ in (line for line in lines if line[0] == "day"):
        days.setdefault(name, []).append(day)
    for name in days:
        await boards.replace(name, windows=[ENDED], scopes=["team"])
    for player in erased:
        with suppress(UnknownPlayer):
            await boards.erase(player)
    await inherit(profile)
    background = archiving_background(profile, log, Fate(Life(), is_mortal=False))
    await work_twice(background, profile.background.stores)
    for name in days:
        everybody = [line[3].split(",") for line in lines if line[:2] == ["day", name]]
        await touch(await boards.board(name), {*chain(*everybody)} - erased, 2)
    await wait_for_index(profile.background.stores)
    found = []
    told = await facts(profile)
    for _, name, day, players in (line for line in lines if line[0] == "day"):
        counts = [counter[name, day] for counter in told.values()]
        if counts != [1, 1, 1]:
            found.append(f"{name} {day} was closed, settled, archived {counts} times")
        is_kept = days[name].index(day) < KEPT
        expected = set(players.split(",")) - erased if is_kept else None
        seen = await shown(await boards.board(name), day)
        if seen != expected:
            found.append(f"{name} {day} shows {seen}, not {expected}")
    for name, played in days.items():
        board = await boards.board(name)
        found += await check_archives(profile, board, len(played), Path(folder_of(log)))
        found += await check_released(profile, board, played)
    found += await check_files(profile, Path(folder_of(log)))
    append(log, "checked")
    await profile.background.stop()
    await boards.close()
    return found


if __name__ == "__main__":
    load_pyarrow()  # or each process would do so for itself
    import_module("pandas")  # as `pyarrow` does, where it is
    import_module("obstore.store")
    main(sys.argv[1], sys.argv[2], Kind(live, check))
