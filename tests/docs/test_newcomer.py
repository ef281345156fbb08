"""A newcomer's path: a fresh clone, an empty environment, and what README.md says to type.

The clone is set up and built from nothing, which takes a minute of processor time and the network.
So this runs in CI and in `make soak`, and not whenever somebody tries a change.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.docs.blocks import ROOT, assert_answer, blocks, output, steps, type_curl

SECONDS_MAX = 900  # for setting up and everything after it, on a busy machine with a slow network
SET_UP_CASES = os.environ.get("CI") == "true" or "TOPRUNG_SOAK" in os.environ
# How this machine gets at packages, and which interpreter it was told to use: not the newcomer's.
KEPT = re.compile(r"PYTHON|PIP_\w+|SSL_CERT_\w+|(https?|no|all)_proxy", re.IGNORECASE)


class Newcomer(NamedTuple):
    """Somebody with a clone, a home and a folder to try things in; all are empty otherwise."""

    clone: Path
    home: Path
    tries: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def curl(self, command: str) -> str:
        return type_curl(command, self.home, os.environ["PATH"])

    @contextmanager
    def make(self, target: str, last_line: str) -> Iterator[list[str]]:
        """Run a target until it is interrupted; what it says, up to a line that begins so."""
        with subprocess.Popen(
            ["make", target, "ARGS=--port 0"],
            cwd=self.clone,
            env=package_access() | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # a terminal's: Ctrl-C goes to make and all that it runs
        ) as process:
            watchdog = threading.Timer(SECONDS_MAX, end, (process.pid,))
            watchdog.start()
            try:
                yield read_until(process, last_line)
                os.killpg(process.pid, signal.SIGINT)
                process.communicate()
                assert list(members(process.pid)) == []
            finally:
                watchdog.cancel()
                end(process.pid)


def package_access() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=False
    )
    return kept if asked.returncode else kept | {"PIP_CACHE_DIR": asked.stdout.strip()}


def read_until(process: subprocess.Popen[str], last_line: str) -> list[str]:
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        said.append(line.rstrip("\n"))
        if line.startswith(last_line):
            return said
    pytest.fail("make ended early:\n" + "\n".join(said))


def members(session: int) -> Iterator[int]:
    """Who runs in a session; builders put their compilers into groups of their own."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getsid(int(entry.name)) == session:
                yield int(entry.name)


def end(session: int) -> None:
    """Kill everything in a session, and what that may have started in the meantime."""
    killed: set[int] = set()
    while found := set(members(session)) - killed:
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        killed |= found


@pytest.fixture
def newcomer() -> Iterator[Newcomer]:
    with tempfile.TemporaryDirectory(prefix="toprung-newcomer-") as folder:
        someone = Newcomer(*(Path(folder) / name for name in Newcomer._fields))
        someone.home.mkdir()
        someone.tries.mkdir()
        if shutil.which("git") and (ROOT / ".git").exists():
            asked = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            output(["git", "clone", "-q", str(ROOT), str(someone.clone)], ROOT, asked)
        else:
            copy_project(ROOT, someone.clone)
        yield someone


def copy_project(source: Path, target: Path) -> None:
    """Copy what a clone would have: all but git's own and what `make` creates."""
    lines = (source / ".gitignore").read_text().splitlines()
    ignored = [line.rstrip("/") for line in lines if line]
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".git", *ignored))


@pytest.mark.slow
@pytest.mark.skipif(not SET_UP_CASES, reason="sets up a second clone: in CI and in make soak")
def test_what_the_readme_says_works_in_a_fresh_clone(newcomer: Newcomer) -> None:
    readme = blocks(newcomer.clone / "README.md", newcomer.clone)
    readme_text = (newcomer.clone / "README.md").read_text()
    typed = [step for block in readme if block.language == "console" for step in steps(block)]
    serve, *curls = typed
    assert serve.command == "make serve"
    shown = serve.expected.splitlines()
    written = address_in(shown[0])
    with newcomer.make("serve", shown[-1]) as said:
        address = address_in(said[-len(shown)])
        assert said[-len(shown) :] == [line.replace(written, address) for line in shown]
        for step in curls:
            assert step.command.startswith("curl ")
            assert_answer(step, newcomer.curl(step.command.replace(written, address)))
        (shown_command,) = re.findall(r"`(\.venv/bin/toprung [^`]+)`", readme_text)
        command = shown_command.replace(written, address).split()
        assert "bob" in output(command, newcomer.clone, newcomer.environment)

    program = next(number for number, block in enumerate(readme) if block.language == "python")
    python = [str(newcomer.clone / ".venv/bin/python"), "-c", readme[program].text]
    assert output(python, newcomer.tries, newcomer.environment) == readme[program + 1].text

    with newcomer.make("demo", "seed: ") as said:
        address = address_in(said[-2])
        boards = ask(newcomer, f"{address}/v1/boards")["boards"]
        assert boards
        for board in boards:
            page = ask(newcomer, f"{address}/v1/boards/{board['id']}/standings")
            assert page["standings"][0]["rank"] == 1

    if (newcomer.clone / ".git").exists():
        assert output(["git", "status", "--porcelain"], newcomer.clone, newcomer.environment) == ""


def address_in(line: str) -> str:
    found = re.search(r"http://[\d.:]+", line)
    assert found is not None, line
    return found[0]


def ask(newcomer: Newcomer, url: str) -> Any:
    return json.loads(newcomer.curl(f"curl '{url}'"))


def test_without_git_a_clone_is_what_git_would_have_cloned(tmp_path: Path) -> None:
    source = tmp_path / "unpacked"
    made = (".venv/bin/python", "build/log", "src/__pycache__/a.pyc", "src/a.so", "toprung.db-wal")
    kept = (".gitignore", "Makefile", "src/a.py", "scripts/setup")
    for name in (".git/HEAD", *made, *kept):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    shutil.copy(ROOT / ".gitignore", source)
    copy_project(source, tmp_path / "clone")
    copied = {p.relative_to(tmp_path / "clone") for p in (tmp_path / "clone").rglob("*")}
    assert {str(path) for path in copied} == {*kept, "src", "scripts"}
