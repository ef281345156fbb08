"""Several processes on one database: one order per player, and readers that miss nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.board import Board
from toprung.domain.card import entry_record, split_card
from toprung.domain.commands import Submit
from toprung.domain.commands.card_rules import best
from toprung.domain.commands.submit import Receipts
from toprung.domain.entry import Entry, decide
from toprung.domain.submission import Submission
from toprung.errors import KeyReused
from toprung.journals.postgres_store import PostgresStore
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboards
from toprung.testing.contracts.workbench import Opened
from toprung.testing.servers import PostgresServer, RedisServer


@asynccontextmanager
async def processes(
    postgres: PostgresServer, redis_server: RedisServer, count: int
) -> AsyncIterator[list[Opened]]:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    opened = [await workbench.open(SystemClock()) for _ in range(count)]
    try:
        yield opened
    finally:
        for each in opened:
            await each.boards.close()


def test_one_order_per_player(postgres: PostgresServer, redis_server: RedisServer) -> None:
    """Players who have no row yet, submitted by three processes at once: every 1 counts."""

    async def main() -> None:
        async with processes(postgres, redis_server, 3) as opened:
            await opened[0].boards.create("sum", policy="sum")

            async def play(boards: Leaderboards, salt: int) -> None:
                board = await boards.board("sum")
                for turn in range(12):
                    rows = [(f"p{(n * salt) % 7}-{turn}", 1) for n in range(20)]
                    assert (await board.submit_many(rows)).accepted == 20

            await asyncio.gather(*(play(o.boards, n + 1) for n, o in enumerate(opened)))
            board = await opened[0].boards.board("sum")
            top = await board.top(1000)
            assert sum(standing.score for standing in top) == 3 * 12 * 20
            assert await opened[1].boards.verify() == []
            for standing in top[:10]:
                past = (await board.submissions(standing.player, 1000)).submissions
                assert len(past) == standing.score

    asyncio.run(main())


def test_one_key_in_two_processes(postgres: PostgresServer, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with processes(postgres, redis_server, 2) as opened:
            await opened[0].boards.create("sum", policy="sum")
            boards = [await o.boards.board("sum") for o in opened]
            for turn in range(10):
                results = await asyncio.gather(
                    *(board.submit("ann", 1, key=f"k{turn}") for board in boards * 3)
                )
                assert len({result.submission for result in results}) == 1
                assert sum(not result.replayed for result in results) == 1
            with pytest.raises(KeyReused):
                await boards[1].submit("ann", 2, key="k0")
            assert (await boards[0].standing("ann")).score == 10

    asyncio.run(main())


def test_a_late_commit_is_not_skipped(postgres: PostgresServer, redis_server: RedisServer) -> None:
    """A transaction that drew its position early and commits late holds readers back."""

    async def main() -> None:
        async with processes(postgres, redis_server, 1) as (opened,):
            board = await opened.boards.create("blitz")
            assert isinstance(opened.maintenance, ClusterProfile)
            before = await opened.journal.last_position()
            async with opened.maintenance.store.connection() as connection:
                transaction = connection.transaction()
                await transaction.start()
                late = await connection.fetchval("SELECT (draw_positions(1))[1]")
                result = await board.submit("ann", 1)
                assert result.submission > late
                assert await opened.journal.last_position() == before
                assert [e async for e in opened.journal.read(before)] == []
                await connection.execute(
                    "INSERT INTO events (position, recorded_at, kind, body) VALUES ($1, 0, $2, $3)",
                    late,
                    "unfriended",
                    '{"player":1,"other":2}',
                )
                await transaction.commit()
            found = [event.position async for event in opened.journal.read(before)]
            assert found == [late, result.submission]

    asyncio.run(main())


def test_reading_rules_of_another_process(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """A board recreated elsewhere refuses what was validated against the old one."""

    async def main() -> None:
        async with processes(postgres, redis_server, 2) as (one, other):
            await one.boards.create("blitz")
            old = await other.journal.board("blitz")
            await one.boards.delete("blitz")
            await one.boards.create("blitz")
            command = Submit("blitz", old.generation, [Submission("ann", 1, old.generation)])
            with pytest.raises(Exception, match="no board"):
                await other.journal.record(command)
            new = await one.journal.board("blitz")
            fresh = Submit("blitz", new.generation, [Submission("ann", 1, SystemClock().now())])
            assert isinstance(await other.journal.record(fresh), Receipts)

    asyncio.run(main())


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("subscore", [None, "asc", "desc"])
@pytest.mark.parametrize("tie_break", ["first", "last", "player"])
def test_records_compare_as_decide_does(order: str, subscore: str | None, tie_break: str) -> None:
    board = Board.parse("b", {"order": order, "subscore": subscore, "tie_break": tie_break})
    seconds = (None,) if subscore is None else (-1, 0, 1)
    entries = [
        Entry(score, second, at, 1) for score in (-1, 0, 1) for second in seconds for at in (5, 6)
    ]
    for old in entries:
        card = bytes(8) + board.shape.record(old)
        for new in entries:
            submission = Submission("p", new.score, new.achieved_at, new.subscore)
            (record,) = best(board, [card], submission, 2)
            expected = decide(board, old, submission, 2)
            found = old if record is None else board.shape.entry(record)
            assert found == expected
    card = bytes(8) + board.shape.record(entries[0])
    assert split_card(card, board.shape)[bytes(4)] == card
    assert entry_record(card) == board.shape.record(entries[0])


@asynccontextmanager
async def a_board(
    postgres: PostgresServer, redis_server: RedisServer
) -> AsyncIterator[tuple[Opened, PostgresStore]]:
    """One process with the board `blitz`, and the store that its journal asks."""
    async with processes(postgres, redis_server, 1) as [opened]:
        assert isinstance(opened.maintenance, ClusterProfile)
        await opened.boards.create("blitz")
        yield opened, opened.maintenance.store


def test_a_board_that_changes_while_it_is_read_is_not_remembered_as_it_was(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with a_board(postgres, redis_server) as (opened, store):
            is_read, may_go_on = asyncio.Event(), asyncio.Event()
            connection = store.connection

            @asynccontextmanager
            async def held() -> AsyncIterator[Any]:
                async with connection() as found:
                    yield found
                is_read.set()
                await may_go_on.wait()

            with monkeypatch.context() as patch:
                patch.setattr(store, "connection", held)
                reading = asyncio.create_task(opened.journal.board("blitz"))
                await is_read.wait()
            await opened.boards.patch("blitz", public=True)
            may_go_on.set()
            assert not (await reading).public  # it was asked for before
            assert (await opened.journal.board("blitz")).public

    asyncio.run(main())


def test_those_who_ask_for_a_board_at_once_wait_for_one_query(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with a_board(postgres, redis_server) as (opened, store):
            asked, connection = [], store.connection

            def counted(**options: bool) -> Any:
                if sys._getframe(1).f_code.co_name == "_read_board":  # others work in between
                    asked.append(1)
                return connection(**options)

            monkeypatch.setattr(store, "connection", counted)
            reading = [asyncio.create_task(opened.journal.board("blitz")) for _ in range(50)]
            await asyncio.sleep(0)
            reading.pop().cancel()  # the others are not concerned
            assert {board.id for board in await asyncio.gather(*reading)} == {"blitz"}
            assert len(asked) == 1

    asyncio.run(main())
