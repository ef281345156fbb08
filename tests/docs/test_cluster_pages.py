"""The pages about clusters are true: servers are set up as one says, commands run there."""

from __future__ import annotations

import asyncio
import shlex
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

import toprung
from tests.conftest import StartService
from tests.docs.blocks import ROOT, assert_answer, blocks, steps
from tests.docs.test_pages import CLUSTER_PAGES, CONSOLE, run
from tests.servers import need_servers
from toprung.testing.servers import PostgresServer, RedisServer

_BLOCKS = [
    block
    for block in blocks(ROOT / "docs/how-to/cluster.md")
    if block.language in {"sql", "conf", "toml"}
]
SET_UP = {block.language: block.text for block in _BLOCKS}
assert len(SET_UP) == len(_BLOCKS), "one block of each language, or not all of them are tried"


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """A server on which the page's statements were run, by somebody who may."""
    need_servers()
    server = PostgresServer(fsync=True)
    try:
        asyncio.run(_run_statements(server))
        yield server
    finally:
        server.close()


async def _run_statements(server: PostgresServer) -> None:
    """The server's own first user has the name that the page gives away, and has to leave it."""
    first = await asyncpg.connect(server.url)
    await first.execute("CREATE ROLE operator SUPERUSER LOGIN")
    await first.close()
    operator = await asyncpg.connect(server.url, user="operator")
    await operator.execute("ALTER ROLE toprung RENAME TO first")
    for statement in SET_UP["sql"].splitlines():
        await operator.execute(statement)
    await operator.close()


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A server with the page's settings."""
    need_servers()
    options = []
    for line in SET_UP["conf"].splitlines():
        name, *values = shlex.split(line)
        options += [f"--{name}", *values]
    server = RedisServer(*options)
    yield server
    server.close()


@pytest.fixture
def folder(postgres: PostgresServer, redis: RedisServer, tmp_path: Path) -> Path:
    """Where an operator is: beside the page's cluster.toml and a file that has been in use.

    The page's servers are elsewhere and have certificates; here they have an address and a port.
    """
    theirs = "db.example.org/toprung?sslmode=verify-full", "rediss+cluster://cache.example.org:6379"
    ours = f"127.0.0.1:{postgres.port}/toprung", redis.url
    settings = SET_UP["toml"]
    for there, here in zip(theirs, ours, strict=True):
        assert there in settings
        settings = settings.replace(there, here)
    (tmp_path / "cluster.toml").write_text(settings)
    with toprung.open(tmp_path / "toprung.db") as boards:
        boards.create("blitz").submit("alice", 1500)
    return tmp_path


@pytest.mark.parametrize("page", CLUSTER_PAGES)
def test_console_examples_run(page: str, folder: Path, start_service: StartService) -> None:
    for step in [step for block in CONSOLE if block.page == page for step in steps(block)]:
        if step.command == "toprung serve --db cluster.toml":
            service = start_service("--db", str(folder / "cluster.toml"))
            with urllib.request.urlopen(f"{service.url}/readyz", timeout=30) as answer:
                assert answer.status == 200
            assert service.stop() == (0, "")
        else:
            assert_answer(step, run(step.command, None, folder))


def test_there_are_pages_about_clusters() -> None:
    assert {"docs/how-to/cluster.md", "docs/how-to/move-to-cluster.md"} <= set(CLUSTER_PAGES)
    assert SET_UP.keys() == {"sql", "conf", "toml"}
