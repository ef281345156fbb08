"""`toprung status`, `work` and `follower rebuild`: what runs in the background."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toprung.cli.options import CommandGroup, Target, command
from toprung.cli.outcome import FAILED
from toprung.cli.serve import LogLevel, WebhooksPrivate
from toprung.cli.show import Column, filled, note, print_json, print_table, say
from toprung.cli.target import opened
from toprung.config import is_cluster_target
from toprung.errors import Invalid

if TYPE_CHECKING:
    from toprung.domain.background import BackgroundStatus


@dataclass(frozen=True)
class WorkOptions:
    """Where background work is done."""

    db: Annotated[str, typer.Option(metavar="DB", help="a cluster's .toml file, or cluster:")] = (
        "cluster:"
    )
    webhooks_private: WebhooksPrivate = False
    log_level: LogLevel = "info"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app)(status)
    command(app)(work)
    follower = typer.Typer(
        cls=CommandGroup,
        name="follower",
        help="Rebuild what followers of the journal have derived.",
        no_args_is_help=True,
    )
    command(follower, "rebuild")(rebuild_follower)
    app.add_typer(follower)


def status(target: Target) -> None:
    """Show what runs in the background, and what needs attention."""
    with opened(target) as boards:
        found = boards.status()
    if target.json:
        print_json(found)
    else:
        _show(found)
    if found.faults:
        raise typer.Exit(FAILED)


def rebuild_follower(
    target: Target,
    follower: Annotated[
        str, typer.Argument(metavar="NAME", help="the follower's name, such as activity")
    ],
) -> None:
    """Have a follower start over from the beginning of the journal."""
    with opened(target) as boards:
        boards.rebuild_follower(follower)
    if target.json:
        print_json({"follower": follower, "rebuilding": True})
    else:
        say(f"{follower} starts over")


def work(options: WorkOptions) -> None:
    """Do the background work of a cluster until told to stop."""
    if not is_cluster_target(options.db):
        raise Invalid(
            "db",
            f"{options.db!r} is a file, and toprung serve does its background work;"
            " toprung work is for a cluster",
        )
    import uvloop

    from toprung.http.log import set_up_logging
    from toprung.http.server import raise_file_limit

    set_up_logging(options.log_level)
    raise_file_limit()
    uvloop.run(_work(options.db, webhooks_private=options.webhooks_private))


async def _work(target: str, *, webhooks_private: bool) -> None:
    from toprung.opening import open_async

    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with open_async(target) as boards:
        if webhooks_private:
            boards.webhooks.allow_private_addresses()
        background = boards.background
        background.start()
        print(f"working for {target} (Ctrl-C stops it)", flush=True)
        await told.wait()
        await background.stop()


def _show(found: BackgroundStatus) -> None:
    """Four tables, and what needs attention."""
    sections = (_followers(found), _effects(found), _jobs(found), _leases(found))
    is_first = True
    for columns, rows in sections:
        if rows:
            if not is_first:
                say("")
            print_table(*filled(columns, rows))
            is_first = False
    for fault in found.faults:
        note(f"attention: {fault}")


Row = tuple[str | int | None, ...]
Section = tuple[list[Column], list[Row]]


def _followers(found: BackgroundStatus) -> Section:
    columns = [Column("follower"), Column("state"), Column("position", True)]
    columns += [Column("lag", True), Column("lag time", True), Column("reason")]
    rows: list[Row] = [
        (each.name, each.state, each.position, each.lag_events, span(each.lag_seconds), each.fault)
        for each in found.followers
    ]
    return columns, rows


def _effects(found: BackgroundStatus) -> Section:
    columns = [Column("effects for"), Column("waiting", True), Column("dead", True)]
    columns += [Column("oldest", True)]
    rows: list[Row] = [
        (each.target, each.waiting, each.dead, span(each.oldest_seconds)) for each in found.effects
    ]
    return columns, rows


def _jobs(found: BackgroundStatus) -> Section:
    columns = [Column("job"), Column("state"), Column("runs", True), Column("last", True)]
    columns += [Column("took", True), Column("next", True), Column("failures", True)]
    columns += [Column("result")]
    rows: list[Row] = []
    for job in found.jobs:
        last = None if job.last_at is None else span((found.at - job.last_at).total_seconds())
        rows.append(
            (
                job.name,
                job.state,
                job.runs,
                None if last is None else f"{last} ago",
                None if last is None else span(job.last_seconds),
                _until((job.next_at - found.at).total_seconds()),
                job.failures or None,
                job.fault or job.result or None,
            )
        )
    return columns, rows


def _leases(found: BackgroundStatus) -> Section:
    columns = [Column("duty"), Column("process"), Column("token", True), Column("lease ends")]
    rows: list[Row] = [
        (
            each.duty,
            each.holder,
            each.token,
            "never" if each.left_seconds is None else f"in {span(each.left_seconds)}",
        )
        for each in found.leases
    ]
    return columns, rows


def span(seconds: float) -> str:
    """A time as people say it, rounded down: two units at most.

    >>> [span(seconds) for seconds in (0, 0.0123, 4.56, 75, 3600, 90_000, 900_000)]
    ['0 s', '12 ms', '4.5 s', '1 min 15 s', '1 h', '1 d 1 h', '10 d 10 h']
    """
    if seconds < 1:
        return f"{int(seconds * 1000)} ms" if seconds >= 0.001 else "0 s"
    if seconds < 60:
        return f"{int(seconds * 10) / 10:g} s"
    whole = int(seconds)
    for size, unit, smaller, word in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {word}" if rest else "")
    raise AssertionError("a minute or more")


def _until(seconds: float) -> str:
    if seconds >= 1:
        return f"in {span(seconds)}"
    return "now" if seconds > -1 else f"{span(-seconds)} late"
