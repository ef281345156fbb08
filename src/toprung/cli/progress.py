"""A progress bar on stderr, for people who watch; nothing at all for anybody else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Meter(Protocol):
    """What shows how far a long command is."""

    def show(self, done: int, rows: int) -> None:
        """So much of the whole is done, in so many rows."""
        ...


class _Nobody:
    def show(self, done: int, rows: int) -> None:
        """Nobody watches."""


class _Bar:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def show(self, done: int, rows: int) -> None:
        """Move the bar."""
        elapsed = self._progress.tasks[self._task].elapsed or 1e-9
        self._progress.update(
            self._task, completed=done, rows=f"{rows:,} rows", rate=f"{rows / elapsed:,.0f}/s"
        )


@contextmanager
def metered(what: str, total: int | None) -> Iterator[Meter]:
    """A meter while something long goes on; without a total it tells rows and rate only."""
    if not sys.stderr.isatty():
        yield _Nobody()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from toprung.cli.show import console

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rows]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console(sys.stderr),
        transient=True,
    )
    with progress:
        yield _Bar(progress, progress.add_task(what, total=total, rows="", rate=""))
