"""A real service on a real socket, and boards that no other test uses."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.issuer import Issuer
from toprung.service.run_secrets import rotate

_numbers = itertools.count(1)


# Every test of `service` and of `target` runs on each of these.
PROFILES = os.environ.get("TOPRUNG_HTTP_PROFILES", "embedded,cluster").split(",")


class Targets:
    """Empty databases of one profile."""

    def __init__(self, profile: str, folder: Path, servers: tuple[str, str] | None) -> None:
        self.profile = profile
        self._folder = folder
        self._servers = servers
        self._secrets = folder / "secrets"
        rotate(self._secrets, 0)

    def fresh(self) -> str:
        """What `toprung.open` takes for a database that nobody else uses."""
        name = f"t{next(_numbers)}"
        if self._servers is None:
            return str(self._folder / f"{name}.db")
        journal_url, index_url = self._servers
        asyncio.run(_create_schema(journal_url, name))
        path = self._folder / f"{name}.toml"
        path.write_text(
            f'[cluster]\njournal_url = "{journal_url}"\nindex_url = "{index_url}"\n'
            f'schema = "{name}"\nprefix = "{name}:"\nrun_secrets = "{self._secrets}"\n'
            f'log_key = "{self._folder / name}.log-key"\n'
        )
        return str(path)


async def _create_schema(journal_url: str, name: str) -> None:
    connection = await asyncpg.connect(journal_url)
    try:
        await connection.execute(f"CREATE SCHEMA {name}")
    finally:
        await connection.close()


@pytest.fixture(scope="session", params=PROFILES)
def targets(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Targets]:
    """Databases on each profile: the same tests must pass."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "words").write_text("unseemly\n")
    servers: tuple[str, str] | None = None
    if request.param == "cluster":
        servers = (
            request.getfixturevalue("postgres").url,
            request.getfixturevalue("redis_server").url,
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPRUNG_NAME_WORDS", str(folder / "words"))
        yield Targets(request.param, folder, servers)


@pytest.fixture(scope="session")
def issuer() -> Issuer:
    """Somebody who issues players' tokens."""
    return Issuer()


@pytest.fixture(scope="session")
def service(targets: Targets) -> Iterator[RunningService]:
    """One service for many tests."""
    running = RunningService("--db", targets.fresh())
    running.profile = targets.profile
    yield running
    code, complaints = running.stop()
    assert (code, complaints) == (0, "")


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
