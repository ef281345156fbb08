"""What `pip install "toprung[...]"` installs: a wheel, made from the source archive, that serves.

It is compiled and its dependencies are fetched, so this runs in CI and in `make soak` only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.conftest import RunningService
from tests.docs.blocks import ROOT, output
from tests.docs.test_newcomer import SET_UP_CASES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SET_UP_CASES, reason="compiles a package: in CI and in make soak"),
]
SECONDS_MAX = 600  # on a busy machine with a slow network

# What an optimised core answers is tested everywhere else, and a fresh clone compiles one.
QUICKLY = {
    "SKBUILD_CMAKE_BUILD_TYPE": "Debug",
    "SKBUILD_CMAKE_ARGS": "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
}
BUILD_ENVIRONMENT = os.environ | ({} if "TOPRUNG_SOAK" in os.environ else QUICKLY)
PIP = (sys.executable, "-m", "pip", "--python")

USE_IT = """
import sys
import toprung.client

with toprung.client.connect(sys.argv[1]) as boards:
    blitz = boards.create("blitz", windows=["all-time", "daily"])
    blitz.submit_many([("alice", 1500), ("bob", 1700)])
    print([(standing.rank, standing.player) for standing in blitz.top(2)])
"""


READ = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"


class Installed(RunningService):
    """The service as the installed program runs it."""

    def __init__(self, environment: Path, *arguments: str) -> None:
        self.program = (str(environment / "bin/toprung"),)
        super().__init__(*arguments)


def build(folder: Path) -> tuple[Path, Path]:
    """The source archive, and the wheel that was made from it."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (archive,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return archive, wheel


def install(wheel: Path, environment: Path) -> None:
    """Make an empty environment with the wheel in it."""
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    packages = ("--no-compile", f"{wheel}[client,cluster]")
    run(*PIP, str(environment / "bin/python"), "install", "-q", *packages)


def run(*command: str) -> None:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        cwd=ROOT,
        env=BUILD_ENVIRONMENT,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def test_a_wheel_from_the_source_archive_serves_in_an_empty_environment(tmp_path: Path) -> None:
    archive, wheel = build(tmp_path / "dist")
    check_archive(archive)
    install(wheel, tmp_path / "environment")
    check_program(tmp_path / "environment", tmp_path)


def check_archive(archive: Path) -> None:
    """It has what a build needs, and nothing that was made."""
    with tarfile.open(archive) as found:
        names = {name.partition("/")[2] for name in found.getnames()}
    assert names >= {"LICENSE", "README.md", "CMakeLists.txt", "native/module.cpp", "Makefile"}
    assert names >= {"src/toprung/py.typed", "src/toprung/web/index.html", "scripts/setup"}
    made = (".venv", "build/", "dist/", ".git/", "toprung.db")
    assert [name for name in names if name.startswith(made) or name.endswith(".so")] == []


def check_program(environment: Path, home: Path) -> None:
    """It has all it needs, and serves."""
    python = str(environment / "bin/python")
    plain = {"PATH": os.environ["PATH"], "HOME": str(home)}
    assert "No broken requirements" in output([*PIP, python, "check"], home, plain)
    said = output([str(environment / "bin/toprung"), "--version"], home, plain)
    assert said.startswith("toprung ")
    assert output([python, "-c", "import asyncpg, redis"], home, plain) == ""
    service = Installed(environment)
    try:
        told = output([python, "-c", USE_IT, service.url], home, plain)
        assert told == "[(1, 'bob'), (2, 'alice')]\n"
        assert "<title>" in output([python, "-c", READ, service.url], home, plain)
    finally:
        assert service.stop() == (0, "")
