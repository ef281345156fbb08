"""Scripts do a bounded amount of work: questions and cards that need more take several of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.instant import DAY
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.errors import DenseNotDeclared, Overloaded
from toprung.indexes import redis, redis_asking, redis_distinct, redis_shards
from toprung.indexes.redis import shard_key
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.testing.contracts.index_contract import SHAPES, IndexContract
from toprung.testing.contracts.maintenance_contract import MaintenanceContract
from toprung.testing.contracts.workbench import Opened, Session, Workbench
from toprung.testing.servers import PostgresServer, RedisServer

SMALL = {
    redis: {
        "PLAYERS_PER_QUESTION": 3,
        "RECORDS_PER_QUESTION": 2,
        "ROWS_PER_SCRIPT": 2,
        "KEYS_PER_QUESTION": 2,
        "LADDERS_LISTED_PER_SCRIPT": 1,
    },
    redis_asking: {
        "QUESTIONS_PER_CALL": 2,
        "ROWS_PER_SCRIPT": 2,
        "CARD_BYTES_PER_READ": 70,
        "UNITS_PER_SCRIPT": 20,
    },
    redis_distinct: {"UNITS_PER_SCRIPT": 20, "PREFIXES_PER_SCRIPT": 2},
    redis_shards: {
        "CARDS_PER_SCRIPT": 3,
        "UNITS_PER_APPLY": 2,
        "UNITS_PER_LOOK": 2,
        "NAMES_PER_SCRIPT": 1,
        "MEMBERS_PER_SCRIPT": 2,
        "LADDERS_DROPPED_PER_SCRIPT": 1,
        "CARD_BYTES_PER_READ": 70,
        "CARD_BYTES_PER_SCRIPT": 70,
        "CARDS_FOUND_FIRST": 1,
    },
}
SCORES = 6_000
WORDS_MAX = 4_000
"""Of all commands that one script gives. Twenty cards on 512 ladders each are 36,000."""

SECONDS_MAX = 2.0
"""How long another client may wait: what is refused took half a minute before."""


@pytest.fixture
def small_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fits into one script."""
    for module, limits in SMALL.items():
        for name, limit in limits.items():
            monkeypatch.setattr(module, name, limit)


@pytest.mark.usefixtures("small_scripts")
class InSmallPieces:
    @pytest.fixture
    def workbench(self, postgres: PostgresServer, redis_server: RedisServer) -> Workbench:
        return ClusterWorkbench(postgres.url, redis_server.url)


class TestIndexInSmallPieces(InSmallPieces, IndexContract):
    @pytest.mark.parametrize("shape", SHAPES[::5], ids=str)
    @pytest.mark.parametrize("policy", ["best"])
    def test_every_shape_of_ladder(
        self, opened: Session, shape: tuple[str, str | None, str], policy: str
    ) -> None:
        super().test_every_shape_of_ladder(opened, shape, policy)


class TestMaintenanceInSmallPieces(InSmallPieces, MaintenanceContract):
    pass


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


# --- dense ranks ----------------------------------------------------------------------------


