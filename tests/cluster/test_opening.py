"""Opening a cluster: from a file, from the environment, with and without an event loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

import toprung
from tests.cluster.workbench import ClusterWorkbench
from tests.conftest import StartService
from toprung.domain.access import AccessKey
from toprung.errors import Invalid
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import session
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer


@pytest.fixture
def target(cluster_file: Path) -> str:
    return str(cluster_file)


def test_blocking_facade(target: str) -> None:
    with toprung.open(target) as boards:
        blitz = boards.create("blitz", windows=["all-time", "daily"])
        assert blitz.submit("alice", 1500).standings["daily"].rank == 1
        assert blitz.submit_many([("bob", 1700), ("carol", 1400)]).accepted == 2
        assert [standing.player for standing in blitz.top(3)] == ["bob", "alice", "carol"]
        assert boards.verify() == []
        with pytest.raises(toprung.ToprungError):
            boards.create("blitz")
    with toprung.open(target) as boards:
        assert boards["blitz"].standing("alice").rank == 2


def test_a_schema_that_does_not_exist_is_named(target: str, tmp_path: Path) -> None:
    text = Path(target).read_text()
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(text.replace('schema = "', 'schema = "no_'))
    with pytest.raises(Invalid, match="schema: does not exist in this database"):
        toprung.open(str(elsewhere))


def test_two_processes_see_each_other_and_hear_of_it(target: str) -> None:
    """Whoever submits reads its own write; the other sees it at once and hears of it in time."""

    async def main() -> None:
        async with toprung.open_async(target) as one, toprung.open_async(target) as other:
            blitz = await one.create("blitz")
            there = await other.board("blitz")
            assert other.feed is not None
            seen = await other.feed.changed(0)  # it listens
            for turn in range(1, 21):
                result = await blitz.submit(f"player-{turn}", turn)
                assert result.standings["all-time"].rank == 1
                assert (await there.standing(f"player-{turn}")).rank == 1
                async with asyncio.timeout(1):
                    while seen < result.submission:  # this very change, not just any
                        seen = await other.feed.changed(seen)
            await other.patch("blitz", title="Blitz")
            async with asyncio.timeout(1):
                while (await blitz.rules()).title != "Blitz":  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

    asyncio.run(main())


def test_two_services_see_each_other(target: str, start_service: StartService) -> None:
    """The same in two operating-system processes, over HTTP."""
    urls = [start_service("--db", target).url for _ in range(2)]
    with httpx2.Client(timeout=20) as http:
        assert http.put(f"{urls[0]}/v1/boards/blitz", json={}).status_code == 201
        for turn in range(1, 21):
            mine, other = urls[turn % 2], urls[1 - turn % 2]
            body = {"player": "alice", "score": turn}
            answer = http.post(f"{mine}/v1/boards/blitz/scores", json=body).json()
            assert answer["standings"]["all-time"]["rank"] == 1, answer
            for url in (mine, other):
                found = http.get(f"{url}/v1/boards/blitz/standings/alice").json()
                assert found["score"] == turn


def test_feed_on_a_cluster(postgres: PostgresServer, redis_cluster: RedisClusterServers) -> None:
    workbench = ClusterWorkbench(postgres.url, redis_cluster.url)
    with session(workbench, FrozenClock()) as opened:

        async def main() -> None:
            feed = opened.opened.maintenance.feed  # type: ignore[attr-defined]
            for number in range(4):  # boards on several nodes
                board = await opened.boards.create(f"board-{number}")
                seen = await feed.changed(0)
                news = asyncio.create_task(feed.changed(seen))
                await board.submit("alice", 1)
                await asyncio.wait_for(news, 1)

        opened.run(main())


def test_access_keys(postgres: PostgresServer, redis_server: RedisServer) -> None:
    with session(ClusterWorkbench(postgres.url, redis_server.url), FrozenClock()) as opened:
        keys = opened.opened.maintenance.keys  # type: ignore[attr-defined]
        key = AccessKey("abc", "eu", "studio", ("read", "write"), ("eu-*",), b"digest", 1)
        opened.run(keys.add(key))
        assert opened.run(keys.all()) == [key]
        opened.run(keys.note_uses({"abc": 7, "unknown": 8}))
        assert opened.run(keys.all())[0].last_used_at == 7
        assert opened.run(keys.remove("abc"))
        assert not opened.run(keys.remove("abc"))


def test_keys_without_owners_are_looked_for_until_all_have_expired(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """Two days they live, and for one more a process of the version before may have made some."""
    with session(ClusterWorkbench(postgres.url, redis_server.url), FrozenClock()) as opened:
        store = opened.opened.maintenance.store  # type: ignore[attr-defined]
        for ago, is_looked_for in (("0", True), ("71 hours", True), ("73 hours", False)):
            statement = f"UPDATE migrations SET applied_at = now() - '{ago}'::interval"
            opened.run(store.execute(statement))
            opened.run(store.migrate())
            assert store.has_unowned_keys is is_looked_for


def test_environment(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPRUNG_JOURNAL_URL", postgres.url)
    monkeypatch.setenv("TOPRUNG_INDEX_URL", "http://example.org")
    with pytest.raises(Invalid, match="index_url: must begin with one of redis://"):
        toprung.open("cluster:")
