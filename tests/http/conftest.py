"""A real service on a real socket, and boards that no other test uses."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import RunningService
from toprung.testing.servers import (
    PostgresServer,
    RedisServer,
    postgres_programs,
    redis_program,
)

_numbers = itertools.count(1)


# TOPRUNG_HTTP_PROFILES=embedded,cluster runs every test of `service` on both.
PROFILES = os.environ.get("TOPRUNG_HTTP_PROFILES", "embedded").split(",")


@pytest.fixture(scope="session", params=PROFILES)
def service(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[RunningService]:
    """The service on each profile: the same tests must pass."""
    with ExitStack() as servers:
        database = "served.db"
        if request.param == "cluster":
            database = str(tmp_path_factory.mktemp("cluster") / "cluster.toml")
            write_settings(database, servers)
        running = RunningService("--db", database)
        running.profile = request.param
        yield running
        code, complaints = running.stop()
        assert (code, complaints) == (0, "")


def write_settings(path: str, servers: ExitStack) -> None:
    """Start the servers of a cluster, and say in a file where they are."""
    if postgres_programs() is None or redis_program() is None:
        if os.environ.get("CI") == "true":
            pytest.fail("postgresql and redis-server must be installed")
        pytest.skip("not installed: postgresql or redis-server")
    journal, index = PostgresServer(), RedisServer()
    servers.callback(journal.close)
    servers.callback(index.close)
    text = f'[cluster]\njournal_url = "{journal.url}"\nindex_url = "{index.url}"\n'
    Path(path).write_text(text)


@pytest.fixture(scope="session")
def http(service: RunningService) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=service.url, timeout=20) as client:
        yield client


MakeBoard = Callable[..., str]


@pytest.fixture
def make_board(http: httpx2.Client) -> MakeBoard:
    """Create a board with a name of its own and the given rules."""

    def make(**rules: Any) -> str:
        board = f"board-{next(_numbers)}"
        answer = http.put(f"/v1/boards/{board}", json=rules)
        assert answer.status_code == 201, answer.text
        return board

    return make


@pytest.fixture
def board(make_board: MakeBoard) -> str:
    return make_board(windows=["all-time", "daily"])


@pytest.fixture
def player() -> str:
    """A player that no other test uses."""
    return f"player-{next(_numbers)}"


def problem_of(answer: httpx2.Response, status: int, slug: str) -> Any:
    """The problem document of an answer, which must have this status and type."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == f"/docs#{slug}"
    assert problem["status"] == status
    assert problem["request"] == answer.headers["x-request-id"]
    return problem


def pointers(problem: Any) -> list[str]:
    return [error["pointer"] for error in problem["errors"]]
