"""The doctor's checks: a healthy cluster passes, each ailment is one line that says what to do."""

from __future__ import annotations

import asyncio

from toprung.config import ClusterSettings
from toprung.doctor import Check, examine
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer, free_port


def ailments(journal_url: str, index_url: str) -> dict[str, str]:
    settings = ClusterSettings(journal_url=journal_url, index_url=index_url)
    checks: list[Check] = asyncio.run(examine(settings))
    assert all("\n" not in check.line for check in checks)
    return {check.name: check.line for check in checks if not check.passed}


def test_healthy_but_for_fsync(
    postgres: PostgresServer, redis_server: RedisServer, redis_cluster: RedisClusterServers
) -> None:
    for url in (redis_server.url, redis_cluster.url):
        assert list(ailments(postgres.url, url)) == ["postgresql fsync"]


def test_eviction_and_mode(postgres: PostgresServer) -> None:
    server = RedisServer("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    try:
        found = ailments(postgres.url, server.url)
        assert "CONFIG SET maxmemory-policy noeviction" in found["redis eviction"]
    finally:
        server.close()


def test_cluster_reached_as_one_server(
    postgres: PostgresServer, redis_cluster: RedisClusterServers
) -> None:
    found = ailments(postgres.url, redis_cluster.url.replace("+cluster", ""))
    assert "redis+cluster://" in found["redis mode"]


def test_nobody_there() -> None:
    port = free_port()
    found = ailments(f"postgresql://toprung@127.0.0.1:{port}/x", f"redis://127.0.0.1:{port}")
    assert "check journal_url" in found["postgresql"]
    assert "check index_url" in found["redis"]
