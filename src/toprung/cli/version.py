"""`toprung version`: what is installed, in one line that fits a bug report."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Annotated

import typer

from toprung.cli.options import command
from toprung.cli.show import print_json, say


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(version)


def version(
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Print the version of Toprung and what it runs on."""
    import apsw

    found = {
        "toprung": metadata.version("toprung"),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
    }
    if json:
        print_json(found)
    else:
        say(f"toprung {found['toprung']} (Python {found['python']}, SQLite {found['sqlite']})")
