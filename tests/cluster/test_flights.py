"""Two transactions of one process under way at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.commands import Submit
from toprung.domain.commands.befriend import Befriend
from toprung.domain.submission import Submission
from toprung.journals import postgres_submit
from toprung.journals.postgres_queue import CommandQueue
from toprung.journals.postgres_routes import BoardRoutes
from toprung.profiles.cluster import ClusterProfile
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer


def submit(*players: str) -> Submit:
    return Submit("blitz", 1, [Submission(player, 1, 1) for player in players])


def test_busy_players_wait_and_keep_their_order() -> None:
    async def main() -> None:
        queue = CommandQueue()
        commands = [
            submit("ann"),
            submit("bob"),
            submit("ann", "cat"),
            submit("cat"),
            submit("dan"),
        ]
        for command in commands:
            queue.put(command)
        taken = queue.take({"ann"})
        assert [r.command for r in taken] == [commands[1], commands[4]], "cat waits behind ann"
        assert queue.rows == 4
        assert [r.command for r in queue.take()] == [commands[0], commands[2], commands[3]]

    asyncio.run(main())


def test_other_commands_wait_for_those_under_way() -> None:
    async def main() -> None:
        queue = CommandQueue()
        queue.put(Befriend("ann", "bob"))
        queue.put(submit("cat"))
        assert queue.take({"dan"}) == []
        assert [type(r.command) for r in queue.take()] == [Befriend]

    asyncio.run(main())


def test_a_batch_counts_in_the_periods_of_its_own_moment(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One begins before midnight and is held up; another one begins and ends after it."""
    clock = FrozenClock("2026-11-17T23:59:59.990Z")
    held, may_go_on = asyncio.Event(), asyncio.Event()
    lock = postgres_submit.SubmitBatch._lock

    async def lock_late(batch: Any, connection: Any, each: Any) -> None:
        await lock(batch, connection, each)
        if any(card.player == "ann" for card in each.found):
            held.set()
            await may_go_on.wait()

    monkeypatch.setattr(postgres_submit.SubmitBatch, "_lock", lock_late)

    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis_server.url).open(clock)
        board = await opened.boards.create("blitz", windows=["daily"])
        before = asyncio.create_task(board.submit("ann", 10))
        await held.wait()
        clock.advance(seconds=0.015)
        after = await board.submit("bob", 20)
        assert after.standings["daily"].period == "2026-11-18"
        may_go_on.set()
        assert (await before).standings["daily"].period == "2026-11-17"
        assert (await board.submit("cat", 5)).standings["daily"].period == "2026-11-18"
        assert await opened.boards.verify() == []
        await opened.boards.close()

    asyncio.run(main())


def test_a_judgement_of_periods_survives_a_newer_one(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        opened = await ClusterWorkbench(postgres.url, redis_server.url).open(FrozenClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        await opened.boards.create("blitz", windows=["daily"])
        board = await opened.journal.board("blitz")
        await (await opened.boards.board("blitz")).submit("ann", 1)
        numbers = await profile.store.all_names(board.generation)
        periods = {number.to_bytes(4) for number in numbers[0]}
        routes = BoardRoutes(board, profile.store)
        later = profile.clock.now() + 3_600_000_000
        judged = await asyncio.gather(
            routes.dead_among(periods, profile.clock.now()), routes.dead_among(periods, later)
        )
        assert list(map(len, judged)) == [0, 0]
        await opened.boards.close()

    asyncio.run(main())
