"""Archives that one profile wrote and another reads, and processes that share them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.archives.outages import away_for_a_day
from tests.archives.s3 import S3
from tests.cluster.workbench import ClusterWorkbench
from tests.workbenches import EmbeddedWorkbench
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.copying import copy_into_cluster
from toprung.profiles.embedded import EmbeddedProfile
from toprung.service.archive_rounds import ArchiveRounds
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.archive_contract import BRIEF, PLAYERS, reads
from toprung.testing.servers import PostgresServer, RedisServer

DAY: Any = {"window": "daily", "period": "2026-11-15"}


async def play(boards: Leaderboards, clock: FrozenClock) -> Leaderboard:
    """A day with ties, and one after it."""
    board = await boards.create("blitz", windows=["all-time", BRIEF], scopes=["country"])
    for number, player in enumerate(PLAYERS):
        country = "DE" if number % 3 else "US"
        await boards.set_player(player, name=f"Ann {number}", attributes={"country": country})
    for _ in range(2):
        await board.submit_many([(player, n % 4) for n, player in enumerate(PLAYERS)])
        clock.advance(days=1)
    return board


def test_a_copy_reads_the_archives_of_the_original(
    postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    """Players have other numbers in the cluster than in the files; who is erased there is gone."""
    clock = FrozenClock("2026-11-15T12:30:00Z")

    async def main() -> None:
        workbenches = EmbeddedWorkbench(tmp_path), ClusterWorkbench(postgres.url, redis_server.url)
        for each in workbenches:
            each.archive = str(tmp_path / "archive")
        file, cluster = [(await each.open(clock)).boards for each in workbenches]
        source, target = file._maintenance, cluster._maintenance
        assert isinstance(source, EmbeddedProfile)
        assert isinstance(target, ClusterProfile)
        board = await play(file, clock)
        await file.background.settle()
        ours = await reads(board, PLAYERS, **DAY)
        assert len(ours["global ordinal top"]) == len(PLAYERS)
        archives = await board.archives()
        assert len(archives) == 2
        copied = await copy_into_cluster(source, target)
        assert copied.differences == []
        await file.close()
        board = await cluster.board("blitz")
        assert await reads(board, PLAYERS, **DAY) == ours
        assert await board.archives() == archives
        assert (await board.verify_archive(*DAY.values())).problem is None
        assert await target.verify() == []
        await board.submit("newcomer", 9)
        await cluster.erase("p1")
        await cluster.background.settle()  # the files are those of the original
        assert await board.archives() == archives
        assert await cluster.adopt_archives()
        clock.advance(minutes=10)
        for _ in range(2):  # hidden, then out of the files
            shown = await board.top(1000, **DAY)
            top = ours["global ordinal top"]
            assert [(each.rank, each.player) for each in shown] == [
                (each.rank, each.player) for each in top if each.player != "p1"
            ]
            await cluster.background.settle()
        assert {each.file for each in await board.archives()}.isdisjoint(
            {each.file for each in archives}
        )
        assert (await board.verify_archive(*DAY.values())).problem is None
        clock.advance(days=1)
        await cluster.background.settle()
        assert len(await board.archives()) == 3
        assert (await board.standing("p2", **DAY)).player == "p2"
        await cluster.close()
        await workbenches[1].destroy()

    asyncio.run(main())


def test_another_process_reads_files_that_were_replaced(
    postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    clock = FrozenClock("2026-11-15T12:30:00Z")

    async def main() -> None:
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        workbench.archive = str(tmp_path / "archive")
        one, other = [(await workbench.open(clock)).boards for _ in range(2)]
        board = await play(one, clock)
        await one.background.settle()
        elsewhere = await other.board("blitz")
        top = await elsewhere.top(1000, **DAY)
        assert top == await board.top(1000, **DAY)
        await one.erase("p1")
        await one.background.settle()
        past = other._parts.past
        past.blocks.forget(lambda _: True)  # type: ignore[attr-defined]
        # It remembers for a second which files there were.
        shown = await elsewhere.top(1000, **DAY)
        assert [each.player for each in shown] == [p.player for p in top if p.player != "p1"]
        assert (await elsewhere.standing("p2", **DAY)).rank == next(
            each.rank for each in top if each.player == "p2"
        )
        for each in (one, other):
            await each.close()
        await workbench.destroy()

    asyncio.run(main())


def test_the_store_is_away_for_a_day(
    postgres: PostgresServer, redis_server: RedisServer, s3: S3
) -> None:
    async def main() -> None:
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        await away_for_a_day(workbench, s3, FrozenClock("2026-11-15T12:30:00Z"))
        await workbench.destroy()

    asyncio.run(main())


def test_what_is_archived_within_the_hour_is_let_go_of(
    postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    """The certain time is the same when the index is asked before the archive, and after."""
    clock = FrozenClock("2026-11-15T12:30:00Z")

    async def main() -> None:
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        workbench.archive = str(tmp_path / "archive")
        opened = await workbench.open(clock)
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        board = await play(opened.boards, clock)
        await workbench.pass_hours(opened, clock, 3)
        prune = next(job for job in profile.jobs if job.name == "prune")
        lease = await profile.leases.take("jobs")
        assert lease is not None
        await board.close_period(**DAY)
        await board.settle_period(**DAY)
        for days in ({"2026-11-15", "2026-11-16"}, {"2026-11-16"}):
            await prune.run(lease, 0)
            ladders = await profile.index.ladders("blitz")
            assert {each.period for each, _ in ladders if each.window == "daily"} == days
            await ArchiveRounds(profile.journal, profile.archives).go()
        await opened.boards.close()
        await workbench.destroy()

    asyncio.run(main())
