"""The `toprung` command: one module per command group, joined in `app`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from toprung.cli.outcome import INTERRUPTED, drop_output, prepare_streams


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `outcome` says what the codes mean."""
    prepare_streams()
    try:
        from toprung.cli.app import app

        app(args=arguments, prog_name="toprung")
    except SystemExit as end:
        return _code(end)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _code(end: SystemExit) -> int:
    code = end.code if isinstance(end.code, int) else 0
    try:
        sys.stdout.flush()
    except OSError as error:
        given_up = drop_output(error)
        return code or given_up
    return code
