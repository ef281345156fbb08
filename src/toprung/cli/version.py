"""`toprung version`: what is installed, in one line that fits a bug report."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("version", help="print the version of Toprung and what it runs on")
    parser.set_defaults(run=_run)


def _run(_options: argparse.Namespace) -> None:
    print(
        f"toprung {metadata.version('toprung')}"
        f" (Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()})"
    )
