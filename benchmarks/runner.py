"""One question asked in a process of its own, which leaves nothing behind whatever becomes of it.

The process leads a group to which the servers that it starts belong, and has a folder for all its
temporary files. When it ends, is killed, hangs or is interrupted, the group is ended and the folder
removed, so that the next question finds the memory and the disk that this one found.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import kept
from benchmarks.runs import Run

ROOT = Path(__file__).parents[1]
GRACE_SECONDS = 10.0


class QuestionError(Exception):
    """A benchmark that ended without a report; its own output explains why."""


def ask(run: Run, size: int, kept_in: Path) -> dict[str, Any]:
    """The report of one benchmark; what it prints is shown while it runs."""
    command = [sys.executable, "-m", f"benchmarks.{run.module}", "--json"]
    command += ["--rounds", str(run.rounds), "--size", str(size)]
    last = ""
    for line in lines_of(command, run.seconds_max, {kept.PLACE: str(kept_in)}):
        if line.startswith("{"):
            last = line
        else:
            print(line, end="", flush=True)
    if not last:
        raise QuestionError("it printed no report")
    try:
        report: dict[str, Any] = json.loads(last)
    except ValueError as error:
        raise QuestionError(f"its report is not JSON: {error}") from None
    return report


def lines_of(
    command: Sequence[str], seconds_max: float, environment: Mapping[str, str]
) -> Iterator[str]:
    """What a command prints, line by line; QuestionError when it fails or takes too long."""
    with folder_for_all() as folder:
        variables = {**os.environ, **environment, "TMPDIR": str(folder)}
        with (
            _leading_a_group(command, variables) as process,
            ThreadPoolExecutor(1) as threads,
        ):
            ended = threads.submit(_await_end, process, seconds_max)
            try:
                assert process.stdout is not None
                yield from process.stdout
            except BaseException:  # an interrupt, or nobody listens any more
                _end_group(process)
                raise
    if not ended.result():
        raise QuestionError(f"it was ended after {seconds_max:.0f} s")
    if process.returncode:
        raise QuestionError(f"it ended with {_described(process.returncode)}")


def _await_end(process: subprocess.Popen[str], seconds_max: float) -> bool:
    """Whether the process ended by itself in time.

    Whoever it left behind is ended, too: they may hold the pipe that its lines come through.
    """
    try:
        process.wait(seconds_max)
    except subprocess.TimeoutExpired:
        return False
    else:
        return True
    finally:
        _end_group(process)


@contextmanager
def folder_for_all(kind: str = "") -> Iterator[Path]:
    """A temporary folder that servers of other users can reach their own folders in."""
    prefix = f"toprung-bench-{kind}"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        yield Path(name)


@contextmanager
def _leading_a_group(
    command: Sequence[str], variables: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """A process that leads a group of its own."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=variables,
        start_new_session=True,
    ) as process:
        yield process


def _end_group(leader: subprocess.Popen[str]) -> None:
    """Ask every process of the group to end, and after a while do not ask."""
    deadline = time.monotonic() + GRACE_SECONDS
    try:
        os.killpg(leader.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            leader.poll()
            os.killpg(leader.pid, 0)
            time.sleep(0.05)
        os.killpg(leader.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # nobody is left


def _described(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    hint = " (out of memory, perhaps)" if -code == signal.SIGKILL else ""
    return f"{signal.Signals(-code).name}{hint}"
