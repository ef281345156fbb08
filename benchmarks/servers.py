"""Servers that benchmarks need: private, in a temporary directory, stopped by process id."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import hiredis
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from toprung.testing.servers import free_port

START_SECONDS_MAX = 300.0  # it may have much to load
ZADD_MEMBERS = 1000
OPTIONS = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no")


def missing(*programs: str) -> list[str]:
    """Which of the programs are not on the PATH."""
    return [program for program in programs if shutil.which(program) is None]


@contextmanager
def redis_server(folder: str | None = None) -> Iterator[redis.Redis]:
    """A client, over loopback TCP, of a Redis that writes nothing; the server ends with it.

    It starts with what was saved in `folder`, if anything was.
    """
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as own_folder:
        port = free_port()
        server = subprocess.Popen(
            ["redis-server", "--port", str(port), "--dir", folder or own_folder, *OPTIONS],
            stdout=subprocess.DEVNULL,
        )
        try:
            client = redis.Redis(port=port, retry=Retry(NoBackoff(), 0), socket_timeout=None)
            _await(client, server)
            yield client
            client.close()
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def port_of(client: redis.Redis) -> int:
    """The port that the client is connected to."""
    return int(client.connection_pool.connection_kwargs["port"])


def add_members(
    client: redis.Redis, key: str, entries: Iterable[tuple[bytes, tuple[int, int]]]
) -> None:
    """ZADD every player under its score, as the common recipe does."""
    rest = iter(entries)
    while chunk := list(islice(rest, ZADD_MEMBERS)):
        client.zadd(key, {player: score for player, (score, _) in chunk})


def describe(client: redis.Redis) -> str:
    """The server's version and how we reach it."""
    version = client.info("server")["redis_version"]
    clients = f"redis-py {redis.__version__}, hiredis {hiredis.__version__}"
    return f"{version} over loopback TCP ({clients})"


def bytes_per_member(client: redis.Redis, key: str) -> float:
    """MEMORY USAGE of a ZSET, looking at every member, over its members."""
    usage = client.memory_usage(key, samples=0)
    assert usage is not None
    return usage / client.zcard(key)


def _await(client: redis.Redis, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            client.ping()
        except redis.ConnectionError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