async def open_tied(workbench: ClusterWorkbench, scores: int = SCORES) -> Opened:
    """A board that does not declare dense ranks: many scores, three players each."""
    opened = await workbench.open(SystemClock())
    board = await opened.boards.create("blitz", windows=["all-time"])
    for start in range(0, 3 * scores, 3_000):
        rows = [
            (f"p{n}", 10_000_000 - n // 3) for n in range(start, min(start + 3_000, 3 * scores))
        ]
        await board.submit_many(rows)
    return opened


def test_a_look_up_of_dense_ranks_is_one_sweep(
    postgres: PostgresServer, own_redis: RedisServer
) -> None:
    """A thousand players cost as much as the deepest of them, and nobody waits for all of it."""

    async def main() -> None:
        opened = await open_tied(ClusterWorkbench(postgres.url, own_redis.url))
        board = await opened.boards.board("blitz")
        other = await opened.boards.create("other")
        await other.submit("ann", 1)
        wanted = [f"p{3 * SCORES - 1 - 3 * n}" for n in range(1_000)]
        waits: list[float] = []
        begin = time.monotonic()
        reading = asyncio.create_task(board.lookup(wanted, ranking="dense", names=False))
        while not reading.done():
            asked = time.monotonic()
            await other.standing("ann")
            waits.append(time.monotonic() - asked)
        found = await reading
        assert time.monotonic() - begin < 5 * SECONDS_MAX
        assert max(waits) < SECONDS_MAX
        assert [standing.rank for standing in found.standings] == [SCORES - n for n in range(1_000)]
        await opened.boards.close()

    asyncio.run(main())


def test_dense_ranks_too_deep_are_refused_wherever_they_are_asked_for(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (redis, redis_distinct):
        monkeypatch.setattr(module, "DISTINCT_MAX", 50)
    for module in (redis_asking, redis_distinct):
        monkeypatch.setattr(module, "UNITS_PER_SCRIPT", 100)
    monkeypatch.setattr("toprung.service.view.DISTINCT_MAX", 50)

    async def main() -> None:
        opened = await open_tied(ClusterWorkbench(postgres.url, redis_server.url), 100)
        board = await opened.boards.board("blitz")
        assert (await board.standing("p150", ranking="dense")).rank == 51
        assert (await board.around("p150", 3, 0, ranking="dense")).standings[-1].rank == 51
        for work in (
            board.standing("p153", ranking="dense"),
            board.lookup(["p0", "p299", "p3"], ranking="dense"),
            board.around("p200", ranking="dense"),
            board.standings(from_rank=160, ranking="dense"),
        ):
            with pytest.raises(DenseNotDeclared, match='a board with ranking "dense"'):
                await work
        await opened.boards.close()

    asyncio.run(main())


def test_sweeps_take_turns_and_few_may_wait(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (redis_asking, redis_distinct):
        monkeypatch.setattr(module, "UNITS_PER_SCRIPT", 20)
    monkeypatch.setattr(redis_distinct, "WAITING_MAX", 3)

    async def main() -> None:
        opened = await open_tied(ClusterWorkbench(postgres.url, redis_server.url), 100)
        board = await opened.boards.board("blitz")
        asked = (board.standing("p299", ranking="dense") for _ in range(10))
        found = await asyncio.gather(*asked, return_exceptions=True)
        ranks = [each.rank for each in found if not isinstance(each, BaseException)]
        assert ranks == [100] * len(ranks)
        assert len(ranks) >= 3
        refused = [each for each in found if isinstance(each, BaseException)]
        assert {type(each) for each in refused} == {Overloaded}
        await opened.boards.close()

    asyncio.run(main())


def test_a_list_that_changes_while_it_is_read_is_read_once_more(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of it is read, then the best becomes the worst: nobody may be missing or twice."""
    for module in (redis, redis_asking):
        monkeypatch.setattr(module, "ROWS_PER_SCRIPT", 5)

    async def main() -> None:
        opened = await open_tied(ClusterWorkbench(postgres.url, redis_server.url), 4)
        board = await opened.boards.board("blitz")
        profile, ladder = opened.maintenance, UndenseLadder("blitz", "all-time", "all", "global")
        assert isinstance(profile, ClusterProfile)
        before = await profile.index.slice(ladder, 0, 12)
        ask, kinds = profile.index._ask, []

        async def ask_and_change(*arguments: Any) -> object:
            kinds.append(arguments[3])
            answer = await ask(*arguments)
            if len(kinds) == 1:
                await board.remove("p0")
            return answer

        monkeypatch.setattr(profile.index, "_ask", ask_and_change)
        after = await profile.index.slice(ladder, 0, 12)
        assert kinds == ["range", "rows", "rows", "range", "rows", "rows"]
        assert after.total == 11
        assert after.players == before.players[1:]
        assert after.records == before.records[1:]
        await opened.boards.close()

    asyncio.run(main())


# --- cards and ladders ------------------------------------------------------------------------


@asynccontextmanager
async def words_per_script(server: RedisServer) -> AsyncIterator[list[int]]:
    """How many words the commands have that each script gives; complete at the end."""
    host, _, port = server.url.rpartition("/")[2].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**24)
    writer.write(b"MONITOR\r\n")
    assert await reader.readline() == b"+OK\r\n"
    words: list[int] = []

    async def listen() -> None:
        given = 0
        while b'"ECHO" "that is all"' not in (line := await reader.readline()):
            if b" lua] " in line:
                given += line.count(b'" "') + 1
            elif given:
                words.append(given)
                given = 0

    listening = asyncio.create_task(listen())
    try:
        yield words
        server.ask("ECHO", "that is all")
        await listening
    finally:
        listening.cancel()
        writer.close()
        await writer.wait_closed()


def test_a_card_on_hundreds_of_ladders_is_applied_in_parts(
    postgres: PostgresServer, own_redis: RedisServer
) -> None:
    """The most that rules allow: 64 windows and 8 scopes. Such cards took 2 s a hundred.

    What a script did is counted, not timed: `benchmarks/cluster_scripts.py` tells how long that is.
    """

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, own_redis.url).open(SystemClock())
        boards = opened.boards
        seasons = [
            {"name": f"s{n}", "starts": "2020-01-01T00:00:00Z", "ends": "2090-01-01T00:00:00Z"}
            for n in range(64)
        ]
        scopes = [f"a{n}" for n in range(7)]
        board = await boards.create("wide", windows=seasons, scopes=["global", *scopes])
        players = [f"p{n}" for n in range(20)]
        for n, player in enumerate(players):
            await boards.set_player(player, attributes=dict.fromkeys(scopes, str(n % 2)))
        async with words_per_script(own_redis) as words:
            result = await board.submit_many([(player, n) for n, player in enumerate(players)])
            assert result.accepted == len(players)
            assert await boards.verify() == []
            await boards.rebuild()
        assert sum(words) > 100_000
        assert max(words) < WORDS_MAX
        assert [s.player for s in await board.top(3, scope="a6:1", window="s63")] == [
            "p19",
            "p17",
            "p15",
        ]
        assert await boards.verify() == []
        await boards.close()

    asyncio.run(main())


def test_scopes_of_a_shard_that_an_older_version_has_filled(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis_server.url).open(SystemClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        board = await opened.boards.create("blitz", windows=["all-time"], scopes=["country"])
        for number in range(5):
            await opened.boards.set_player(f"p{number}", attributes={"country": f"C{number}"})
            await board.submit(f"p{number}", number)
        found = await board.scopes()
        assert [scope.scope for scope in found] == [*(f"country:C{n}" for n in range(5)), "global"]
        rules = await opened.journal.board("blitz")
        base = shard_key(profile.shards._prefix, rules.generation).removesuffix("epoch")
        client = profile.client.client
        await client.delete(f"{base}scoped", f"{base}s:all-time/all")
        assert await board.scopes() == found
        assert await board.scopes(limit=2, after="country:C2") == found[3:5]
        await client.delete(f"{base}epoch")
        await opened.boards.rebuild()
        assert await client.exists(f"{base}s:all-time/all")
        assert await board.scopes() == found
        await opened.boards.delete("blitz")
        assert not [key async for key in client.scan_iter(f"{base}*")]
        await opened.boards.close()

    asyncio.run(main())


def test_ladders_that_are_over_are_dropped_by_housekeeping(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """By an unlink each: left to their expiry, the server would free them while everybody waits."""

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis_server.url).open(SystemClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        board = await opened.boards.create("blitz", windows=["all-time", "hourly"])
        await board.submit("ann", 5)
        (now,) = [
            name for name in await opened.index.ladders("blitz") if name[0].window == "hourly"
        ]
        rules = await opened.journal.board("blitz")
        base = shard_key(profile.shards._prefix, rules.generation).removesuffix("epoch")
        client = profile.client.client
        key = f"{base}z:{redis.ladder_name(now[0])}"
        assert await client.ttl(key) == -1
        here = profile.clock.now()
        assert await profile.shards.expire(rules, here - DAY) == 0
        assert await profile.shards.expire(rules, here + 100 * DAY) == 1
        assert not await client.exists(key)
        left = [ladder for ladder, _ in await opened.index.ladders("blitz")]
        assert left == [Ladder("blitz", "all-time", "all", "global")]
        await board.submit("ann", 6)  # an entry of a period that is over is on no ladder
        assert not await client.exists(key)
        assert (await board.standing("ann")).score == 6
        assert await profile.shards.expire(rules, here) == 0  # an earlier time brings nothing back
        await board.submit("ann", 7)
        assert not await client.exists(key)
        await opened.boards.rebuild()  # but a rebuild finds out what is over
        assert await client.exists(key)
        assert await opened.boards.verify() == []
        await opened.boards.close()

    asyncio.run(main())
