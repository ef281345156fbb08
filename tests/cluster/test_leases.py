"""Leases and fencing with real processes' parts: who has no lease any more writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.effects import Attempt, Effect
from toprung.domain.jobs import JobRecord
from toprung.errors import LeaseLost, Unavailable
from toprung.ports import DerivedRow, FollowerState, Lease, Step
from toprung.profiles.cluster import ClusterProfile
from toprung.service import holding
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

NOON = "2026-11-15T12:30:00Z"
SECONDS_MAX = 30.0
TABLES = ("followers", "derived", "effects", "jobs", "outbox", "batches", "keys", "cards", "graves")


WAITING = (
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    " AND query LIKE '%INSERT INTO leases%'"
)
HELD = (
    "SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation"
    " WHERE relname = 'leases' AND mode = 'RowShareLock'"
)


class Cluster:
    """Two processes on one schema."""

    def __init__(self, bench: ClusterWorkbench, one: ClusterProfile, two: ClusterProfile) -> None:
        self.bench = bench
        self.one = one
        self.two = two

    async def sql(self, text: str, *values: object) -> list[Any]:
        return list(await self.one.store.pool.fetch(text, *values))

    async def end_lease(self, name: str) -> None:
        """Let so much time pass on the server that a lease has ended."""
        await self.sql("UPDATE leases SET ends_at = clock_timestamp() WHERE name = $1", name)


@pytest.fixture
def run(
    postgres: PostgresServer, redis_server: RedisServer
) -> Callable[[Callable[[Cluster], Coroutine[Any, Any, None]]], None]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Cluster]:
        bench = ClusterWorkbench(postgres.url, redis_server.url)
        both = [await bench.open(FrozenClock(NOON)) for _ in range(2)]
        profiles = [each.maintenance for each in both]
        assert all(isinstance(each, ClusterProfile) for each in profiles)
        try:
            yield Cluster(bench, *profiles)  # type: ignore[arg-type]
        finally:
            for each in both:
                await each.boards.close()
            await bench.destroy()

    def run(work: Callable[[Cluster], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            async with opened() as cluster, asyncio.timeout(SECONDS_MAX):
                await work(cluster)

        asyncio.run(main())

    return run


Run = Callable[[Callable[[Cluster], Coroutine[Any, Any, None]]], None]


async def taken(profile: ClusterProfile, name: str = "jobs") -> Lease:
    lease = await profile.leases.take(name)
    assert lease is not None
    return lease


# --- taking ---------------------------------------------------------------------------------------


def test_one_process_has_a_lease_and_tokens_grow_with_every_change_of_hands(run: Run) -> None:
    async def main(cluster: Cluster) -> None:
        one, two = cluster.one.leases, cluster.two.leases
        first = await taken(cluster.one)
        assert await one.take("jobs") == first
        assert await two.take("jobs") is None
        (held,) = await two.holdings()
        assert (held.name, held.holder) == ("jobs", cluster.one.time.name)
        assert held.seconds_left is not None
        assert 10 < held.seconds_left <= 15
        await two.release(first)  # it is not theirs
        assert await two.take("jobs") is None
        await one.release(first)
        assert await one.holdings() == []
        second = await taken(cluster.two)
        assert second.token > first.token
        await cluster.end_lease("jobs")
        third = await taken(cluster.two)
        assert third.token > second.token, "it had ended, so somebody else might have had it"
        await cluster.end_lease("jobs")
        fourth = await taken(cluster.one)
        assert fourth.token > third.token
        await cluster.sql("DELETE FROM leases")
        assert (await taken(cluster.two)).token > fourth.token, "whatever was forgotten meanwhile"

    run(main)


def test_many_ask_at_once_and_one_gets_it(run: Run) -> None:
    async def main(cluster: Cluster) -> None:
        tokens = []
        for _ in range(10):
            asked = await asyncio.gather(
                *(each.leases.take("jobs") for each in (cluster.one, cluster.two))
            )
            (lease,) = [each for each in asked if each is not None]
            tokens.append(lease.token)
            await cluster.end_lease("jobs")
        assert tokens == sorted(set(tokens))

    run(main)


def test_snapshots_that_take_longer_than_a_lease_renew_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(cluster: Cluster) -> None:
        profile, renewals = cluster.one, asyncio.Queue[None]()
        boards = Leaderboards(profile.parts)
        board = await boards.create("chess", history={"every": "day"})
        await board.submit("ada", 1)
        take, orders = profile.leases.take, profile.snapshots._reader.orders

        async def counted(name: str) -> Lease | None:
            renewals.put_nowait(None)
            return await take(name)

        async def slow(*args: Any) -> AsyncIterator[Any]:
            for _ in range(3):  # a first time, and two renewals
                await renewals.get()
            async for order in orders(*args):
                yield order

        monkeypatch.setattr(holding, "RENEW_SECONDS", 0.01)
        monkeypatch.setattr(profile.leases, "take", counted)
        monkeypatch.setattr(profile.snapshots._reader, "orders", slow)
        assert await boards.take_snapshots() == 1

    run(main)


def test_a_process_that_closes_lets_go(run: Run) -> None:
    async def main(cluster: Cluster) -> None:
        await taken(cluster.one)
        await cluster.one.close()
        await taken(cluster.two)

    run(main)


# --- fencing --------------------------------------------------------------------------------------


async def contents(cluster: Cluster) -> dict[str, list[Any]]:
    profile = cluster.two
    return {
        table: sorted(map(repr, await profile.store.pool.fetch(f"SELECT * FROM {table}")))
        for table in TABLES
    }


def writes(profile: ClusterProfile) -> dict[str, Callable[[Lease], Awaitable[object]]]:
    """Everything that is written under a lease, each with something to write."""
    stores = profile.background.stores
    effect = Effect("new", "suite", "a", "t", b"body")
    step = Step(position=9, rows=[DerivedRow("b", b"k", b"v")], effects=[effect])
    found: dict[str, Callable[[Lease], Awaitable[object]]] = {
        "commit": lambda lease: stores.followers.commit(lease, "suite", 5, step),
        "first commit": lambda lease: stores.followers.commit(lease, "other", None, step),
        "stop": lambda lease: stores.followers.stop(
            lease, "still", 5, FollowerState(5, b"", "why")
        ),
        "drop": lambda lease: stores.followers.drop(lease, "suite"),
        "settle": lambda lease: stores.effects.settle(lease, [Attempt(1, "delivered", 7)]),
        "prune": lambda lease: stores.effects.prune(lease, 2**60, 0),
        "note": lambda lease: stores.jobs.note(lease, "job", JobRecord(2)),
    }
    for job in profile.jobs:
        if job.name not in ("prune", "reconcile"):  # they write nothing but to the index
            found[f"job {job.name}"] = lambda lease, job=job: job.run(lease, 0)  # type: ignore[misc]
    return found


async def prepare(cluster: Cluster) -> None:
    """Something of everything that goes, or is changed, under a lease."""
    stores, lease = cluster.one.background.stores, await taken(cluster.one)
    effects = [Effect(f"e{number}", "suite", "a", "t", b"body") for number in range(2)]
    await stores.followers.commit(lease, "suite", None, Step(position=5, effects=effects))
    await stores.followers.commit(lease, "still", None, Step(position=5))
    await stores.effects.settle(lease, [Attempt(2, "dead", 7)])
    await stores.jobs.note(lease, "job", JobRecord(1))
    await cluster.sql("INSERT INTO graves VALUES (77)")
    await cluster.sql("INSERT INTO cards VALUES (77, 1, 1, '')")
    await cluster.sql("INSERT INTO batches VALUES (gen_random_uuid(), now() - interval '9 days')")
    await cluster.sql(
        "INSERT INTO keys SELECT each, '\\x01', NULL, 0, 0, 0, '', 1"
        " FROM unnest('{7, 77}'::int[]) AS each"
    )
    await cluster.sql(
        "INSERT INTO outbox (generation, version, players, erased, marked_at) VALUES"
        " (7, 1, '{}', '{}', now() - interval '1 day'),"
        " (7, 1, '{}', '{x}', now() - interval '1 day')"
    )
    await cluster.sql("DROP TABLE events_2027_01")
    await cluster.bench.pass_on_server("1 hour")
    for _ in range(4):
        await cluster.one.outbox.tell()
        await cluster.bench.pass_on_server("1 hour")


@pytest.mark.parametrize("how", ["ended", "taken over"])
def test_nothing_is_written_under_a_lease_that_is_gone(run: Run, how: str) -> None:
    async def main(cluster: Cluster) -> None:
        await prepare(cluster)
        lease = await taken(cluster.one)
        await cluster.end_lease("jobs")
        if how == "taken over":
            await taken(cluster.two)
        before = await contents(cluster)
        for name, write in writes(cluster.one).items():
            with pytest.raises(LeaseLost):
                await write(lease)
            assert await contents(cluster) == before, name
        partitions = "SELECT to_regclass('events_2027_01')"
        assert (await cluster.sql(partitions))[0][0] is None
        await cluster.end_lease("jobs")
        lease = await taken(cluster.one)
        assert (await cluster.one.background.stores.followers.states())["suite"].position == 5
        for write in writes(cluster.one).values():
            await write(lease)
        assert await contents(cluster) != before
        assert (await cluster.sql(partitions))[0][0] is not None
        assert await cluster.sql("SELECT FROM graves") == []
        assert (
            await cluster.sql("SELECT FROM batches WHERE written_at < now() - interval '1 day'")
            == []
        )

    run(main)


def test_a_lease_cannot_be_taken_while_something_is_written_under_it(run: Run) -> None:
    async def main(cluster: Cluster) -> None:
        lease = await taken(cluster.one)
        async with cluster.one.leases.fenced(lease) as connection:
            await connection.execute("INSERT INTO graves VALUES (1)")
            taking = asyncio.create_task(cluster.two.leases.take("jobs"))
            while not await cluster.sql(WAITING):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await taking is None
        assert len(await cluster.sql("SELECT FROM graves")) == 1

    run(main)


def test_a_process_that_halts_amid_a_write_is_cut_off(run: Run) -> None:
    """Nobody else could take its lease otherwise; what it had written is undone."""

    async def halt(cluster: Cluster, lease: Lease) -> None:
        async with cluster.one.leases.fenced(lease) as connection:
            await connection.execute("INSERT INTO graves VALUES (1)")
            # As `hold_lease` sets it, but it does not last as long.
            await connection.execute("SET LOCAL idle_in_transaction_session_timeout = '100ms'")
            while await cluster.two.store.pool.fetchval(HELD):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            await connection.execute("SELECT 1")

    async def main(cluster: Cluster) -> None:
        with pytest.raises(Unavailable):
            await halt(cluster, await taken(cluster.one))
        await cluster.sql("UPDATE leases SET ends_at = clock_timestamp()")
        await taken(cluster.two)
        assert await cluster.sql("SELECT FROM graves") == []

    run(main)


def test_the_limit_of_a_halt_is_set(run: Run) -> None:
    async def main(cluster: Cluster) -> None:
        async with cluster.one.leases.fenced(await taken(cluster.one)) as connection:
            text = "SELECT current_setting('idle_in_transaction_session_timeout')"
            assert await connection.fetchval(text) == "10s"
        assert await cluster.one.store.pool.fetchval(text) == "0"

    run(main)


def test_two_processes_share_duties(run: Run) -> None:
    """While one has them the other does nothing; when it is gone, the other goes on."""

    async def main(cluster: Cluster) -> None:
        for _ in range(3):
            await cluster.one.background.step()
            await cluster.two.background.step()
        records = await cluster.one.background.stores.jobs.records()
        assert {record.runs for record in records.values()} == {1}
        holders = {each.name: each.token for each in await cluster.one.leases.holdings()}
        assert holders.keys() == {"followers", "effects", "jobs"}
        await cluster.one.background.stop()
        await cluster.two.background.step()
        after = {each.name: each.token for each in await cluster.two.leases.holdings()}
        assert all(after[name] > token for name, token in holders.items())

    run(main)
