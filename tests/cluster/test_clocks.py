"""Clocks of a cluster: processes that disagree, and what is destroyed once it is certain."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.cluster.workbench import ClusterWorkbench, keep_house, run_job
from tests.workbenches import open_profile
from toprung.domain.card import entry_width
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.copying import copy_into_cluster
from toprung.profiles.embedded import EmbeddedProfile
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

SECONDS_MAX = 30.0
NOON = "2026-11-15T12:30:00Z"
RULES: dict[str, Any] = {
    "policy": "sum",
    "windows": ["all-time", {"name": "daily", "retain": 1}],
}


class Process:
    """One process of the cluster, with a clock of its own."""

    def __init__(self, bench: ClusterWorkbench, clock: FrozenClock) -> None:
        self._bench = bench
        self.clock = clock
        self.boards: Leaderboards
        self.profile: ClusterProfile

    async def open(self) -> None:
        opened = await self._bench.open(self.clock)
        assert isinstance(opened.maintenance, ClusterProfile)
        self.boards, self.profile = opened.boards, opened.maintenance

    async def board(self) -> Leaderboard:
        return await self.boards.board("total")

    async def submit(self, *args: Any, **kwargs: Any) -> Any:
        return await (await self.board()).submit(*args, **kwargs)

    async def score(self, player: str, **options: Any) -> Any:
        board = await self.board()
        return (await board.standing(player, window="daily", **options)).score

    async def lose_redis(self) -> None:
        """Lose the board's shard, and have it rebuilt by this process."""
        board = await self.profile.journal.board("total")
        await self.profile.shards.remove(board.generation)
        async with asyncio.timeout(SECONDS_MAX):
            while not await self.profile.catch_up.sweep():  # noqa: ASYNC110 -- others rebuild
                await asyncio.sleep(0.01)

    async def days(self) -> list[str]:
        """The days that have a ladder in Redis."""
        ladders = await self.profile.index.ladders("total")
        return sorted(ladder.period for ladder, _ in ladders if ladder.window == "daily")


class Cluster:
    """A schema that processes open, and the hours that pass on its server."""

    def __init__(self, postgres: PostgresServer, redis_server: RedisServer) -> None:
        self._bench = ClusterWorkbench(postgres.url, redis_server.url)
        self._url = postgres.url
        self._open: list[Process] = []

    @asynccontextmanager
    async def process(self, clock: FrozenClock) -> AsyncIterator[Process]:
        process = Process(self._bench, clock)
        await process.open()
        self._open.append(process)
        try:
            yield process
        finally:
            self._open.remove(process)
            await process.boards.close()

    async def pass_hours(self, count: int) -> None:
        """Let so many hours pass, for the server and for every process that is open."""
        for _ in range(count):
            await self.shift_server("1 hour")
            for clock in {id(process.clock): process.clock for process in self._open}.values():
                clock.advance(hours=1)
            for process in self._open * 2:  # in the second round all have told
                await keep_house(process.profile)

    async def shift_server(self, span: str) -> None:
        """Move what the server knows of the past away from its present."""
        await self.sql(f"UPDATE hours SET began_at = began_at - interval '{span}'")
        await self.sql(f"UPDATE clocks SET told_at = told_at - interval '{span}'")

    async def sql(self, statement: str, *values: object) -> list[Any]:
        connection = await asyncpg.connect(self._url)
        try:
            await connection.execute(f"SET search_path = {self._bench.settings.schema}")
            return list(await connection.fetch(statement, *values))
        finally:
            await connection.close()

    async def entries(self, process: Process, player: str) -> int:
        """How many entries a player's card has."""
        rows = await self.sql(
            "SELECT length(entries) FROM cards JOIN players ON number = player WHERE id = $1",
            player,
        )
        shape = (await process.profile.journal.board("total")).shape
        return int(rows[0][0]) // entry_width(shape)


