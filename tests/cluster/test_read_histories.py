"""Concurrent reads in a cluster: each answer is that of one state meanwhile, in every process.

`toprung.testing.history.checker` says what is checked exactly.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import toprung
from tests.cluster.load import holds
from tests.cluster.workbench import ClusterWorkbench
from tests.conftest import StartService
from tests.histories.counting import Counting
from tests.histories.distance import distant
from tests.histories.playing import PLANS, Face, Play
from tests.histories.readers import QUESTIONS
from tests.servers import need_servers
from toprung.client import connect_async
from toprung.errors import Unavailable
from toprung.service.leaderboards import Leaderboards
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer

SOAK = bool(os.environ.get("TOPRUNG_SOAK"))
SEEDS = range(20261119, 20261119 + (10 if SOAK else 1))
TURNS = 300 if SOAK else 15
FAULT_COUNT = 12 if SOAK else 1
SEVERAL_STEPS = ("friends", "distribution")
OTHERS = [name for name in QUESTIONS if name not in SEVERAL_STEPS]
LISTS_LAG = 1.0
"""As documented: a kept page was read at most so long before somebody asked for it."""


@asynccontextmanager
async def two_processes(cluster_file: Path) -> AsyncIterator[list[Face]]:
    """The library, opened twice: two writers of PostgreSQL, two readers of Redis."""
    async with toprung.open_async(cluster_file) as one, toprung.open_async(cluster_file) as other:
        yield [Face("one", one), Face("other", other)]


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_one_state(cluster_file: Path, plan: str, seed: int) -> None:
    async def main() -> None:
        async with two_processes(cluster_file) as faces:
            play = Play(PLANS[plan], seed, faces, may_forget=True, asks=OTHERS)
            await play.begin()
            await play.run(TURNS)
            assert await faces[0].boards.verify() == []
        findings = play.check()
        assert findings.explained > TURNS
        assert findings.undecided <= findings.explained // 100

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("question", SEVERAL_STEPS)
def test_what_takes_several_steps_is_of_one_moment(cluster_file: Path, question: str) -> None:
    """Friends: who is one, their order, total and global ranks. Distribution: the counts; and who
    did not move is in one of the buckets, because the first one starts at the lowest score."""

    async def main() -> None:
        async with two_processes(cluster_file) as faces:
            play = Play(PLANS["sum"], SEEDS[0], faces, may_forget=True, asks=[question])
            await play.begin()
            await play.run(3 * TURNS)
        play.check()

    asyncio.run(main())


@pytest.mark.slow
def test_answers_of_a_redis_cluster(
    postgres: PostgresServer, redis_cluster: RedisClusterServers, tmp_path: Path
) -> None:
    file = settings_file(postgres, redis_cluster.url, tmp_path)

    async def main() -> None:
        async with two_processes(file) as faces:
            play = Play(PLANS["ties"], SEEDS[0], faces, may_forget=True, asks=OTHERS)
            await play.begin()
            await play.run(TURNS)
        assert play.check().undecided == 0

    asyncio.run(main())


@pytest.mark.slow
def test_answers_of_a_distant_redis(
    postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    """One process is near and writes; the other one reads, and what Redis answers arrives late.

    Much is acknowledged in between, so whoever shares an answer must not have asked after that.
    """
    near = settings_file(postgres, redis_server.url, tmp_path)
    far = tmp_path / "far.toml"

    async def main() -> None:
        async with (
            distant(redis_server.port, random.Random(SEEDS[0])) as port,
            toprung.open_async(near) as one,
        ):
            far.write_text(near.read_text().replace(str(redis_server.port), str(port)))
            async with toprung.open_async(far) as other:
                play = Play(
                    PLANS["crowd"],
                    SEEDS[0],
                    [Face("near", one)],
                    may_forget=True,
                    asks=OTHERS,
                    readers_face=Face("far", other),
                )
                await play.begin()
                await play.run(TURNS)
        findings = play.check()
        assert findings.undecided <= findings.explained // 100

    asyncio.run(main())


@pytest.mark.slow
def test_many_writers_for_the_same_players(cluster_file: Path) -> None:
    async def main() -> None:
        async with two_processes(cluster_file) as faces:
            counting = Counting(SEEDS[0], faces, may_forget=True)
            await counting.begin()
            await counting.count(TURNS, writers=6)
        findings = counting.check()
        assert findings.undecided <= findings.explained // 100

    asyncio.run(main())


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    need_servers()
    server = RedisServer()
    yield server
    server.close()


async def cut(server: RedisServer) -> None:
    """Every connection ends, whatever is under way."""
    ended = 0
    for _ in range(5):
        ended += int(server.ask("CLIENT", "KILL", "TYPE", "normal"))
        await asyncio.sleep(0.05)
    assert ended > 0


async def flush(server: RedisServer) -> None:
    """Everything is lost, and is rebuilt."""
    server.ask("FLUSHALL")


async def restart(server: RedisServer) -> None:
    """It is away for a moment, and comes back with nothing."""
    server.kill()
    await asyncio.sleep(0.2)
    await asyncio.to_thread(server.start)


FAULTS = {"cuts": cut, "flush": flush, "restart": restart}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_outage_of_redis_makes_an_answer_wrong(
    postgres: PostgresServer, own_redis: RedisServer, tmp_path: Path, fault: str, seed: int
) -> None:
    """Calls may fail and submissions be stale; whatever is answered is right.

    What was acknowledged as stale may be seen later, but not after a clean verification.
    """
    file = settings_file(postgres, own_redis.url, tmp_path)

    async def main() -> None:
        async with two_processes(file) as faces:
            play = Play(PLANS["sum"], seed, faces, may_forget=True, may_be_behind=True, asks=OTHERS)

            async def meddle() -> None:
                for _ in range(FAULT_COUNT):
                    await play.answers(50)
                    await FAULTS[fault](own_redis)
                    await play.answers(50)

            await play.begin()
            await play.run(TURNS, meddle)
            await holds(lambda: is_clean(faces[1].boards), "clean verification")
            play.history.settled(time.monotonic())
            await play.run(10)
        findings = play.check()
        assert findings.explained > TURNS
        print(f"{findings.undecided} of {findings.explained} answers are not decided")

    asyncio.run(main())


def test_a_previous_rank_is_that_before_the_submission_or_unknown(
    postgres: PostgresServer, own_redis: RedisServer, tmp_path: Path
) -> None:
    """Redis takes no writes for a while: what it knows of a player is not what was before."""
    file = settings_file(postgres, own_redis.url, tmp_path)

    async def main() -> None:
        async with toprung.open_async(file) as boards:
            board = await boards.create("blitz", policy="latest")
            await board.submit("bob", 20)
            await board.submit("ann", 10)
            assert own_redis.ask("CONFIG", "SET", "maxmemory", "1") == "OK"
            first = (await board.submit("ann", 30)).standings["all-time"]
            assert (first.previous_score, first.previous_rank) in ((10, 2), (10, None))
            second = (await board.submit("ann", 5)).standings["all-time"]
            assert (second.previous_score, second.previous_rank) in ((30, 1), (30, None))

    asyncio.run(main())


async def is_clean(boards: Leaderboards) -> bool:
    try:
        return await boards.verify() == []
    except Unavailable:
        return False


@pytest.mark.slow
def test_a_service_and_a_library_see_each_others_writes_at_once(
    cluster_file: Path, start_service: StartService
) -> None:
    """A process of its own, asked over HTTP: only its lists may be a second old."""
    service = start_service("--db", str(cluster_file))

    async def main() -> None:
        async with (
            toprung.open_async(cluster_file) as library,
            connect_async(service.url) as remote,
        ):
            faces = [Face("library", library), Face("service", remote, lag=LISTS_LAG)]
            play = Play(PLANS["best"], SEEDS[0], faces, may_forget=True, asks=OTHERS)
            await play.begin()
            await play.run(TURNS)
        findings = play.check()
        assert findings.undecided <= findings.explained // 10

    asyncio.run(main())


def settings_file(postgres: PostgresServer, index_url: str, folder: Path) -> Path:
    """The settings of an empty cluster with this index."""
    workbench = ClusterWorkbench(postgres.url, index_url)
    asyncio.run(workbench.make())
    file = folder / "cluster.toml"
    file.write_text(
        "[cluster]\n"
        f'journal_url = "{postgres.url}"\n'
        f'index_url = "{index_url}"\n'
        f'schema = "{workbench.settings.schema}"\n'
        f'prefix = "{workbench.settings.prefix}"\n'
    )
    return file
