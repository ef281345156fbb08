"""Questions that wait at the same time share a script call, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cluster.load import holds
from tests.cluster.proxy import CuttingProxy
from tests.cluster.test_scripts import WORDS_MAX, words_per_script
from tests.cluster.workbench import ClusterWorkbench
from toprung.config import ClusterSettings
from toprung.domain.ladder import UndenseLadder
from toprung.errors import IndexUnavailable, Invalid, NotReady, Overloaded
from toprung.indexes import redis_asking, redis_client
from toprung.indexes.redis import shard_key
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.servers import PostgresServer, RedisServer

PLAYERS = 300
LADDER = UndenseLadder("blitz", "all-time", "all", "global")


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


class Asked:
    """A process with two boards, and the calls that it makes."""

    def __init__(self, profile: ClusterProfile, boards: Leaderboards) -> None:
        self.profile = profile
        self.boards = boards
        self.calls: list[int] = []
        """How many answers each call of `ask.lua` had."""
        read = profile.client.read

        async def read_and_note(name: str, key: str, *words: Any) -> Any:
            answer = await read(name, key, *words)
            self.calls.append(len(answer) - 1)
            return answer

        profile.client.read = read_and_note  # type: ignore[method-assign]

    async def base(self, board_id: str) -> str:
        """How the keys of a board's shard begin."""
        board = await self.profile.journal.board(board_id)
        return shard_key(self.profile.shards._prefix, board.generation).removesuffix("epoch")


