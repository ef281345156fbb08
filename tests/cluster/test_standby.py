"""Failover to a standby: what is lost, what is not, and that the index shows what the journal has.

A server that was promoted is the primary of the next test.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager

import msgspec
import pytest

from tests.cluster.load import KeyedLoad, Load, check_nothing_lost, holds
from tests.cluster.proxy import CuttingProxy
from tests.cluster.workbench import ClusterWorkbench
from toprung.doctor import examine
from toprung.domain.events import Scored
from toprung.domain.ladder import Ladder
from toprung.errors import NotRanked, TruthUnavailable, Unavailable, UnknownBoard
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import Applied, CardChanges
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboard
from toprung.testing.contracts.workbench import Opened
from toprung.testing.servers import PostgresServer, RedisServer
from toprung.testing.standby import PostgresStandby

LADDER = Ladder("sum", "all-time", "all", "global")


class Pair:
    """A primary, its standby, and the processes that use them."""

    def __init__(self, primary: PostgresServer, standby: PostgresStandby, redis: RedisServer):
        self.primary = primary
        self.standby = standby
        self.redis = redis
        self.bench = ClusterWorkbench(primary.url, redis.url)
        self._opened: list[Opened] = []

    async def reach(self, *ports: int) -> None:
        """Have processes that are opened from now on find PostgreSQL at these ports."""
        await self.bench.make()
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        url = f"postgresql://toprung@{hosts}/postgres"
        self.bench.settings = msgspec.structs.replace(self.bench.settings, journal_url=url)

    async def reach_both(self) -> None:
        await self.reach(self.primary.port, self.standby.port)

    async def open(self) -> Opened:
        opened = await self.bench.open(SystemClock())
        self._opened.append(opened)
        return opened

    async def fail_over(self) -> None:
        await asyncio.to_thread(self.primary.kill)
        await asyncio.to_thread(self.standby.promote)

    async def count(self, condition: str, server: PostgresServer | None = None) -> int:
        """How many rows of a table fulfil a condition."""
        server = server or self.standby
        table = f"{self.bench.settings.schema}.{condition}"
        return int(await asyncio.to_thread(server.ask, f"SELECT count(*) FROM {table}"))

    def shard_keys(self) -> list[str]:
        """The keys of the index, but for those that tell servers apart."""
        script = f"return cjson.encode(redis.call('KEYS', '{self.bench.settings.prefix}*'))"
        found = self.redis.ask("EVAL", script, "0")
        keys = [] if found == "{}" else msgspec.json.decode(found, type=list[str])
        return [key for key in keys if "{server." not in key]

    async def close_processes(self) -> None:
        for each in self._opened:
            await each.boards.close()


@pytest.fixture(scope="module")
def primaries() -> Iterator[list[PostgresServer]]:
    """The server that is the primary at the moment."""
    servers = [PostgresServer()]
    yield servers
    servers[0].close()


@contextmanager
def paired(
    primaries: list[PostgresServer], redis: RedisServer, *, is_synchronous: bool
) -> Iterator[Pair]:
    standby = PostgresStandby(primaries[0], is_synchronous=is_synchronous)
    try:
        yield Pair(primaries[0], standby, redis)
    finally:
        primaries[0].close()
        primaries[0] = standby


@pytest.fixture
def synchronous(primaries: list[PostgresServer], redis_server: RedisServer) -> Iterator[Pair]:
    with paired(primaries, redis_server, is_synchronous=True) as pair:
        yield pair


@pytest.fixture
def asynchronous(primaries: list[PostgresServer], redis_server: RedisServer) -> Iterator[Pair]:
    with paired(primaries, redis_server, is_synchronous=False) as pair:
        yield pair


@asynccontextmanager
async def processes(pair: Pair, count: int = 1) -> AsyncIterator[list[Opened]]:
    try:
        yield [await pair.open() for _ in range(count)]
    finally:
        await pair.close_processes()


@asynccontextmanager
async def proxied(pair: Pair) -> AsyncIterator[CuttingProxy]:
    """A proxy that leads to the primary: what a name that changes does."""
    proxy = CuttingProxy(pair.primary.port)
    await proxy.start()
    await pair.reach(proxy.port)
    try:
        yield proxy
    finally:
        await proxy.close()


def profile_of(opened: Opened) -> ClusterProfile:
    assert isinstance(opened.maintenance, ClusterProfile)
    return opened.maintenance


async def sums(opened: Opened) -> dict[str, int]:
    """What every player of the board has, by the events of the journal alone."""
    found: Counter[int] = Counter()
    async for event in opened.journal.read(limit=1_000_000):
        if isinstance(event.body, Scored) and event.body.board == "sum":
            found[event.body.player] += event.body.score
    ids = await opened.journal.ids(list(found))
    return {ids[number]: score for number, score in found.items()}


async def check_equals_journal(opened: Opened) -> None:
    """Ranks are those that the events lead to, and `verify` finds nothing."""

    async def is_clean() -> bool:
        try:
            return await opened.boards.verify() == []
        except Unavailable:
            return False

    await holds(is_clean, "a clean verification")
    expected = await sums(opened)
    top = await (await opened.boards.board("sum")).top(100)
    assert {each.player: each.score for each in top} == expected
    assert [each.rank for each in top] == list(range(1, len(expected) + 1))
    assert [each.score for each in top] == sorted(expected.values(), reverse=True)


async def journal_fault(opened: Opened) -> str | None:
    """What is wrong with the journal, as `/readyz` tells."""
    checks = await profile_of(opened).health()
    return next(check.fault for check in checks if check.name == "journal")


# --- a synchronous standby ------------------------------------------------------------------------


def test_no_acknowledged_submission_is_lost(synchronous: Pair) -> None:
    """Two processes under load, with keys and without, and a URL that names both servers."""
    pair = synchronous

    async def main() -> None:
        await pair.reach_both()
        async with processes(pair, 2) as (one, other):
            await one.boards.create("sum", policy="sum")
            keyed = KeyedLoad(await one.boards.board("sum"), players=4, name="k")
            keyless = Load(await other.boards.board("sum"), players=4, name="n")
            await keyed.acks(50)
            await keyless.acks(50)
            await asyncio.to_thread(pair.primary.kill)
            assert await one.index.size(LADDER) == 8, "reads go on"
            expected = "PostgreSQL is a standby that was not promoted"
            await holds(lambda: _is(journal_fault(one), expected), "fault in health")
            checks = {check.name: check for check in await examine(pair.bench.settings)}
            assert checks["postgresql"].line.startswith(expected)
            assert checks["redis"].passed
            await asyncio.to_thread(pair.standby.promote)
            await keyed.acks(50)
            await keyless.acks(50)
            await keyed.stop()
            await keyless.stop()
            assert not keyless.unknown, "every interrupted commit was settled"
            await check_nothing_lost(one.boards, keyed)
            await check_nothing_lost(other.boards, keyless)
            for each in (one, other):
                await check_equals_journal(each)
                assert await journal_fault(each) is None
            assert await sums(one) == {**keyed.acknowledged, **keyless.acknowledged}

    asyncio.run(main())


async def _is(answer: Awaitable[str | None], expected: str) -> bool:
    return (await answer or "").startswith(expected)


async def standby_check(pair: Pair) -> str:
    """What the doctor says about standbys."""
    checks = await examine(pair.bench.settings)
    return next(check.line for check in checks if check.name == "postgresql standby")


def test_a_commit_whose_answer_was_lost_is_settled_by_the_standby(synchronous: Pair) -> None:
    pair = synchronous

    async def main() -> None:
        async with proxied(pair) as proxy, processes(pair) as (one,):
            board = await one.boards.create("sum", policy="sum")
            await board.submit("ann", 1)
            await profile_of(one).catch_up.close()  # nobody else commits
            proxy.target_port = pair.standby.port
            proxy.armed = proxy.cuts_all = True
            submission = asyncio.create_task(board.submit("ann", 10))
            await holds(lambda: _true(proxy.cuts == 1), "cut")
            await pair.fail_over()
            await submission
            await check_equals_journal(one)
            assert await sums(one) == {"ann": 11}

    asyncio.run(main())


async def _true(answer: bool) -> bool:
    return answer


def test_a_commit_that_no_standby_has_is_not_acknowledged(synchronous: Pair) -> None:
    """The wait for the standby is cut short: then the commit is visible, and may still be lost."""
    pair = synchronous
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '{}%'"

    async def is_waiting(query: str) -> bool:
        return bool(await asyncio.to_thread(pair.primary.ask, waiting.format(query)))

    async def main() -> None:
        await pair.reach_both()
        async with processes(pair) as (one,):
            board = await one.boards.create("sum", policy="sum")
            await board.submit("ann", 1)
            await profile_of(one).catch_up.close()  # nobody else writes
            checks = {check.name: check for check in await examine(pair.bench.settings)}
            assert checks["postgresql standby"].line == "1 connected; commits wait for *"
            await asyncio.to_thread(pair.standby.cut_off)
            await holds(lambda: _is(standby_check(pair), "none is connected"), "ailment")
            submission = asyncio.create_task(board.submit("ann", 10, key="once"))
            await holds(lambda: is_waiting("COMMIT"), "commit that waits")
            cut = f"SELECT pg_terminate_backend(pid) FROM ({waiting.format('COMMIT')}) AS w"
            await asyncio.to_thread(pair.primary.ask, cut)
            await holds(lambda: is_waiting("_INSERT INTO batches"), "question that waits")
            assert await pair.count("events WHERE score = 10", pair.primary) == 1, "it is visible"
            assert not submission.done()
            await pair.fail_over()
            await submission
            assert (await board.submit("ann", 10, key="once")).replayed
            profile_of(one).catch_up.start()
            await check_equals_journal(one)
            assert await sums(one) == {"ann": 11}

    asyncio.run(main())


# --- an asynchronous standby ----------------------------------------------------------------------


def test_what_was_not_streamed_is_lost_and_nothing_else(asynchronous: Pair) -> None:
    """The index is ahead of the journal; processes that live through it and a new one agree."""
    pair = asynchronous

    async def main() -> None:
        async with proxied(pair) as proxy, processes(pair, 2) as (one, other):
            board = await one.boards.create("sum", policy="sum", windows=["all-time", "daily"])
            there = await other.boards.board("sum")
            for number, player in enumerate(("ann", "bob", "cy"), 1):
                await board.submit(player, number, key=f"{player}-1")
            await profile_of(one).background.step()
            await asyncio.to_thread(pair.standby.cut_off)
            await lose_some(pair, board, there)
            assert (await board.standing("ann")).score == 1001, "it was acknowledged"
            await profile_of(one).background.step()
            proxy.target_port = pair.standby.port
            await pair.fail_over()
            for opened in (one, other):
                await check_equals_journal(opened)
                assert await sums(opened) == {"ann": 1, "bob": 2, "cy": 3}
                with pytest.raises(NotRanked):
                    await (await opened.boards.board("sum")).standing("dan")
                with pytest.raises(UnknownBoard):
                    await opened.boards.board("lost")
            third = await pair.open()
            await check_equals_journal(third)
            await go_on(pair, [one, other, third])

    asyncio.run(main())


async def lose_some(pair: Pair, board: Leaderboard, there: Leaderboard) -> None:
    """Record what the standby never hears of: scores, a player, a board, rules."""
    await board.submit("ann", 1000, key="ann-2")
    await there.submit("dan", 500, key="dan-1")  # a player, by a process that has not made one yet
    await there.submit("cy", 7)
    boards = pair._opened[0].boards
    lost = await boards.create("lost", policy="sum")
    await lost.submit("ann", 5)
    await boards.patch("sum", windows=["all-time", "daily", "weekly"])
    await board.submit("bob", 70, key="bob-2")


async def go_on(pair: Pair, opened: list[Opened]) -> None:
    """New submissions count, lost ones can be sent again, and nothing of the old line is left."""
    boards = [await each.boards.board("sum") for each in opened]
    before = max(await pair.count("events"), 1)
    for number, board in enumerate(boards):
        await board.submit("eve", 10**number)
    for board in boards:
        again = await board.submit("ann", 1000, key="ann-2")
        assert again.replayed == (board is not boards[0]), "it counts once"
    assert (await boards[1].submit("ann", 1, key="ann-1")).replayed, "it was not lost"
    rules = await opened[0].boards.patch("sum", windows=["all-time", "daily", "weekly"])
    assert [each.player for each in await rules.top(window="weekly")] == []
    await boards[0].submit("cy", 7)  # a period that had a number, which nobody knows any more
    assert [each.player for each in await boards[0].top(window="weekly")] == ["cy"]
    lost = await opened[1].boards.create("lost", policy="sum")
    await lost.submit("bob", 9)
    assert [each.player for each in await lost.top()] == ["bob"]
    for each in opened:
        await check_equals_journal(each)
        assert await sums(each) == {"ann": 1001, "bob": 2, "cy": 10, "eve": 111}
    assert await pair.count("events") > before
    await profile_of(opened[1]).background.settle()
    shown = await boards[2].activity(100)
    assert [(each.player, each.score) for each in shown.submissions] == [
        *(("cy", 7), ("ann", 1000), ("eve", 100), ("eve", 10), ("eve", 1)),
        *(("cy", 3), ("bob", 2), ("ann", 1)),
    ]
    tag = profile_of(opened[0]).store.line.tag
    assert {profile_of(each).store.line.tag for each in opened} == {tag}
    assert pair.shard_keys()
    assert all(f".0.{tag}}}:" in key for key in pair.shard_keys()), "the old index is gone"


def test_a_commit_that_was_lost_is_made_again(asynchronous: Pair) -> None:
    """Its answer was lost with it; on the standby it turns out that it never happened."""
    pair = asynchronous

    async def main() -> None:
        async with proxied(pair) as proxy, processes(pair) as (one,):
            board = await one.boards.create("sum", policy="sum")
            await board.submit("ann", 1)
            await profile_of(one).catch_up.close()  # nobody else commits
            await asyncio.to_thread(pair.standby.cut_off)
            proxy.target_port = pair.standby.port
            proxy.armed = proxy.cuts_all = True
            submission = asyncio.create_task(board.submit("ann", 10))
            await holds(lambda: _true(proxy.cuts == 1), "cut")
            await pair.fail_over()
            await submission
            await check_equals_journal(one)
            assert await sums(one) == {"ann": 11}

    asyncio.run(main())


def test_what_comes_late_does_not_reach_the_new_index(asynchronous: Pair) -> None:
    """A process has committed, and applies its cards when another has rebuilt the index."""
    pair = asynchronous

    async def main() -> None:
        async with proxied(pair) as proxy, processes(pair, 2) as (slow, other):
            board = await slow.boards.create("sum", policy="sum")
            await board.submit("ann", 1)
            await asyncio.to_thread(pair.standby.cut_off)
            committed, may_go_on = asyncio.Event(), asyncio.Event()
            follower = profile_of(slow).follower
            apply = follower.apply

            async def apply_late(changes: CardChanges) -> Applied:
                committed.set()
                await may_go_on.wait()
                return await apply(changes)

            follower.apply = apply_late  # type: ignore[method-assign]
            submission = asyncio.create_task(board.submit("dan", 5))
            await committed.wait()
            proxy.target_port = pair.standby.port
            await pair.fail_over()
            await check_equals_journal(other)
            await check_equals_journal(slow)
            may_go_on.set()
            await submission
            for each in (slow, other):
                await check_equals_journal(each)
                assert await sums(each) == {"ann": 1}

    asyncio.run(main())


def test_a_backup_that_was_restored(postgres: PostgresServer, redis_server: RedisServer) -> None:
    """In place, on the same server: only the numbers of tables tell."""

    async def main() -> None:
        bench = ClusterWorkbench(postgres.url, redis_server.url)
        schema = bench.settings.schema or ""
        opened = await bench.open(SystemClock())
        board = await opened.boards.create("sum", policy="sum")
        await board.submit("ann", 1)
        dump = await asyncio.to_thread(postgres.dump, schema)
        await board.submit("ann", 10)
        await board.submit("dan", 5)
        await opened.boards.close()
        await bench.destroy()
        await asyncio.to_thread(postgres.ask, dump)
        opened = await bench.open(SystemClock())
        try:
            await check_equals_journal(opened)
            assert await sums(opened) == {"ann": 1}
            await (await opened.boards.board("sum")).submit("ann", 2)
            await check_equals_journal(opened)
            assert await sums(opened) == {"ann": 3}
        finally:
            await opened.boards.close()
            await bench.destroy()

    asyncio.run(main())


# --- an old primary, and servers that do not do ---------------------------------------------------


def test_an_old_primary_that_comes_back_is_not_used(asynchronous: Pair) -> None:
    pair = asynchronous

    async def main() -> None:
        await pair.reach_both()
        async with processes(pair) as (one,):
            board = await one.boards.create("sum", policy="sum")
            await board.submit("ann", 1)
            await asyncio.to_thread(pair.standby.cut_off)
            await board.submit("ann", 10)
            await pair.fail_over()
            await check_equals_journal(one)
            await asyncio.to_thread(pair.primary.start)
            profile = profile_of(one)
            assert await pair.count("events WHERE kind = 'score'", pair.primary) == 2
            for _ in range(3):  # whichever server is tried first
                await profile.store.pool.expire_connections()
                await board.submit("bob", 1)
            assert await pair.count("events WHERE kind = 'score'", pair.primary) == 2
            await check_equals_journal(one)
            assert await sums(one) == {"ann": 1, "bob": 3}

    asyncio.run(main())


def test_an_address_that_leads_back_is_refused(asynchronous: Pair) -> None:
    pair = asynchronous

    async def main() -> None:
        async with proxied(pair) as proxy, processes(pair) as (one,):
            board = await one.boards.create("sum", policy="sum")
            proxy.target_port = pair.standby.port
            await pair.fail_over()
            await board.submit("ann", 1)
            await asyncio.to_thread(pair.primary.start)
            proxy.target_port = pair.primary.port
            store = profile_of(one).store
            await store.pool.expire_connections()
            with pytest.raises(TruthUnavailable, match="an old primary"):
                await store.select("left_behind")
            fault = await journal_fault(one)
            assert fault is not None
            assert "take it out of service" in fault
            proxy.target_port = pair.standby.port
            await board.submit("ann", 1)
            await check_equals_journal(one)
            assert await sums(one) == {"ann": 2}

    asyncio.run(main())


def test_a_host_that_does_not_answer_is_passed_over(postgres: PostgresServer) -> None:
    """Its machine is gone, so nobody refuses the connection."""

    async def main() -> None:
        proxy = CuttingProxy(postgres.port)
        proxy.passing.clear()
        await proxy.start()
        try:
            url = f"postgresql://toprung@127.0.0.1:{proxy.port},127.0.0.1:{postgres.port}/postgres"
            store = await PostgresStore.connect(url)
            try:
                assert await store.find_fault() is None
            finally:
                await store.close()
        finally:
            await proxy.close()

    asyncio.run(main())
