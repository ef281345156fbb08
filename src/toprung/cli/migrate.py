"""`toprung migrate`: from one file to a cluster without losing a score."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from toprung.cli.options import command
from toprung.cli.outcome import FAILED, misused
from toprung.cli.progress import Meter, metered
from toprung.cli.show import note, number, print_json, say
from toprung.cli.target import is_missing_file
from toprung.config import cluster_settings, is_cluster_target
from toprung.errors import NotFound

if TYPE_CHECKING:
    from toprung.profiles.copying import CopyResult


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(migrate)


def migrate(
    source: Annotated[
        str, typer.Option("--from", metavar="FILE", help="the database file to copy")
    ],
    target: Annotated[
        str, typer.Option("--to", metavar="DB", help="a cluster's .toml file, or cluster:")
    ],
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Copy a database file into an empty cluster and compare both.

    The file is not changed. An interrupted copy leaves nothing behind; a finished one is
    recognised when the command is run again.
    """
    if is_cluster_target(source):
        raise misused("--from must be a database file")
    if not is_cluster_target(target):
        raise misused("--to must be a cluster: a .toml file with its settings, or cluster:")
    if is_missing_file(source):
        raise NotFound(f"there is no database {source!r}")
    with ExitStack() as stack:
        result = asyncio.run(_copy(source, target, _Stages(stack)))
    _tell(result, json=json)
    if result.differences:
        raise typer.Exit(FAILED)


async def _copy(source: str, target: str, stages: _Stages) -> CopyResult:
    from toprung.profiles.cluster import ClusterProfile
    from toprung.profiles.copying import copy_into_cluster
    from toprung.profiles.embedded import EmbeddedProfile, SystemClock

    clock = SystemClock()
    file = EmbeddedProfile(source, clock, "full")
    try:
        cluster = await ClusterProfile.open(cluster_settings(target), clock)
        try:
            return await copy_into_cluster(file, cluster, stages.show)
        finally:
            await cluster.close()
    finally:
        await file.close()


def _tell(result: CopyResult, *, json: bool) -> None:
    if json:
        print_json(result._asdict())
        return
    if result.was_there:
        say("already copied by an earlier run")
    else:
        say(f"copied {number(result.last_position)} events")
    for line in result.differences:
        note(line)
    if not result.differences:
        say("both sides are equal" if result.is_compared else "the cluster has changed since")


class _Stages:
    """A progress bar for each part of the work, one after the other."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._stage: str | None = None
        self._meter: Meter | None = None

    def show(self, stage: str, done: int, total: int) -> None:
        """So much of a stage is done."""
        if stage != self._stage or self._meter is None:
            self._stack.close()
            self._stage = stage
            self._meter = self._stack.enter_context(metered(stage, total))
        self._meter.show(done, done)