@pytest.fixture
def cluster(postgres: PostgresServer, redis_server: RedisServer) -> Cluster:
    return Cluster(postgres, redis_server)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_process_that_is_49_hours_ahead(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    """Its housekeeping forgot the others' keys, and its submissions pruned their cards."""

    async def main() -> None:
        right, ahead = FrozenClock(NOON), FrozenClock("2026-11-17T13:30:00Z")
        async with cluster.process(right) as one, cluster.process(ahead) as other:
            await one.boards.create("total", **RULES)
            await one.submit("ann", 5, key="k")
            for _ in range(3):
                await keep_house(other.profile)
                assert (await other.submit("ann", 3)).standings["daily"].period == "2026-11-17"
                assert (await one.submit("ann", 5, key="k")).replayed
                assert (await other.submit("ann", 5, key="k")).replayed
                assert await one.score("ann") == 5
                for process in (one, other):
                    assert await process.boards.verify() == []
                await cluster.pass_hours(2)
            states = [await process.profile.clock_state() for process in (one, other)]
            assert [state.off_seconds / 3600 for state in states] == pytest.approx([-49, 49], 0.01)
            assert all(state.jumps for state in states)

    with caplog.at_level(logging.WARNING, "toprung"):
        run(main)
    told = [each.getMessage() for each in caplog.records if "another process's" in each.message]
    assert len(told) >= 2


@pytest.mark.parametrize("days", [5, 400])
def test_card_keeps_its_entry_while_the_clock_is_ahead(cluster: Cluster, days: int) -> None:
    """It was pruned by the first submission from there, and no rebuild could bring it back."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            windows = ["all-time", {"name": "daily", "retain": 2}]
            await process.boards.create("total", policy="sum", windows=windows)
            await process.submit("ann", 5, key="k")
            clock.jump(days=days)
            await process.submit("ann", 3)
            await keep_house(process.profile)
            assert await cluster.entries(process, "ann") == 3, "both days and all time"
            clock.jump(days=-days)
            plain = await process.submit("ann", 1)
            assert (plain.skipped, plain.standings["daily"].score) == ({}, 6)
            assert (await process.submit("ann", 5, key="k")).replayed
            assert await cluster.entries(process, "ann") == 3
            for _ in range(2):
                assert await process.boards.verify() == []
                assert await process.score("ann") == 6
                await process.boards.rebuild()

    run(main)


def test_rules_change_on_a_process_that_is_ahead(cluster: Cluster) -> None:
    async def main() -> None:
        right, ahead = FrozenClock(NOON), FrozenClock("2026-11-17T13:30:00Z")
        async with cluster.process(right) as one, cluster.process(ahead) as other:
            await one.boards.create("total", **RULES)
            await one.submit("ann", 5, key="k")
            await cluster.pass_hours(3)
            await other.boards.patch("total", windows=["all-time", "daily"], scopes=["country"])
            async with asyncio.timeout(5):
                while len((await (await one.board()).rules())["scopes"]) == 1:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert await one.score("ann") == 5
            for process in (one, other):
                assert await process.boards.verify() == []

    run(main)


def test_process_with_an_earlier_clock_is_heard_at_once(cluster: Cluster) -> None:
    """What the others know of clocks may be a minute old when they are about to prune."""

    async def main() -> None:
        async with cluster.process(FrozenClock("2026-11-20T12:30:00Z")) as ahead:
            await ahead.boards.create("total", **RULES)
            await cluster.pass_hours(3)
            assert ahead.profile.time.moment().confirmed > 0
            async with cluster.process(FrozenClock(NOON)) as right:
                await right.submit("ann", 5)
                await ahead.submit("ann", 3)
                assert await right.score("ann") == 5
                assert await cluster.entries(ahead, "ann") == 3
                assert await right.boards.verify() == []

    run(main)


def test_process_in_1970_does_not_make_others_accept_the_past(cluster: Cluster) -> None:
    """They counted scores of any year, in periods that nobody can read."""

    async def main() -> None:
        early = FrozenClock("1970-01-01T00:00:00Z")
        async with cluster.process(FrozenClock(NOON)) as right, cluster.process(early) as other:
            await right.boards.create("total", **RULES)
            await keep_house(other.profile)
            await keep_house(right.profile)
            for year in range(2000, 2026):
                late = await right.submit("ann", 1, at=f"{year}-06-01T12:00:00Z")
                assert late.skipped == {"daily": "not-retained"}
            assert await cluster.entries(right, "ann") == 1

    run(main)


@pytest.mark.parametrize(("hours", "counts"), [(-23, True), (-25, False)])
def test_late_scores_count_by_a_clock_that_is_a_day_behind(
    cluster: Cluster, hours: int, counts: bool
) -> None:
    async def main() -> None:
        behind = FrozenClock(NOON)
        behind.jump(hours=hours)
        async with cluster.process(FrozenClock(NOON)) as right, cluster.process(behind) as other:
            await right.boards.create("total", **RULES)
            await keep_house(other.profile)
            await keep_house(right.profile)
            late = await right.submit("ann", 1, at="2026-11-14T12:00:00Z")
            assert ("daily" not in late.skipped) == counts

    run(main)


def test_cards_give_up_what_is_certainly_obsolete(cluster: Cluster) -> None:
    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            for _ in range(6):
                await process.submit("ann", 1)
                clock.advance(days=1)
            assert await cluster.entries(process, "ann") == 7, "the server saw no time pass"
            await cluster.pass_hours(2)
            await process.submit("ann", 1)
            assert await cluster.entries(process, "ann") <= 4
            assert (await (await process.board()).standing("ann", window="all-time")).score == 7
            assert await process.boards.verify() == []

    run(main)


def test_keys_are_forgotten_by_hours_of_the_server(cluster: Cluster) -> None:
    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await process.submit("ann", 5, key="k")
            await cluster.pass_hours(24)
            clock.jump(days=400)
            await keep_house(process.profile)
            assert (await process.submit("ann", 5, key="k")).replayed
            clock.jump(days=-400)
            await cluster.pass_hours(26)
            assert await cluster.sql("SELECT 1 FROM keys") == []
            assert not (await process.submit("ann", 5, key="k")).replayed
            assert (await process.submit("ann", 5, key="k")).replayed

    run(main)


def test_server_whose_clock_is_set(cluster: Cluster) -> None:
    """Ahead by 400 days is one more hour; back by as much does not stop the hours."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await process.submit("ann", 5, key="k")
            for span in ("400 days", "-400 days", "400 days"):
                await cluster.shift_server(span)
                clock.jump(days=400)
                await keep_house(process.profile)
                await process.submit("ann", 3)
                clock.jump(days=-400)
                await keep_house(process.profile)
                assert await process.score("ann") == 5
                assert (await process.submit("ann", 5, key="k")).replayed
            await cluster.shift_server("-400 days")
            before = await cluster.sql("SELECT max(number) FROM hours")
            await cluster.pass_hours(3)
            after = await cluster.sql("SELECT max(number) FROM hours")
            assert after[0][0] - before[0][0] in (2, 3)

    run(main)


def test_start_after_a_pause_waits_for_an_hour(cluster: Cluster) -> None:
    """The machine of both, process and server, may have been started with a wrong clock."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await cluster.pass_hours(3)
            await process.submit("ann", 5, key="k")
        await cluster.shift_server("400 days")
        clock.advance(days=400)
        async with cluster.process(clock) as process:
            await process.submit("ann", 3)
            assert (await process.submit("ann", 5, key="k")).replayed
            assert (await process.profile.clock_state()).off_seconds == 0
            assert await process.boards.verify() == []
        await cluster.shift_server("-400 days")
        clock.jump(days=-400)
        async with cluster.process(clock) as process:
            assert await process.score("ann") == 5
            assert (await process.submit("ann", 5, key="k")).replayed
            assert await process.boards.verify() == []

    run(main)


def test_start_that_the_server_contradicts_is_a_jump(cluster: Cluster) -> None:
    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
        clock.advance(days=5)
        async with cluster.process(clock) as process:
            state = await process.profile.clock_state()
            assert state.off_seconds == pytest.approx(5 * 86_400, abs=60)
            assert state.jumps == 1

    run(main)


@pytest.mark.parametrize("shift", [FrozenClock.jump, FrozenClock.advance])
@pytest.mark.parametrize("days", [5, 400])
def test_redis_is_lost_while_the_clock_is_ahead(
    cluster: Cluster, shift: Callable[..., int], days: int
) -> None:
    """What is rebuilt under a wrong clock has all that the right one needs."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await process.submit("ann", 5)
            shift(clock, days=days)
            await process.submit("bob", 3)
            await process.lose_redis()
            await run_job(process.profile, "prune")
            assert await process.score("bob") == 3
            assert await process.boards.verify() == []
            clock.jump(days=-days)
            assert await process.score("ann") == 5
            assert await process.boards.verify() == []
            await process.submit("ann", 1)
            assert await process.score("ann") == 6

    run(main)


def test_process_that_starts_ahead_and_rebuilds(cluster: Cluster) -> None:
    """Its clock is the only one at that moment."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await process.submit("ann", 5)
        ahead = FrozenClock("2026-11-20T12:30:00Z")
        async with cluster.process(ahead) as process:
            await process.lose_redis()
            await process.submit("bob", 3)
        async with cluster.process(clock) as process:
            assert await process.score("ann") == 5
            assert await process.boards.verify() == []

    run(main)


def test_ladders_go_when_they_are_certainly_obsolete(cluster: Cluster) -> None:
    """Not by the clock of Redis, nor by that of one process."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await process.submit("ann", 1)
            clock.advance(days=3)
            await process.submit("bob", 1)
            await run_job(process.profile, "prune")
            assert await process.days() == ["2026-11-15", "2026-11-18"]
            await cluster.pass_hours(2)
            await run_job(process.profile, "prune")
            assert await process.days() == ["2026-11-18"]
            await process.lose_redis()
            assert await process.days() == ["2026-11-18"]
            assert await process.boards.verify() == []

    run(main)


@pytest.mark.parametrize("by_hand", [True, False])
def test_clock_that_was_believed_and_came_back(cluster: Cluster, by_hand: bool) -> None:
    """Ladders went, cards that nobody wrote to are whole, so the ladders can be brought back."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with cluster.process(clock) as process:
            await process.boards.create("total", **RULES)
            await process.submit("ann", 5)
            clock.jump(days=5)
            await cluster.pass_hours(3)
            await run_job(process.profile, "prune")
            assert await process.days() == []
            clock.jump(days=-5)
            assert len(await process.boards.verify()) == 1
            if by_hand:
                await process.boards.rebuild()
            else:
                await run_job(process.profile, "reconcile")
            assert await process.score("ann") == 5
            assert await process.boards.verify() == []

    run(main)


def test_copy_of_a_file_while_the_clock_is_ahead(cluster: Cluster, tmp_path: Path) -> None:
    async def main() -> None:
        clock = FrozenClock(NOON)
        opened = open_profile(str(tmp_path / "scores.db"), clock)
        assert isinstance(opened.maintenance, EmbeddedProfile)
        board = await opened.boards.create("total", **RULES)
        await board.submit("ann", 5, key="k")
        clock.jump(days=400)
        await board.submit("ann", 3)
        async with cluster.process(clock) as process:
            copied = await copy_into_cluster(opened.maintenance, process.profile)
            assert copied.differences == []
            assert await cluster.entries(process, "ann") == 3, "both days and all time"
            clock.jump(days=-400)
            assert await process.score("ann") == 5
            assert (await process.submit("ann", 5, key="k")).replayed
            assert await process.boards.verify() == []
        await opened.boards.close()

    run(main)
