"""`toprung version`, and the command as such."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata

import pytest

from toprung.cli import main


def test_version_names_what_a_bug_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    line = capsys.readouterr().out
    assert re.fullmatch(r"toprung \S+ \(Python 3\.\d+\.\S+, SQLite 3\.\d+\.\d+\)\n", line)
    assert metadata.version("toprung") in line


@pytest.mark.parametrize("arguments", [[], ["climb"], ["version", "--loud"], ["keys"]])
def test_a_wrong_call_shows_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "Usage: toprung" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_the_commands(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    shown = capsys.readouterr().out
    assert "serve" in shown
    assert "version" in shown


def test_serving_waits_for_nothing_that_only_tables_need() -> None:
    program = (
        "import sys, toprung.cli.app;"
        "print([name for name in ('rich', 'starlette', 'uvicorn') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert found.stdout == "[]\n"
