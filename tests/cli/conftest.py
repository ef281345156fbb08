"""Commands run in this process, on a file or on a running service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cluster.conftest import cluster_file
from tests.conftest import RunningService
from toprung.cli import main

__all__ = ["cluster_file"]


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document that was printed."""
        assert (self.code, self.err) == (0, ""), self
        return json.loads(self.out)


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("TOPRUNG_URL", "TOPRUNG_KEY"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Result:
        capsys.readouterr()
        code = main(arguments)
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def service() -> Iterator[RunningService]:
    """A service for tests that use boards of their own."""
    running = RunningService()
    yield running
    assert running.stop() == (0, "")


@pytest.fixture(params=["file", "service"])
def there(request: pytest.FixtureRequest, cli: Cli) -> Cli:
    """Run a command on a file, and on a service: what it says must be the same."""
    if request.param == "file":
        return cli
    url = request.getfixturevalue("service").url
    return lambda *arguments: cli(*arguments, "--url", url)
