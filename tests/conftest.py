"""What all tests share: Hypothesis profiles with a printed seed, and a real service to talk to.

Profiles: `ci` (the default) and `soak`. Pick with --hypothesis-profile, set another seed with
--hypothesis-seed; the header of a run names both.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.archives.s3 import s3
from tests.servers import postgres, redis_cluster, redis_server, valkey_server

__all__ = ["postgres", "redis_cluster", "redis_server", "s3", "valkey_server"]

settings.register_profile("ci", deadline=None, print_blob=True, max_examples=50)
settings.register_profile(
    "soak",
    settings.get_profile("ci"),
    max_examples=5_000,
    stateful_step_count=200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")

WORKERS_MAX = 8  # each has servers of its own

# Shells have what runs in the background ignore interrupts; programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Hundreds of programs are started: none of them should have to compile every module once more.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config: pytest.Config) -> None:
    """Have all PostgreSQL servers of a run, in whichever worker or program, made from one."""
    if "TOPRUNG_POSTGRES_DATA" not in os.environ:  # workers inherit it
        folder = tempfile.TemporaryDirectory(prefix="toprung-pg-data-")
        config.add_cleanup(folder.cleanup)
        os.environ["TOPRUNG_POSTGRES_DATA"] = folder.name


def pytest_report_header(config: pytest.Config) -> str:
    profile = config.getoption("--hypothesis-profile") or "ci"
    seed = config.getoption("--hypothesis-seed")
    return f"toprung: --hypothesis-profile={profile} --hypothesis-seed={seed}"


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run; its workers have it in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many workers `-n auto` means: more than processors, because tests often wait."""
    return min(WORKERS_MAX, 3 * len(os.sched_getaffinity(0)) // 2)


class RunningService:
    """A `toprung serve` in a process and a folder of its own, on a port that nobody else has."""

    profile = "embedded"
    program: tuple[str, ...] = (sys.executable, "-m", "toprung")

    def __init__(self, *arguments: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="toprung-test-")
        self.process = subprocess.Popen(
            [*self.program, "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder.name,
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(3)]  # printed once it listens
        self.greeting = "".join(lines).rstrip("\n")
        found = re.search(r"http://\S+:(\d+)", lines[0])
        if found is None:
            self.process.kill()
            pytest.fail(f"toprung serve did not start: {self.process.communicate()[1]}")
        self.url = found[0]
        self.port = int(found[1])

    def stop(self) -> tuple[int, str]:
        """End it as a service manager would; its exit code and what it wrote to stderr."""
        self.process.terminate()
        try:
            _, complaints = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            pytest.fail("toprung serve did not stop within 20 seconds of SIGTERM")
        self.folder.cleanup()
        return self.process.returncode, complaints


StartService = Callable[..., RunningService]


@pytest.fixture
def start_service() -> Iterator[StartService]:
    """Start services with the given arguments; whatever still runs at the end is stopped."""
    started: list[RunningService] = []

    def start(*arguments: str) -> RunningService:
        started.append(RunningService(*arguments))
        return started[-1]

    yield start
    for service in started:
        if service.process.poll() is None:
            service.stop()
        service.folder.cleanup()