@asynccontextmanager
async def asked(settings: ClusterSettings) -> AsyncIterator[tuple[Asked, Leaderboard]]:
    profile = await ClusterProfile.open(settings, SystemClock())
    boards = Leaderboards(profile.parts)
    try:
        for name in ("other", "blitz"):
            board = await boards.create(name, windows=["all-time"])
            await board.submit_many([(f"p{n}", n // 2) for n in range(PLAYERS)])
        yield Asked(profile, boards), await boards.board("blitz")
    finally:
        await boards.close()


async def on_servers(postgres: PostgresServer, redis: RedisServer) -> ClusterSettings:
    workbench = ClusterWorkbench(postgres.url, redis.url)
    await workbench.make()
    return workbench.settings


def test_many_questions_take_few_calls(postgres: PostgresServer, redis_server: RedisServer) -> None:
    """Those of all kinds, of one board; and each gets its own answer."""

    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (found, board):
            standings = [board.standing(f"p{n}", names=False) for n in range(40)]
            arounds = [board.around(f"p{n}", 2, 2, names=False) for n in range(8, 48, 8)]
            others = [board.total(), board.top(3, names=False), board.lookup(["p7", "nobody"])]
            answers: list[Any] = await asyncio.gather(*standings, *arounds, *others)
            assert len(found.calls) <= 4  # the look-up reads a name, too
            assert [standing.player for standing in answers[:40]] == [f"p{n}" for n in range(40)]
            assert [standing.rank for standing in answers[:40:2]] == [*range(299, 259, -2)]
            assert [page.standings[2].player for page in answers[40:45]] == [
                f"p{n}" for n in range(8, 48, 8)
            ]
            assert answers[45] == PLAYERS
            assert [standing.player for standing in answers[46]] == ["p298", "p299", "p296"]
            assert answers[47].missing == ("nobody",)

    asyncio.run(main())


def test_what_nobody_waits_for_is_not_asked(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """Look-ups of callers who have gone make room for those of others."""

    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (found, board):
            players = [f"p{n}" for n in range(140)]
            lookups = [asyncio.create_task(board.lookup(players, names=False)) for _ in range(300)]
            while not found.calls:  # noqa: ASYNC110
                await asyncio.sleep(0)
            for task in lookups[:-1]:
                task.cancel()
            assert len((await lookups[-1]).standings) == 140
            await asyncio.wait(lookups)
            assert sum(found.calls) < 50
            assert not found.profile.index._asker._queues

    asyncio.run(main())


def test_nobody_waits_for_large_questions(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """A standing is asked for after hundreds of look-ups, and is answered before most of them."""

    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (_, board):
            players = [f"p{n}" for n in range(140)]
            done: list[int] = []

            async def look_up(number: int) -> None:
                await board.lookup(players, names=False)
                done.append(number)

            lookups = [asyncio.create_task(look_up(number)) for number in range(300)]
            await asyncio.sleep(0)
            for _ in range(3):
                assert (await board.standing("p298", names=False)).rank == 1
            assert len(done) < 150
            await asyncio.gather(*lookups)

    asyncio.run(main())


def test_a_lone_question_does_not_wait(postgres: PostgresServer, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (found, board):
            await board.standing("p1", names=False)
            assert found.calls == [1]
            assert not found.profile.index._asker._queues  # nothing is left of it

    asyncio.run(main())


def test_a_wrong_question_fails_alone(postgres: PostgresServer, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (found, board):
            broken = UndenseLadder("blitz", "all-time", "all", "broken")
            await found.profile.client.client.set(
                f"{await found.base('blitz')}z:all-time/all/broken", "no ladder"
            )
            asked_for: list[Awaitable[Any]] = [
                board.standing("p3", names=False),
                found.profile.index.size(broken),
                board.standing("\ud800", names=False),
                board.standing("p4", names=False),
            ]
            answers: list[Any] = await asyncio.gather(*asked_for, return_exceptions=True)
            assert found.calls == [3]
            assert [answers[0].player, answers[3].player] == ["p3", "p4"]
            assert "WRONGTYPE" in str(answers[1])
            assert isinstance(answers[2], Invalid)

    asyncio.run(main())


def test_who_gives_up_concerns_nobody_else(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (found, board):
            tasks = [asyncio.create_task(board.standing(f"p{n}", names=False)) for n in range(20)]
            for rounds in range(4):  # before it is sent, and while it is under way
                await asyncio.sleep(0)
                tasks[rounds].cancel()
            answers = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(each, asyncio.CancelledError) for each in answers[:4])
            assert [each.player for each in answers[4:]] == [  # type: ignore[union-attr]
                f"p{n}" for n in range(4, 20)
            ]
            assert (await board.standing("p0", names=False)).player == "p0"
            assert sum(found.calls) >= 17

    asyncio.run(main())


def test_a_shard_that_is_not_ready_concerns_its_board(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (found, board):
            other = await found.boards.board("other")
            await found.profile.catch_up.close()  # or it would be rebuilt meanwhile
            await found.profile.client.client.delete(f"{await found.base('blitz')}epoch")
            answers: list[Any] = await asyncio.gather(
                *(board.standing(f"p{n}", names=False) for n in range(5)),
                *(other.standing(f"p{n}", names=False) for n in range(5)),
                return_exceptions=True,
            )
            assert [type(each) for each in answers[:5]] == [NotReady] * 5
            assert len({id(each) for each in answers[:5]}) == 5  # each has a trace of its own
            assert [each.player for each in answers[5:]] == [f"p{n}" for n in range(5)]

    asyncio.run(main())


@pytest.mark.parametrize("cuts", [1, 2])
def test_a_connection_that_is_lost_in_the_middle(
    postgres: PostgresServer, redis_server: RedisServer, cuts: int
) -> None:
    """Once, and all are asked again; twice, and those in that call are told."""

    async def main() -> None:
        proxy = CuttingProxy(redis_server.port, b"places")
        await proxy.start()
        workbench = ClusterWorkbench(postgres.url, f"redis://127.0.0.1:{proxy.port}")
        await workbench.make()
        try:
            async with asked(workbench.settings) as (_, board):
                await board.standing("p1", names=False)
                proxy.armed = cuts
                answers: list[Any] = await asyncio.gather(
                    *(board.standing(f"p{n}", names=False) for n in range(20)),
                    return_exceptions=True,
                )
                assert (proxy.cuts, proxy.armed) == (cuts, 0)
                told = [each for each in answers if isinstance(each, Exception)]
                assert {type(each) for each in told} <= {IndexUnavailable}
                assert len(told) == (20 if cuts == 2 else 0)
                assert (await board.standing("p1", names=False)).player == "p1"
        finally:
            await proxy.close()

    asyncio.run(main())


def test_thousands_of_questions_are_answered_in_bounded_scripts(
    postgres: PostgresServer, own_redis: RedisServer
) -> None:
    async def main() -> None:
        async with asked(await on_servers(postgres, own_redis)) as (found, board):
            players = [f"p{n}" for n in range(PLAYERS)]
            async with words_per_script(own_redis) as words:
                answers: list[Any] = await asyncio.gather(
                    *(board.standing(players[n % PLAYERS], names=False) for n in range(3_000)),
                    *(board.lookup(players, names=False) for _ in range(20)),
                    *(board.around(players[n], 100, 100, names=False) for n in range(100)),
                )
            assert [each.player for each in answers[:3_000]] == players * 10
            assert all(len(each.standings) == PLAYERS for each in answers[3_000:3_020])
            assert max(words) < WORDS_MAX
            assert len(found.calls) >= 30
            assert max(found.calls) <= redis_asking.QUESTIONS_PER_CALL

    asyncio.run(main())


def test_no_more_questions_may_wait_than_a_queue_holds(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_asking, "WAITING_MAX", 10)

    async def main() -> None:
        async with asked(await on_servers(postgres, redis_server)) as (_, board):
            answers: list[Any] = await asyncio.gather(
                *(board.standing(f"p{n}", names=False) for n in range(30)), return_exceptions=True
            )
            refused = [each for each in answers if isinstance(each, Exception)]
            assert {type(each) for each in refused} == {Overloaded}
            assert [each.player for each in answers[:10]] == [f"p{n}" for n in range(10)]
            assert (await board.standing("p0", names=False)).player == "p0"

    asyncio.run(main())


def test_the_connection_for_questions_says_who_it_is_and_which_database_is_meant(
    postgres: PostgresServer, own_redis: RedisServer
) -> None:
    own_redis.ask("CONFIG", "SET", "requirepass", "a secret")

    async def main() -> None:
        workbench = ClusterWorkbench(
            postgres.url, f"redis://default:a%20secret@127.0.0.1:{own_redis.port}/3"
        )
        await workbench.make()
        async with asked(workbench.settings) as (found, board):
            assert found.profile.client._pipe is not None
            assert (await board.standing("p1", names=False)).player == "p1"
            await found.profile.client.client.script_flush()  # the server forgets all scripts
            assert (await board.standing("p2", names=False)).player == "p2"

    asyncio.run(main())


def test_a_server_that_hangs_is_asked_on_another_connection(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "ANSWER_SECONDS_MAX", 0.3)

    async def main() -> None:
        proxy = CuttingProxy(redis_server.port)
        await proxy.start()
        workbench = ClusterWorkbench(postgres.url, f"redis://127.0.0.1:{proxy.port}")
        await workbench.make()
        try:
            async with asked(workbench.settings) as (_, board):
                await board.standing("p1", names=False)
                proxy.passing.clear()
                answers: list[Any] = await asyncio.gather(
                    *(board.standing(f"p{n}", names=False) for n in range(5)),
                    return_exceptions=True,
                )
                assert {type(each) for each in answers} == {IndexUnavailable}
                proxy.passing.set()
                await holds(lambda: is_read(board), "standing")
        finally:
            await proxy.close()

    asyncio.run(main())


async def is_read(board: Leaderboard) -> bool:
    """Whether the board can be read."""
    try:
        return (await board.standing("p1", names=False)).player == "p1"
    except IndexUnavailable:
        return False
