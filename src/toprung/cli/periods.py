"""`toprung period`: close and settle periods without waiting, and amend settled ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from toprung.blocking import Leaderboard
from toprung.cli.options import BoardId, CommandGroup, Target, Yes, command, confirm
from toprung.cli.show import number, print_found, print_json, say
from toprung.cli.target import opened
from toprung.domain.standing import PeriodEnding
from toprung.errors import Invalid

WindowName = Annotated[str, typer.Argument(metavar="WINDOW", help="the name of a window")]
PeriodId = Annotated[str, typer.Argument(metavar="PERIOD", help="a period that has ended")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="change nothing; show what the period holds")
]

Reason = Annotated[
    str, typer.Option(metavar="TEXT", help="why; it is kept for good, and should name nobody")
]
Removed = Annotated[
    list[str] | None,
    typer.Option("--remove", metavar="PLAYER", help="take a player out; repeatable"),
]
Corrections = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PLAYER=SCORE", help="correct a score (=SCORE,SUBSCORE); repeatable"
    ),
]

_End = Callable[..., PeriodEnding]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    period = typer.Typer(
        cls=CommandGroup,
        name="period",
        help="Close, settle and amend periods.",
        no_args_is_help=True,
    )
    command(period)(close)
    command(period)(settle)
    command(period)(amend)
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


def amend(  # noqa: PLR0913, PLR0917 -- the command line
    target: Target,
    board: BoardId,
    window: WindowName,
    period: PeriodId,
    reason: Reason,
    remove: Removed = None,
    corrections: Corrections = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Take players out of a settled period, or correct scores."""
    asked: dict[str, Any] = {
        "reason": reason,
        "remove": remove or [],
        "set": [_correction(text) for text in corrections or ()],
    }
    with opened(target) as boards:
        found = boards.board(board)
        told = found.amend_period(window, period, **asked, dry_run=True)
        if not dry_run:
            confirm(f"amend {window}/{period}, where {number(len(told.moves))} players move?", yes)
            told = found.amend_period(window, period, **asked)
    titles = "player rank> score> previous_rank> previous_score>"
    if print_found(told, told.moves, titles, as_json=target.json) and target.json:
        return
    say(f"{number(told.players)} players, {number(told.entries)} entries on all ladders")
    say(f"digest {told.digest}")


def _correction(text: str) -> dict[str, str]:
    """A correction as it stands on the command line: PLAYER=SCORE or PLAYER=SCORE,SUBSCORE."""
    player, separator, scores = text.rpartition("=")
    if not separator:
        raise Invalid("set", f"must be PLAYER=SCORE or PLAYER=SCORE,SUBSCORE, not {text!r}")
    names = ("player", "score", "subscore")
    return dict(zip(names, (player, *scores.split(",", 1)), strict=False))


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
