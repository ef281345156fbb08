"""Webhooks of a cluster know who leads, whatever happens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import toprung
from tests.cluster.workbench import ClusterWorkbench
from tests.webhooks.receivers import receiving
from tests.webhooks.test_leaders import BOARDS, LAYOUTS, NOON, World
from toprung.service.webhooks import follower, walk
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer


@pytest.mark.parametrize("seed", range(3))
def test_the_last_told_leader_is_the_present_one(
    seed: int, cluster_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "LADDERS_MAX", 1 + seed % 4)
    monkeypatch.setattr(walk, "LADDERS_AT_ONCE", 1 + seed % 3)
    clock = FrozenClock(NOON)

    async def main() -> None:
        async with (
            receiving() as receiver,
            toprung.open_async(str(cluster_file), clock=clock) as boards,
        ):
            boards.webhooks.allow_private_addresses()
            world = World(boards, receiver, clock, seed)
            for board_id in BOARDS:
                await boards.create(board_id, **LAYOUTS[0])
            for _ in range(20):
                await world.attempt()
            await boards.webhooks.put("x", receiver.url, ["leader.changed"], ["bl*", "rapid"])
            await world.settle()
            assert not receiver.requests, "who leads already is no news"
            world.known = await world.leaders()
            for _ in range(15):
                await world.round()
            assert world.messages > 0
            assert not (await boards.webhooks.deliveries("x", "dead")).deliveries

    asyncio.run(main())


def test_a_process_that_takes_over_knows_the_webhooks_that_others_have_put(
    cluster_file: Path,
) -> None:
    """Its book is a moment old, or is being read: nothing is given up or dropped by it."""
    clock = FrozenClock(NOON)

    async def main() -> None:
        async with (
            receiving() as receiver,
            toprung.open_async(str(cluster_file), clock=clock) as one,
            toprung.open_async(str(cluster_file), clock=clock) as other,
            toprung.open_async(str(cluster_file), clock=clock) as fresh,
        ):
            await other.status()  # it knows now that there is no webhook
            await one.webhooks.put("x", receiver.url, ["board.changed"])
            lease = await one.background._take("followers")
            assert lease is not None
            await one.create("blitz")
            await one.background.following.step(lease)
            before = await one.background.stores.followers.states()
            assert any(name.startswith("webhook:x") for name in before)
            await one.background.stop()
            book = fresh.webhooks._book
            found = await asyncio.gather(book.find("x"), book.find("x"), book.all())
            assert all(found)
            other.webhooks.allow_private_addresses()
            await other.background.settle()
            assert before.keys() <= (await other.background.stores.followers.states()).keys()
            assert [told["data"]["change"] for told in receiver.told] == ["created"]

    asyncio.run(main())


def test_an_erasure_is_announced_to_a_webhook_that_was_just_put_elsewhere(
    cluster_file: Path,
) -> None:
    clock = FrozenClock(NOON)

    async def main() -> None:
        async with (
            receiving() as receiver,
            toprung.open_async(str(cluster_file), clock=clock) as one,
            toprung.open_async(str(cluster_file), clock=clock) as other,
        ):
            await other.status()  # it knows now that there is no webhook
            await one.webhooks.put("x", receiver.url, ["player.erased"])
            await one.set_player("ann", name="Ann")
            await one.erase("ann")
            other.webhooks.allow_private_addresses()
            await other.background.settle()
            assert [told["data"]["player"] for told in receiver.told] == ["ann"]

    asyncio.run(main())


def test_a_webhook_that_waits_for_the_index_says_so(
    postgres: PostgresServer,
) -> None:
    own_redis = RedisServer()

    async def main() -> None:
        bench = ClusterWorkbench(postgres.url, own_redis.url)
        opened = await bench.open(clock)
        try:
            boards = opened.boards
            blitz = await boards.create("blitz", windows=["all-time"])
            await boards.webhooks.put("x", "http://127.0.0.1:9/", ["leader.changed"])
            await boards.background.settle()
            own_redis.kill()
            await blitz.submit_many([("ann", 1)])
            await boards.background.step()
            clock.advance(seconds=60)
            (found,) = [each for each in (await boards.status()).followers if "x" in each.name]
            assert found.state == "held"
            assert "index" in str(found.fault)
        finally:
            await opened.boards.close()

    clock = FrozenClock(NOON)
    try:
        asyncio.run(main())
    finally:
        own_redis.close()


def test_programs_without_an_event_loop_manage_them(cluster_file: Path) -> None:
    with toprung.open(str(cluster_file)) as boards:
        made = boards.webhooks.put("chat", "http://127.0.0.1:9/", ["*"])
        assert made.secret is not None
        assert [each.id for each in boards.webhooks.list()] == ["chat"]
        found = boards.webhooks.test("chat")
        assert (found.delivered, found.status) == (False, None)
        assert "private" in found.answer
        boards.webhooks.delete("chat")
