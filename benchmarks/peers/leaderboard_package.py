"""The `leaderboard` package from PyPI, in an environment of its own.

It has had no release for years and needs a redis-py older than 3, which cannot live beside ours:
`.venv-leaderboard` is made when it is first needed. Where that fails, the peer is left out.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import library, servers

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".venv-leaderboard"
REQUIREMENTS = ("leaderboard==3.7.3", "redis==2.10.6")
INSTALL_SECONDS_MAX = 120


class LeaderboardPackage:
    """The package in a process of its own, which measures its own calls."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def times(self, question: str, asked: Sequence[Any], seconds: float) -> list[float]:
        """Microseconds of each call."""
        taken: list[float] = self.ask("times", question, list(asked), seconds)
        return taken

    def ask(self, call: str, *arguments: Any) -> Any:
        """What the process answers to one of its calls."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([call, *arguments]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


@contextmanager
def opened(size: int) -> Iterator[LeaderboardPackage | None]:
    """The package on a filled Redis of its own; None where it cannot be installed."""
    if not is_installed():
        yield None
        return
    with (
        library.redis_ladders(size, 1) as (client, _),
        connected(servers.port_of(client)) as package,
    ):
        yield package


@contextmanager
def connected(port: int) -> Iterator[LeaderboardPackage]:
    """The package's process, connected to a Redis."""
    child = Path(__file__).with_name("leaderboard_child.py")
    with subprocess.Popen(
        [str(VENV / "bin" / "python"), str(child), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield LeaderboardPackage(process)
        assert process.stdin is not None
        process.stdin.close()


def is_installed() -> bool:
    """Whether its environment exists, or could be made."""
    with (Path(sys.prefix) / "leaderboard.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one makes it, the others wait
        return (VENV / "made").exists() or _is_made()


def _is_made() -> bool:
    print(f"  making {VENV.name}: {', '.join(REQUIREMENTS)}", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    bare = ("-m", "venv", "--without-pip", str(VENV))
    pip = ("-m", "pip", "--python", str(VENV / "bin" / "python"), "install", "-q", "--retries", "1")
    try:
        for arguments in (bare, (*pip, *REQUIREMENTS)):
            subprocess.run(
                [sys.executable, *arguments],
                check=True,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS_MAX,
            )
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stderr", None) or str(error)
        print(f"  SKIPPED: the leaderboard package cannot be installed: {said.strip()[-300:]}")
        return False
    (VENV / "made").touch()
    return True
