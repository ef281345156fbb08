"""`/readyz` of a cluster's service, with real servers that hang, refuse and lose what they knew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.cluster.workbench import ClusterWorkbench
from tests.http.conftest import problem_of
from tests.http.serving import Serving, serving
from toprung.domain.jobs import Every
from toprung.http import readiness
from toprung.http.settings import ServiceSettings
from toprung.profiles import cluster_jobs
from toprung.service import catchup
from toprung.testing.servers import PostgresServer, RedisServer

SECONDS_MAX = 30.0
BOARD = "/v1/boards/blitz"


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(catchup, "NOTICE_SECONDS", 0.0)


def settings_file(folder: Path, postgres: PostgresServer, redis: RedisServer) -> str:
    workbench = ClusterWorkbench(postgres.url, redis.url)
    asyncio.run(workbench.make())
    path = folder / "cluster.toml"
    path.write_text(
        f'[cluster]\njournal_url = "{postgres.url}"\nindex_url = "{redis.url}"\n'
        f'schema = "{workbench.settings.schema}"\nprefix = "{workbench.settings.prefix}"\n'
    )
    return str(path)


def begin(running: Serving) -> None:
    """A board and a score."""
    assert running.http.put(BOARD, json={}).status_code == 201
    assert running.http.post(f"{BOARD}/scores", json={"player": "ann", "score": 1}).is_success
    until(running, lambda found: found["status"] == "ready")


def until(running: Serving, holds: Callable[[Any], bool], query: str = "") -> Any:
    """Ask until the answer is as wanted, but not for ever."""
    deadline = time.monotonic() + SECONDS_MAX
    while not holds(found := running.http.get(f"/readyz{query}").json()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def status_of(running: Serving, part: str) -> int:
    return running.http.get(f"/readyz?for={part}").status_code


def test_redis_that_hangs(postgres: PostgresServer, own_redis: RedisServer, tmp_path: Path) -> None:
    target = settings_file(tmp_path, postgres, own_redis)
    with serving(ServiceSettings(), target=target) as running:
        begin(running)
        own_redis.pause()
        try:
            found = until(running, lambda found: found["checks"]["index"] != "ok")
            assert found["status"] == "degraded"
            assert "Redis does not respond" in found["checks"]["index"]
            assert str(own_redis.port) not in str(found)
            assert [status_of(running, part) for part in ("all", "reads", "writes")] == [
                503,
                503,
                200,
            ]
            sent = running.http.post(f"{BOARD}/scores", json={"player": "bob", "score": 2})
            assert sent.json()["stale"]
        finally:
            own_redis.resume()
        until(running, lambda found: found["status"] == "ready")


def test_redis_that_takes_no_writes_is_told_but_no_reason_to_go_elsewhere(
    postgres: PostgresServer, own_redis: RedisServer, tmp_path: Path
) -> None:
    target = settings_file(tmp_path, postgres, own_redis)
    with serving(ServiceSettings(), target=target) as running:
        begin(running)
        own_redis.ask("CONFIG", "SET", "maxmemory", "1")
        assert running.http.post(f"{BOARD}/scores", json={"player": "b", "score": 2}).is_success
        found = until(running, lambda found: found["status"] == "degraded")
        assert "takes no writes (OOM)" in found["checks"]["index-writes"]
        assert status_of(running, "all") == 200


def test_a_board_that_is_being_rebuilt(
    postgres: PostgresServer, own_redis: RedisServer, tmp_path: Path
) -> None:
    """Another process has begun to rebuild it, and takes its time."""
    target = settings_file(tmp_path, postgres, own_redis)
    with serving(ServiceSettings(), target=target) as running:
        begin(running)
        key = keys_of(own_redis, "*epoch")

        async def hold() -> None:
            connection = await asyncpg.connect(postgres.url)
            generation = int(key.split("{")[1].split(".")[0])
            await connection.execute(f"SELECT pg_advisory_lock(21617, {generation})")
            own_redis.ask("DEL", key)
            try:
                found = await asyncio.to_thread(
                    until, running, lambda found: found["checks"]["boards"] != "ok"
                )
                assert found["checks"]["boards"] == "1 of 1 boards are being rebuilt"
                assert status_of(running, "all") == status_of(running, "reads") == 503
                assert status_of(running, "writes") == 200
                problem_of(running.http.get(f"{BOARD}/standings"), 503, "not-ready")
            finally:
                await connection.close()

        asyncio.run(hold())
        until(running, lambda found: found["status"] == "ready")


def keys_of(server: RedisServer, pattern: str) -> str:
    """The only key that fits."""
    script = f"local found = redis.call('KEYS', '{pattern}') assert(#found == 1) return found[1]"
    return server.ask("EVAL", script, "0")


def test_postgresql_that_is_read_only_or_gone(
    own_postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    target = settings_file(tmp_path, own_postgres, redis_server)

    async def set_read_only(value: str) -> None:
        connection = await asyncpg.connect(own_postgres.url)
        await connection.execute("SET default_transaction_read_only = off")
        await connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.close()

    with serving(ServiceSettings(), target=target) as running:
        begin(running)
        asyncio.run(set_read_only("on"))
        found = until(running, lambda found: found["checks"]["journal"] != "ok")
        assert found["checks"]["journal"] == "PostgreSQL is read-only"
        assert found["status"] == "degraded"
        assert status_of(running, "reads") == 200
        for refused in (
            running.http.post(f"{BOARD}/scores", json={"player": "bob", "score": 2}),
            running.http.post("/v1/keys", json={"name": "key"}),
        ):
            detail = problem_of(refused, 503, "storage-failed")["detail"]
            assert "nothing of this was recorded" in detail  # the log says why
        asyncio.run(set_read_only("off"))
        until(running, lambda found: found["status"] == "ready")
        own_postgres.stop()
        found = until(running, lambda found: found["status"] == "not-ready")
        assert found["checks"]["journal"] == "PostgreSQL does not respond"
        own_postgres.start()
        until(running, lambda found: found["status"] == "ready")


def test_what_differs_is_repaired_by_itself(
    postgres: PostgresServer,
    own_redis: RedisServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_jobs.Reconcile, "schedule", Every(0.05))
    target = settings_file(tmp_path, postgres, own_redis)

    def repaired(running: Serving) -> float:
        name = 'toprung_reconciled_players_total{result="repaired"}'
        lines = running.http.get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(name))

    with serving(ServiceSettings(), target=target) as running:
        begin(running)
        assert repaired(running) == 0
        ladder = keys_of(own_redis, "*z:all-time/all/global")
        script = "return redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1)"
        assert own_redis.ask("EVAL", script, "1", ladder) == "1"
        deadline = time.monotonic() + SECONDS_MAX
        while not running.http.get(f"{BOARD}/standings/ann").is_success:
            assert time.monotonic() < deadline, "nobody has repaired it"
            time.sleep(0.05)
        while repaired(running) != 1:  # it is counted a moment later
            assert time.monotonic() < deadline, repaired(running)
            time.sleep(0.05)
