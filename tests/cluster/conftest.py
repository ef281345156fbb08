"""Real servers for the cluster's tests, started once per run, on private ports."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.servers import (
    PostgresServer,
    RedisClusterServers,
    RedisServer,
    ServerError,
    postgres_programs,
    redis_program,
    valkey_program,
)


def need_servers() -> None:
    """Skip on a machine without the servers; fail where they must be."""
    missing = [
        name
        for name, found in (("postgresql", postgres_programs()), ("redis-server", redis_program()))
        if found is None
    ]
    if missing and os.environ.get("CI") == "true":
        raise ServerError(f"not installed: {missing}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture
def cluster_file(postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path) -> Path:
    """The settings of an empty cluster."""
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    asyncio.run(workbench.make())
    file = tmp_path / "cluster.toml"
    file.write_text(
        "[cluster]\n"
        f'journal_url = "{postgres.url}"\n'
        f'index_url = "{redis_server.url}"\n'
        f'schema = "{workbench.settings.schema}"\n'
        f'prefix = "{workbench.settings.prefix}"\n'
    )
    return file


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    need_servers()
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    need_servers()
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[RedisClusterServers]:
    need_servers()
    servers = RedisClusterServers()
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[RedisServer]:
    need_servers()
    server = RedisServer(program=valkey_program())
    yield server
    server.close()


INDEXES = ["redis_server", "redis_cluster"]
if valkey_program() is not None:
    INDEXES.append("valkey_server")


@pytest.fixture(params=INDEXES)
def index_url(request: pytest.FixtureRequest) -> str:
    """Each kind of index that the machine offers, in turn."""
    return str(request.getfixturevalue(request.param).url)
