"""What callers hear when a server behind the service is away: that it is, and not where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from websockets.sync.client import connect

from tests.conftest import RunningService
from tests.http.conftest import problem_of
from tests.servers import need_servers
from toprung.errors import (
    Closed,
    IndexUnavailable,
    Invalid,
    NotReady,
    OlderProcesses,
    Overloaded,
    StorageFailed,
    ToprungError,
    TruthUnavailable,
    Unavailable,
)
from toprung.http.problems import as_problem
from toprung.testing.servers import PostgresServer, RedisServer


class Cluster:
    """A service with servers of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.journal, self.index = PostgresServer(), RedisServer()
        stack.callback(self.journal.close)
        stack.callback(self.index.close)
        path = folder / "cluster.toml"
        path.write_text(
            f'[cluster]\njournal_url = "{self.journal.url}"\nindex_url = "{self.index.url}"\n'
        )
        self.service = RunningService("--db", str(path))
        self.http = stack.enter_context(httpx2.Client(base_url=self.service.url, timeout=60))
        self.http.put("/v1/boards/blitz", json={"windows": ["all-time"]}).raise_for_status()
        body = {"player": "ann", "score": 5}
        self.http.post("/v1/boards/blitz/scores", json=body).raise_for_status()

    def tells(self, text: str) -> bool:
        """Whether a text gives away where the servers are."""
        places = ("127.0.0.1", "localhost", str(self.journal.port), str(self.index.port))
        return any(place in text for place in (*places, "postgresql://", "redis://", "Errno"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    need_servers()
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def test_an_outage_is_told_without_addresses(cluster: Cluster) -> None:
    http = cluster.http
    cluster.index.kill()
    told = [problem_of(http.get("/v1/boards/blitz/standings/ann"), 503, "index-unavailable")]
    with connect(cluster.service.url.replace("http", "ws") + "/v1/live") as live:
        live.send(json.dumps({"subscribe": {"id": "a", "board": "blitz", "top": 1}}))
        heard = str(live.recv(timeout=20))
    cluster.journal.stop()
    asked = [http.get("/readyz"), http.get("/v1/players/ann")]
    assert [answer.status_code for answer in asked] == [503] * len(asked)
    told += [answer.json() for answer in asked]
    assert not [each for each in (*map(str, told), heard) if cluster.tells(each)]
    code, log = cluster.service.stop()
    assert code == 0
    assert "unavailable: the index " in log  # operators are told what was said
    assert "PostgreSQL does not respond: " in log


LOST = OSError("Connect call failed ('192.0.2.7', 5432)")


def raised(error: ToprungError, cause: BaseException | None) -> ToprungError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        TruthUnavailable(str(LOST)),
        IndexUnavailable(str(LOST)),
        OlderProcesses(f"processes of an older version: {LOST}"),
        raised(StorageFailed(f"PostgreSQL does not respond ({LOST})"), LOST),
        raised(StorageFailed(f"{LOST}; nothing was recorded"), TruthUnavailable(str(LOST))),
        raised(Unavailable(str(LOST)), raised(NotReady(), LOST)),
    ],
    ids=repr,
)
def test_what_servers_say_is_for_operators(error: ToprungError) -> None:
    told = as_problem(error)
    assert told.status == 503
    assert told.detail == type(error)().detail
    assert "192.0.2.7" in str(error)


@pytest.mark.parametrize(
    "error",
    [
        StorageFailed("the disk is full; nothing of this submission was recorded"),
        Unavailable("the service is stopping"),
        raised(Overloaded("too many wait"), Closed()),
        raised(Invalid("limit", "must be a number"), ValueError("x")),
    ],
    ids=repr,
)
def test_what_we_say_ourselves_is_for_everybody(error: ToprungError) -> None:
    assert as_problem(error).detail == str(error)
