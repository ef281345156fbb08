"""The doctor's checks: a healthy cluster passes, each ailment is one line that says what to do."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import asyncpg
import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung import doctor
from toprung.config import ClusterSettings
from toprung.doctor import Check, examine
from toprung.errors import MissingExtra
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Opened
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer, free_port


def ailments(settings: ClusterSettings, clock: Callable[[], float] = time.time) -> dict[str, str]:
    checks: list[Check] = asyncio.run(examine(settings, clock))
    assert all("\n" not in check.line for check in checks)
    return {check.name: check.line for check in checks if not check.passed}


def at(journal_url: str, index_url: str, schema: str | None = None) -> ClusterSettings:
    return ClusterSettings(journal_url=journal_url, index_url=index_url, schema=schema)


@contextmanager
def misconfigured(*options: str) -> Iterator[RedisServer]:
    server = RedisServer(*options)
    try:
        yield server
    finally:
        server.close()


def sql(postgres: PostgresServer, *statements: str) -> None:
    async def main() -> None:
        connection = await asyncpg.connect(postgres.url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(main())


def test_healthy_but_for_fsync(postgres: PostgresServer, index_url: str) -> None:
    """The tests' own server is not for keeping anything."""
    assert list(ailments(at(postgres.url, index_url))) == ["postgresql fsync"]


@pytest.mark.parametrize("module", ["asyncpg", "redis.asyncio"])
def test_a_missing_extra_is_no_fault_of_the_servers(
    monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer, index_url: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"toprung\[cluster\]"):
        ailments(at(postgres.url, index_url))


def test_healthy(redis_server: RedisServer) -> None:
    postgres = PostgresServer(fsync=True)
    try:
        assert ailments(at(postgres.url, redis_server.url)) == {}
    finally:
        postgres.close()


def test_commits_that_do_not_wait_for_the_disk(redis_server: RedisServer) -> None:
    postgres = PostgresServer(fsync=True, options=("-c", "synchronous_commit=off"))
    try:
        found = ailments(at(postgres.url, redis_server.url))
        assert list(found) == ["postgresql synchronous_commit"]
        assert "turn it on" in found["postgresql synchronous_commit"]
    finally:
        postgres.close()


