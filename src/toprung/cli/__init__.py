"""The `toprung` command: one module per command group, joined here."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from toprung.cli import keys, serve, version
from toprung.errors import ToprungError

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUPS = (serve, keys, version)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 called wrongly."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except ToprungError as error:
        print(f"toprung: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="toprung", description="Real-time leaderboards.")
    commands = parser.add_subparsers(metavar="command", required=True)
    for group in _GROUPS:
        group.add_to(commands)
    return parser
