"""Asking before something is gone for good."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from toprung.cli.outcome import FAILED, misused
from toprung.cli.text import printable

Yes = Annotated[bool, typer.Option("--yes", help="do not ask for confirmation")]


def confirm(question: str, yes: bool) -> None:
    """Go on only if `yes` was given or the person at the terminal says so."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise misused("this cannot be undone; pass --yes to confirm")
    if not typer.confirm(printable(question), err=True):
        raise typer.Exit(FAILED)
