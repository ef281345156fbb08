"""`toprung version`, and the command as such."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from toprung.cli import main


def test_version_names_what_a_bug_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    line = capsys.readouterr().out
    assert re.fullmatch(r"toprung \S+ \(Python 3\.\d+\.\S+, SQLite 3\.\d+\.\d+\)\n", line)
    assert metadata.version("toprung") in line


@pytest.mark.parametrize("arguments", [[], ["climb"], ["version", "--loud"]])
def test_a_wrong_call_shows_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: toprung" in capsys.readouterr().err


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert "serve" in shown
    assert "version" in shown
