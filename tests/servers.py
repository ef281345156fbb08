"""Real servers that tests share: one of each kind per worker, on private ports, started when asked.

A test that stops, pauses or empties a server starts one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

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
