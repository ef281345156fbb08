"""The real program in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

Finished = subprocess.CompletedProcess[str]


def toprung(*arguments: str, stdin: str = "", **environment: str) -> Finished:
    """Run a command to its end; nothing of the caller's TOPRUNG_ variables reaches it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TOPRUNG_")}
    return subprocess.run(
        [sys.executable, "-m", "toprung", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=clean | environment,
    )


def done(*arguments: str, stdin: str = "", **environment: str) -> str:
    """What a command prints that succeeds without a complaint."""
    result = toprung(*arguments, stdin=stdin, **environment)
    assert (result.returncode, result.stderr) == (0, ""), result
    return result.stdout


def answered(*arguments: str, **environment: str) -> Any:
    """The JSON document that a command prints."""
    return json.loads(done(*arguments, "--json", **environment))
