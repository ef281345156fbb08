"""Much that is removed at once goes in small transactions: leases cannot be renewed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.cluster.test_followers import processes
from toprung.domain.effects import Attempt, Effect
from toprung.journals import postgres_effects, postgres_followers
from toprung.journals.postgres_store import count_of
from toprung.ports import DerivedRow, Lease, Step
from toprung.service.background.runner import Stores
from toprung.testing.servers import PostgresServer, RedisServer

COUNT, AT_ONCE = 50, 4

Play = Callable[[Stores, Lease], Awaitable[None]]


async def drop_effects(stores: Stores, lease: Lease) -> None:
    await stores.effects.drop("a")
    assert await stores.effects.listed("a", None, 1) == []


async def prune(stores: Stores, lease: Lease) -> None:
    found = await stores.effects.listed("a", None, COUNT)
    await stores.effects.settle(lease, [Attempt(each.number, "delivered", 1) for each in found])
    rounds = 0
    while await stores.effects.prune(lease, 0, 3):
        rounds += 1
    assert rounds == 12
    assert [each.number for each in await stores.effects.listed("a", None, COUNT)] == [
        each.number for each in found[:3]
    ]


async def reset(stores: Stores, lease: Lease) -> None:
    await stores.followers.reset("suite")
    assert await stores.followers.sweep() == 0


async def drop(stores: Stores, lease: Lease) -> None:
    await stores.followers.drop(lease, "suite")
    assert await stores.followers.sweep() == 0


async def drop_board(stores: Stores, lease: Lease) -> None:
    await stores.followers.commit(lease, "suite", 0, Step(position=1, dropped=["blitz"]))
    assert await stores.followers.rows("suite", "blitz") == []


@pytest.mark.parametrize("play", [drop_effects, prune, reset, drop, drop_board])
def test_much_is_removed_in_small_transactions(
    play: Play,
    postgres: PostgresServer,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    removed: list[int] = []

    def counted(status: str) -> int:
        if status.startswith("DELETE"):
            removed.append(count_of(status))
        return count_of(status)

    for module in (postgres_effects, postgres_followers):
        monkeypatch.setattr(module, "count_of", counted)
        monkeypatch.setattr(module, "REMOVED_AT_ONCE", AT_ONCE)

    async def main() -> None:
        async with processes(postgres, redis_server, 1) as ((profile,), _):
            stores = profile.background.stores
            lease = await stores.leases.take("followers")
            assert lease is not None
            rows = [DerivedRow("blitz", b"%04d" % at, b"x") for at in range(COUNT)]
            effects = [Effect(f"e{at}", "suite", "a", "t", b"") for at in range(COUNT)]
            step = Step(position=0, rows=rows, effects=effects)
            await stores.followers.commit(lease, "suite", None, step)
            await play(stores, lease)

    asyncio.run(main())
    assert max(removed) == AT_ONCE
    assert sum(removed) >= COUNT - AT_ONCE
