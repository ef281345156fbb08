"""How a command ends: exit codes, and one line for whatever went wrong.

Commands raise; this module alone turns errors into lines on stderr and exit codes. An error that
nobody foresaw is a mistake of ours and keeps its traceback.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import typer

from toprung.errors import Invalid, ToprungError

FAILED: Final = 1
"""It was refused or could not be done."""
MISUSED: Final = 2
"""The command line itself is wrong."""
PARTLY: Final = 3
"""Done, but for some rows, which were reported."""
INTERRUPTED: Final = 130
"""Stopped by Ctrl-C."""
UNREAD: Final = 141
"""Whoever read our output has gone, as `head` does."""

OPTION_NAMES: Final = {"limit": "count", "top": "count", "from_rank": "from"}
"""What commands call fields of the library for which they have other words."""

F = TypeVar("F", bound=Callable[..., Any])


def reported(function: F) -> F:
    """The command, with its errors told in one line and turned into exit codes."""

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            function(*arguments, **options)
            sys.stdout.flush()
        except Invalid as error:
            name = OPTION_NAMES.get(error.field, error.field)
            raise failed(str(type(error)(name, error.detail))) from None
        except ToprungError as error:
            raise failed(str(error)) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            is_unread = error.errno == errno.EPIPE
            raise typer.Exit(drop_output(error) if is_unread else _tell_os_error(error)) from None

    return run  # type: ignore[return-value]


def failed(message: str, code: int = FAILED) -> typer.Exit:
    """What to raise to end a command with a line on stderr."""
    from toprung.cli.text import printable

    print(f"toprung: {printable(message)}", file=sys.stderr)
    return typer.Exit(code)


def misused(message: str) -> typer.BadParameter:
    """What to raise when options contradict each other."""
    return typer.BadParameter(message)


def prepare_streams() -> None:
    """Make standard streams usable, however the caller has left them.

    What is closed (`>&-`) is opened, or a database would get the number of stdout.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Into a pipe goes UTF-8; what a terminal has no letter for is spelled out.
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def drop_output(error: OSError) -> int:
    """Give up on output that cannot be written because of `error`; the exit code for it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # what is still buffered goes there, without a word
    os.close(nowhere)
    return UNREAD if error.errno == errno.EPIPE else FAILED


def _tell_os_error(error: OSError) -> int:
    reason = error.strerror or str(error)
    where = f"{os.fsdecode(error.filename)!r}: " if error.filename else ""
    return failed(where + reason).exit_code
