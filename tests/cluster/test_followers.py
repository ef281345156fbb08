"""What followers read of a journal that several processes write, and of what the index shows."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.board import Board
from toprung.domain.commands import Submit
from toprung.domain.events import KINDS, Scored
from toprung.domain.submission import Submission
from toprung.ports import Selection
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.testing.servers import PostgresServer, RedisServer

SECONDS_MAX = 60.0
SEED = 15
PROCESSES = 3


@asynccontextmanager
async def processes(
    postgres: PostgresServer, redis: RedisServer, count: int
) -> AsyncIterator[tuple[list[ClusterProfile], Board]]:
    """Open processes of one cluster, with a board."""
    bench = ClusterWorkbench(postgres.url, redis.url)
    opened = [await bench.open(SystemClock()) for _ in range(count)]
    profiles = [each.maintenance for each in opened if isinstance(each.maintenance, ClusterProfile)]
    try:
        await opened[0].boards.create("sum", policy="sum")
        async with asyncio.timeout(SECONDS_MAX):
            yield profiles, await opened[0].journal.board("sum")
    finally:
        for each in opened:
            await each.boards.close()
        await bench.destroy()


class Reader:
    """Follows the journal as far as it can be read."""

    def __init__(self, profile: ClusterProfile, *, is_visible: bool) -> None:
        self._store = profile.background.stores.followers
        self._selection = Selection(tuple(KINDS.values()), is_visible=is_visible)
        self.position = 0
        self.seen: list[int] = []

    async def read(self, limit: int = 7) -> None:
        stretch = await self._store.read(self.position, limit, self._selection)
        self.position = stretch.until
        self.seen += [event.position for event in stretch.events]


async def submit(profile: ClusterProfile, board: Board, player: str, score: int) -> None:
    row = Submission(player, score, profile.clock.now())
    command = Submit(board.id, board.generation, [row], "test", receipts=False)
    await profile.journal.record(command)


async def dawdle(profile: ClusterProfile, rng: random.Random) -> None:
    """Draw positions, and use them or let them go when others have committed greater ones."""
    for _ in range(20):
        async with profile.store.pool.acquire() as connection:
            transaction = connection.transaction()
            await transaction.start()
            (position,) = await connection.fetchval("SELECT draw_positions(1)")
            await asyncio.sleep(rng.random() / 50)
            await connection.execute(
                "INSERT INTO events (position, recorded_at, kind, body)"
                " VALUES ($1, $2, 'board-deleted', '{\"board\":\"none\"}')",
                position,
                profile.clock.now(),
            )
            await (transaction.commit() if rng.random() < 0.7 else transaction.rollback())


def test_nothing_is_skipped_when_transactions_commit_out_of_order(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    rng = random.Random(SEED)

    async def write(profile: ClusterProfile, board: Board, number: int) -> None:
        for score in range(30):
            await submit(profile, board, f"p{number}-{score % 3}", score)

    async def main() -> None:
        async with processes(postgres, redis_server, PROCESSES) as (profiles, board):
            readers = [Reader(profiles[0], is_visible=each) for each in (False, True)]
            writing = asyncio.gather(
                *(write(each, board, number) for number, each in enumerate(profiles)),
                *(dawdle(each, rng) for each in profiles),
            )
            while not writing.done():
                for reader in readers:
                    await reader.read(rng.randrange(1, 20))
            await writing
            last, _ = await profiles[0].background.stores.followers.last()
            while min(reader.position for reader in readers) < last:
                for reader in readers:
                    await reader.read()
                await asyncio.sleep(0.01)
            rows = await profiles[0].store.pool.fetch("SELECT position FROM events ORDER BY 1")
            everything = [row[0] for row in rows]
            assert len(everything) > 30 * PROCESSES
            for reader in readers:
                assert reader.seen == everything

    asyncio.run(main())


async def execute(profile: ClusterProfile, text: str, *values: object) -> Any:
    return await profile.store.pool.fetchval(text, *values)


def test_only_what_the_index_shows_is_visible(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """Also with rows of processes of an older version, which do not say where theirs begin."""

    async def main() -> None:
        async with processes(postgres, redis_server, 1) as ((profile,), board):
            everything, visible = (Reader(profile, is_visible=each) for each in (False, True))
            await submit(profile, board, "ann", 1)
            await profile.catch_up.close()
            await profile.journal.finish()  # whose marks come a moment later
            last, _ = await profile.background.stores.followers.last()
            await visible.read(100)
            assert visible.position == last
            first = "SELECT first FROM outbox ORDER BY id DESC LIMIT 1"
            assert await execute(profile, first) == last

            # A batch of 3 rows that has not been applied, of which the first is not accepted.
            (one, two, three) = await execute(profile, "SELECT draw_positions(3)")
            for position, status in ((one, 0), (two, 1), (three, 1)):
                await execute(
                    profile,
                    "INSERT INTO events (position, recorded_at, generation, player, at, score,"
                    " route, status, kind) SELECT $1, recorded_at, generation, player, at, score,"
                    " route, $2, kind FROM events WHERE position = $3",
                    position,
                    status,
                    last,
                )
            await execute(
                profile,
                "INSERT INTO outbox (generation, version, first, players)"
                " VALUES ($1, $2, $3, '{}')",
                board.generation,
                three,
                two,
            )
            await visible.read(100)
            assert visible.position == one, "what changed nothing is not waited for"
            await everything.read(100)
            assert everything.position == three
            await execute(profile, "UPDATE outbox SET first = NULL WHERE marked_at IS NULL")
            again = Reader(profile, is_visible=True)
            await again.read(100)
            assert again.position == 0, "it may begin anywhere"
            again.position = three
            (four,) = await execute(profile, "SELECT draw_positions(1)")
            await again.read(100)
            assert again.position == four, "but it ends before this"
            await execute(profile, "UPDATE outbox SET marked_at = now()")
            await visible.read(100)
            assert visible.position == four

    asyncio.run(main())


def test_the_newest_are_found_by_the_server(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """Of a stretch with many submissions only those that are wanted leave the database."""

    async def main() -> None:
        async with processes(postgres, redis_server, 1) as ((profile,), board):
            rows = [Submission(f"p{n % 50}", n, profile.clock.now()) for n in range(2000)]
            command = Submit(board.id, board.generation, rows, "test", receipts=False)
            await profile.journal.record(command)
            store = profile.background.stores.followers
            stretch = await store.read(0, 10_000, Selection((Scored,), newest=3))
            assert [event.position for event in stretch.events] == [*range(1999, 2002)]
            assert stretch.until == 2001

    asyncio.run(main())
