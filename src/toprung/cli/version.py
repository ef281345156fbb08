"""`toprung version` and `--version`: what is installed, in one line that fits a bug report."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Annotated

import typer

from toprung.cli.options import command
from toprung.cli.show import print_json, say


def add_to(app: typer.Typer) -> None:
    """Add the command, and the option."""
    command(app)(version)
    app.callback()(_program)


def version(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Print the version of Toprung and what it runs on."""
    found = _versions()
    if json:
        print_json(found)
    else:
        _say(found)


def _versions() -> dict[str, str]:
    import apsw

    return {
        "toprung": metadata.version("toprung"),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
    }


def _say(found: dict[str, str]) -> None:
    say(f"toprung {found['toprung']} (Python {found['python']}, SQLite {found['sqlite']})")


def _tell_and_end(wanted: bool) -> None:
    if wanted:
        _say(_versions())
        raise typer.Exit


def _program(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_tell_and_end, help="print the version and exit"
        ),
    ] = False,
) -> None:
    """Real-time leaderboards."""
