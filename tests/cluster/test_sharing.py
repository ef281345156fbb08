"""Commands that a cluster records together fare as they would one after the other, in memory."""

from __future__ import annotations

import asyncio
import os

from hypothesis import HealthCheck, example, given, settings

from tests.cluster.workbench import ClusterWorkbench
from tests.profiles.test_sharing import COMMANDS, NOW, one_by_one, recorded, submissions
from toprung.domain.commands import Befriend, Bundle, Command, ErasePlayer, SetPlayer
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer


@settings(
    deadline=None,
    max_examples=20 if os.environ.get("TOPRUNG_SOAK") else 10,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(commands=COMMANDS)
@example(
    commands=[
        submissions("blitz", [("ann", 1, "\x1fk")]),
        ErasePlayer("ann"),
        submissions("blitz", [("bob", 1, "\x1fk")]),
    ]
)
@example(commands=[SetPlayer("ann"), Befriend("ann", "ann")])
@example(commands=[Bundle((submissions("blitz", [("ann", 1, "\x1fk"), ("bob", 1, "\x1fk")]),))])
def test_together_is_as_one_after_the_other(
    postgres: PostgresServer, redis_server: RedisServer, commands: list[Command]
) -> None:
    async def main() -> None:
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        try:
            opened = await workbench.open(FrozenClock(NOW))
            together = await recorded(opened, commands, together=True)
        finally:
            await workbench.destroy()
        assert together == await one_by_one(commands)

    asyncio.run(main())