def test_old_servers(
    postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a version of Toprung would see them that needs newer ones."""
    monkeypatch.setattr(doctor, "POSTGRES_MIN", 99)
    monkeypatch.setattr(doctor, "REDIS_MIN", (99, 0))
    found = ailments(at(postgres.url, redis_server.url))
    assert "upgrade PostgreSQL to 99" in found["postgresql version"]
    assert "too old: upgrade to Redis" in found["redis version"]


def test_tables_of_a_newer_program(postgres: PostgresServer, redis_server: RedisServer) -> None:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)

    async def make() -> None:
        opened = await workbench.open(SystemClock())
        await opened.boards.close()

    asyncio.run(make())
    assert list(ailments(workbench.settings)) == ["postgresql fsync"]
    sql(postgres, f"INSERT INTO {workbench.settings.schema}.migrations VALUES (9999)")
    assert "upgrade toprung" in ailments(workbench.settings)["postgresql tables"]


def test_a_user_who_may_not_create_tables(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    sql(postgres, "CREATE ROLE guest LOGIN", "CREATE SCHEMA closed",
        "GRANT USAGE ON SCHEMA closed TO guest")  # fmt: skip
    guest = postgres.url.replace("toprung@", "guest@")
    found = ailments(at(guest, redis_server.url, "closed"))
    line = found["postgresql permissions"]
    assert "GRANT CREATE, USAGE ON SCHEMA closed TO guest" in line
    sql(postgres, line.partition(": ")[2])
    assert "postgresql permissions" not in ailments(at(guest, redis_server.url, "closed"))


def test_a_schema_that_is_missing(postgres: PostgresServer, redis_server: RedisServer) -> None:
    found = ailments(at(postgres.url, redis_server.url, "nowhere"))
    assert "CREATE SCHEMA" in found["postgresql permissions"]


def test_eviction(postgres: PostgresServer) -> None:
    with misconfigured("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as server:
        found = ailments(at(postgres.url, server.url))
        assert "CONFIG SET maxmemory-policy noeviction" in found["redis eviction"]
        server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        assert "redis eviction" not in ailments(at(postgres.url, server.url))


def test_scripts_that_are_forbidden(postgres: PostgresServer) -> None:
    with misconfigured("--rename-command", "EVALSHA", "") as server:
        found = ailments(at(postgres.url, server.url))
        assert "do not rename or forbid EVAL and EVALSHA" in found["redis scripts"]


@pytest.mark.parametrize("rights", ["~toprung:* +@all -eval -evalsha", "~other:* +@all"])
def test_a_user_who_may_not_run_scripts(
    postgres: PostgresServer, redis_server: RedisServer, rights: str
) -> None:
    redis_server.ask("ACL", "SETUSER", "guest", "reset", "on", ">secret", *rights.split())
    url = redis_server.url.replace("redis://", "redis://guest:secret@")
    line = ailments(at(postgres.url, url))["redis scripts"]
    command = line.partition("grant access: ")[2]
    assert command.startswith("ACL SETUSER guest ")
    assert "secret" not in line
    redis_server.ask(*command.split())
    assert "redis scripts" not in ailments(at(postgres.url, url))
    redis_server.ask("ACL", "DELUSER", "guest")


def test_cluster_reached_as_one_server(
    postgres: PostgresServer, redis_cluster: RedisClusterServers
) -> None:
    found = ailments(at(postgres.url, redis_cluster.url.replace("+cluster", "")))
    assert "redis+cluster://" in found["redis mode"]
    assert "redis scripts" not in found


def test_one_server_reached_as_a_cluster(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    found = ailments(at(postgres.url, redis_server.url.replace("redis:", "redis+cluster:")))
    assert "check index_url" in found["redis"]


def test_clocks_that_differ(postgres: PostgresServer, redis_server: RedisServer) -> None:
    found = ailments(at(postgres.url, redis_server.url), lambda: time.time() - 90)
    for name in ("postgresql clock", "redis clock"):
        assert "synchronise both with a time server" in found[name]


def test_clock_of_a_process_that_has_jumped(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)

    async def clock_jump() -> Check:
        return {check.name: check for check in await examine(workbench.settings)}["clock jump"]

    async def main() -> None:
        assert (await clock_jump()).line == "no process has reported its time yet"
        clock = FrozenClock("2026-11-15T12:30:00Z")
        one = await workbench.open(clock)
        assert (await clock_jump()).line == "none in 1 processes at work"
        for days, where in ((5, "ahead of"), (-5, "behind")):
            clock.jump(days=days)
            await tell(one)
            told = await clock_jump()
            assert not told.passed
            assert f"the clock is 432000 s {where} the expected time in " in told.line
            assert "check the machine's time" in told.line
            clock.jump(days=-days)
            await tell(one)
            assert (await clock_jump()).passed
        behind = FrozenClock("2026-11-13T12:30:00Z")
        other = await workbench.open(behind)
        for opened in (one, other):
            await tell(opened)
        told = await clock_jump()
        assert not told.passed
        assert " differ by 172800 s: check" in told.line
        await other.boards.close()
        for _ in range(2):  # the first time it hears that the other has ended
            await tell(one)
        assert (await clock_jump()).passed
        await one.boards.close()
        assert (await clock_jump()).line == "none in 0 processes at work"

    asyncio.run(main())


async def tell(opened: Opened) -> None:
    """Tell the database what the clock says, as happens once a minute."""
    assert isinstance(opened.maintenance, ClusterProfile)
    await opened.maintenance.time.tell()


def test_nobody_there() -> None:
    port = free_port()
    found = ailments(at(f"postgresql://toprung@127.0.0.1:{port}/x", f"redis://127.0.0.1:{port}"))
    assert "check journal_url" in found["postgresql"]
    assert "check index_url" in found["redis"]


def test_background_work_that_needs_attention(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    schema = workbench.settings.schema

    async def background() -> str:
        await workbench.make()
        profile = await ClusterProfile.open(workbench.settings, SystemClock())
        try:
            return {check.name: check.line for check in await examine(workbench.settings)}[
                "background"
            ]
        finally:
            await profile.close()

    assert "no process is doing followers and effects and jobs" in asyncio.run(background())
    sql(
        postgres,
        f"INSERT INTO {schema}.followers VALUES ('one', 5, '', 'event 6: KeyError')",
        f"INSERT INTO {schema}.followers VALUES ('two', 5, '', 'held: its queue is full')",
        f"INSERT INTO {schema}.jobs VALUES ('three', 0, 0, 0, 0.1, '', 3, 'no moon')",
    )
    found = ailments(workbench.settings)["background"]
    assert found.startswith("follower one has stopped: event 6: KeyError; job three fails: no moon")
    assert "two" not in found
    assert "no process" not in found, "nobody is at work at all"
