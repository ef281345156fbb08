"""`toprung period`: close and settle periods without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from toprung.blocking import Leaderboard
from toprung.cli.options import BoardId, CommandGroup, Target, Yes, command, confirm
from toprung.cli.show import number, print_json, say
from toprung.cli.target import opened
from toprung.domain.standing import PeriodEnding

WindowName = Annotated[str, typer.Argument(metavar="WINDOW", help="the name of a window")]
PeriodId = Annotated[str, typer.Argument(metavar="PERIOD", help="a period that has ended")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="change nothing; show what the period holds")
]

_End = Callable[..., PeriodEnding]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    period = typer.Typer(
        cls=CommandGroup,
        name="period",
        help="Close and settle periods without waiting.",
        no_args_is_help=True,
    )
    command(period)(close)
    command(period)(settle)
    app.add_typer(period)


def close(
    target: Target,
    board: BoardId,
    window: WindowName,
    period: PeriodId,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Close a period: no late score counts there any more."""
    _end(target, board, (window, period), lambda found: found.close_period, "close", dry_run, yes)


def settle(
    target: Target,
    board: BoardId,
    window: WindowName,
    period: PeriodId,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Settle a closed period: nothing changes there any more."""
    _end(target, board, (window, period), lambda found: found.settle_period, "settle", dry_run, yes)


def _end(
    target: Target,
    board_id: str,
    name: tuple[str, str],
    method: Callable[[Leaderboard], _End],
    what: str,
    dry_run: bool,
    yes: bool,
) -> None:
    with opened(target) as boards:
        end = method(boards.board(board_id))
        told = end(*name, dry_run=True)
        if not dry_run:
            confirm(f"{what} {'/'.join(name)} with {number(told.players)} players for good?", yes)
            told = end(*name)
    if target.json:
        print_json(told)
        return
    say(f"{told.window}/{told.period}: {told.state}")
    say(f"{number(told.players)} players, {number(told.entries)} entries on all ladders")
    say(f"digest {told.digest}")
