"""From embedded to cluster: the copy answers like the original, and goes on like it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from tests.cluster.test_differential import BOARDS, History, answers, comparable, take
from tests.cluster.workbench import ClusterWorkbench
from tests.workbenches import EmbeddedWorkbench
from toprung.domain.access import AccessKey
from toprung.domain.commands import SetDocument, SetEntries
from toprung.domain.documents import Document, declare
from toprung.domain.player_numbers import PlayerNumber
from toprung.errors import Invalid
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.copying import CopyResult, copy_into_cluster
from toprung.profiles.embedded import EmbeddedProfile
from toprung.service.leaderboards import Leaderboards
from toprung.service.webhooks.messages import rendered
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

STEPS = 60
KEY = AccessKey("k1", "game", "studio", ("read", "write"), ("*",), b"digest", 7)


class Sides:
    """A file with a random history, and an empty cluster."""

    def __init__(self, file: Leaderboards, cluster: Leaderboards) -> None:
        self.file = file
        self.cluster = cluster
        source, target = file._maintenance, cluster._maintenance
        assert isinstance(source, EmbeddedProfile)
        assert isinstance(target, ClusterProfile)
        self.source, self.target = source, target


Make = Callable[..., AbstractAsyncContextManager[Sides]]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-11-15T12:30:00Z")


@pytest.fixture
def make(
    postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path, clock: FrozenClock
) -> Make:
    @asynccontextmanager
    async def opened(seed: int = 0) -> AsyncIterator[Sides]:
        file = (await EmbeddedWorkbench(tmp_path).open(clock)).boards
        cluster = (await ClusterWorkbench(postgres.url, redis_server.url).open(clock)).boards
        try:
            for board_id, rules in BOARDS.items():
                await file.create(board_id, **rules)
            await file.create("gone")
            await (await file.board("gone")).submit("ghost", 1)
            await file.delete("gone")
            await play(file, History(seed), clock, STEPS)
            yield Sides(file, cluster)
        finally:
            await file.close()
            await cluster.close()

    return opened


async def play(boards: Leaderboards, history: History, clock: FrozenClock, steps: int) -> None:
    for _ in range(steps):
        step = history.step(clock)
        if step[0] == "advance":
            clock.advance(seconds=step[1])
        else:
            await take(boards, step)


@pytest.mark.parametrize("seed", range(4))
def test_the_copy_answers_everything_alike(seed: int, make: Make, clock: FrozenClock) -> None:
    async def main() -> None:
        async with make(seed) as sides:
            await sides.source.keys.add(KEY)
            result = await copy_into_cluster(sides.source, sides.target)
            assert result == CopyResult(sides.source.journal.position, False, [])
            ours, theirs = [
                msgspec.to_builtins(await answers(boards)) for boards in (sides.file, sides.cluster)
            ]
            for name, answer in ours.items():  # ids of submissions and cursors included
                assert theirs[name] == answer, name
            assert await sides.target.keys.all() == [KEY]
            assert await sides.target.verify() == []

    asyncio.run(main())


class Squad(msgspec.Struct, frozen=True):
    """A document that names players."""

    members: tuple[PlayerNumber, ...]


declare("test-squad", Squad)


def test_documents_and_entries_that_were_set_are_copied(make: Make) -> None:
    """Players have other numbers in the cluster, in documents too."""

    async def main() -> None:
        async with make() as sides:
            board_id = next(iter(BOARDS))
            board = await sides.source.journal.board(board_id)
            set_entries = SetEntries(board.id, board.generation, "newcomer", {})
            version = await sides.source.journal.record(
                SetDocument("test-squad", "first", Squad((0, 3)))
            )
            assert isinstance(version, int)
            await sides.source.journal.record(SetDocument("test-squad", "gone", Squad(())))
            await sides.source.journal.record(SetDocument("test-squad", "gone", None))
            await sides.source.journal.record(set_entries)
            assert (await copy_into_cluster(sides.source, sides.target)).differences == []
            documents = await sides.target.journal.documents("test-squad")
            assert documents == {"first": Document(version, Squad((1, 4)))}
            assert await sides.target.verify() == []

    asyncio.run(main())


def test_snapshots_go_along(make: Make, clock: FrozenClock) -> None:
    async def main() -> None:
        async with make() as sides:
            board = await sides.file.create("past", history={"every": "hour"})
            await board.submit_many([(f"p{n}", n % 700) for n in range(5_000)])
            await sides.file.take_snapshots()
            clock.advance(hours=1)
            await board.submit_many([(f"p{n}", 900 + n) for n in range(0, 5_000, 7)])
            await sides.file.take_snapshots()
            await board.submit("p3", 10_000)
            assert (await copy_into_cluster(sides.source, sides.target)).differences == []
            copied = await sides.cluster.board("past")
            assert await copied.history("p3") == await board.history("p3")
            assert len((await copied.history("p3")).points) == 2
            found = await copied.standings(1_000, movement=True, names=False)
            assert found.standings == (await board.standings(1_000, movement=True)).standings
            clock.advance(hours=1)
            assert await sides.cluster.take_snapshots() == 1
            assert len((await copied.history("p3")).points) == 3

    asyncio.run(main())


def test_webhooks_go_on_where_they_are(make: Make) -> None:
    """With what waits for them, what they were told last, and other numbers of players."""

    async def follow(profile: EmbeddedProfile | ClusterProfile) -> None:
        lease = await profile.background.stores.leases.take("followers")
        assert lease is not None
        while await profile.background.following.step(lease):
            pass

    async def waiting(profile: EmbeddedProfile | ClusterProfile) -> list[tuple[str, bytes | None]]:
        found = await profile.background.stores.effects.listed("hook", None, 100)
        assert {each.state for each in found} <= {"waiting"}
        return [
            (each.effect.id, await rendered(each.effect, profile.journal))
            for each in reversed(found)
        ]

    async def main() -> None:
        async with make() as sides:
            board = await sides.file.create("race", windows=["all-time"])
            await board.submit("first", 1)
            await sides.source.webhooks.put("hook", "https://example.org/", ["*"], ["race"])
            await follow(sides.source)
            await board.submit("second", 2)
            await follow(sides.source)
            await sides.file.erase("first")
            kept = await waiting(sides.source)
            assert [b"second" in (body or b"") for _, body in kept] == [True]
            await board.submit("third", 3)  # which its follower has not seen yet
            assert (await copy_into_cluster(sides.source, sides.target)).differences == []
            assert await waiting(sides.target) == kept
            assert await sides.target.webhooks.list() == await sides.source.webhooks.list()
            for profile in (sides.source, sides.target):
                await follow(profile)
            theirs, ours = await waiting(sides.target), await waiting(sides.source)
            assert theirs[0] == ours[0] == kept[0]
            assert theirs[1][1] == ours[1][1], "told the same; each has told it once"
            assert [b"third" in (body or b"") for _, body in theirs] == [False, True]

    asyncio.run(main())


@pytest.mark.parametrize("table", ["documents", "events"])
def test_verify_names_a_document_that_is_not_what_its_event_says(table: str, make: Make) -> None:
    async def main() -> None:
        async with make() as sides:
            for journal in (sides.source.journal, sides.target.journal):
                await journal.record(SetDocument("test-squad", "first", Squad((1,))))
            where = {"documents": "kind = 'test-squad'", "events": "kind = 'document'"}[table]
            sides.source.store._writer.execute(f"DELETE FROM {table} WHERE {where}")
            async with sides.target.store.connection() as connection:
                await connection.execute(f"DELETE FROM {table} WHERE {where}")
            for profile in (sides.source, sides.target):
                (line,) = await profile.verify()
                assert (
                    line == "document 'first' of the kind 'test-squad' is not what its event says"
                )

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(2))
def test_both_go_on_alike(seed: int, make: Make, clock: FrozenClock) -> None:
    """Repeated keys are recognised, late submissions find their scopes, new names find numbers."""

    async def main() -> None:
        async with make(seed) as sides:
            await copy_into_cluster(sides.source, sides.target)
            history = History(seed + 100)
            for _ in range(STEPS):
                step = history.step(clock)
                if step[0] == "advance":
                    clock.advance(seconds=step[1])
                    continue
                ours, theirs = [await take(each, step) for each in (sides.file, sides.cluster)]
                assert comparable(theirs) == comparable(ours), step
            assert comparable(await answers(sides.cluster)) == comparable(await answers(sides.file))
            assert await sides.target.verify() == []

    asyncio.run(main())


def test_idempotency_keys_keep_their_owners(make: Make) -> None:
    """And those that were recorded before keys had owners are found by whoever repeats them."""

    async def main() -> None:
        async with make() as sides:
            file = await sides.file.create("keyed", policy="sum")
            await file.for_owner("studio").submit("alice", 5, key="once")
            await file.for_owner("studio").submit("alice", 5, key="unowned")
            sides.source.store._writer.execute(
                "UPDATE submissions SET key = 'unowned' WHERE key LIKE '%unowned'"
            )
            await copy_into_cluster(sides.source, sides.target)
            cluster = await sides.cluster.board("keyed")
            assert (await cluster.for_owner("studio").submit("alice", 5, key="once")).replayed
            assert (await cluster.for_owner("other").submit("alice", 5, key="unowned")).replayed
            assert not (await cluster.for_owner("other").submit("alice", 5, key="once")).replayed

    asyncio.run(main())


def test_running_it_again_only_compares(make: Make) -> None:
    async def main() -> None:
        async with make() as sides:
            first = await copy_into_cluster(sides.source, sides.target)
            again = await copy_into_cluster(sides.source, sides.target)
            assert again == CopyResult(first.last_position, True, [])
            await (await sides.cluster.board("best")).submit("newcomer", 5)
            later = await copy_into_cluster(sides.source, sides.target)
            assert later == CopyResult(first.last_position, True, [], is_compared=False)
            assert (await (await sides.cluster.board("best")).standing("newcomer")).score == 5

    asyncio.run(main())


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("stage", ["players", "board sum", "submissions"])
def test_an_interrupted_copy_leaves_nothing(stage: str, make: Make) -> None:
    def interrupt(doing: str, _done: int, _total: int) -> None:
        if doing == stage:
            raise StoppedError

    async def main() -> None:
        async with make() as sides:
            with pytest.raises(StoppedError):
                await copy_into_cluster(sides.source, sides.target, interrupt)
            assert await sides.cluster.list() == []
            assert await sides.cluster._journal.last_position() == 0
            result = await copy_into_cluster(sides.source, sides.target)
            assert (result.was_there, result.differences) == (False, [])

    asyncio.run(main())


def test_a_cluster_with_other_data_is_refused(make: Make) -> None:
    async def main() -> None:
        async with make() as sides:
            await sides.cluster.create("mine")
            with pytest.raises(Invalid, match="other data"):
                await copy_into_cluster(sides.source, sides.target)
            assert [board.id for board in await sides.cluster.list()] == ["mine"]

    asyncio.run(main())


def test_an_older_copy_is_refused(make: Make) -> None:
    async def main() -> None:
        async with make() as sides:
            await copy_into_cluster(sides.source, sides.target)
            await (await sides.file.board("best")).submit("newcomer", 5)
            with pytest.raises(Invalid, match="has gone on"):
                await copy_into_cluster(sides.source, sides.target)

    asyncio.run(main())


def test_differences_are_named(make: Make) -> None:
    async def main() -> None:
        async with make() as sides:
            await copy_into_cluster(sides.source, sides.target)
            async with sides.target.store.connection() as connection:
                await connection.execute(
                    "DELETE FROM cards WHERE player = (SELECT max(player) FROM cards)"
                )
                await connection.execute("UPDATE players SET name = 'changed' WHERE number = 1")
            found = (await copy_into_cluster(sides.source, sides.target)).differences
            assert any(line.startswith("ladder ") for line in found)
            assert any("profile differs" in line for line in found)

    asyncio.run(main())


def test_restrictions_and_revoked_submissions_go_along(make: Make, clock: FrozenClock) -> None:
    async def main() -> None:
        async with make() as sides:
            board = await sides.file.create("cup", scopes=["country"], policy="sum")
            sent = [(await board.submit("ann", score)).submission for score in (1, 20, 300)]
            await board.submit("bob", 5)
            await sides.file.revoke(sent[1], reason="replayed")
            until = "2026-12-01T00:00:00Z"
            await sides.file.restrict("ann", kind="shadow", reason="a bot", until=until)
            await board.submit("ann", 4000)
            result = await copy_into_cluster(sides.source, sides.target)
            assert result.differences == []
            copied = await sides.cluster.board("cup")
            assert [each.player for each in await copied.top()] == ["bob"]
            assert (await copied.standing("ann", viewer="ann")).score == 4301
            assert await sides.cluster.restriction("ann") == await sides.file.restriction("ann")
            told = await sides.cluster.revoke(sent[2], reason="replayed")
            assert {each.score for each in told.windows} == {4001}
            assert (await sides.cluster.revoke(sent[1], reason="again")).was_revoked
            clock.move_to(until)
            assert await sides.target.verify() == []
            await sides.cluster.lift("ann")
            assert [each.player for each in await copied.top()] == ["ann", "bob"]
            assert (await sides.cluster.restrictions()).restrictions == ()
            assert await sides.target.verify() == []

    asyncio.run(main())
