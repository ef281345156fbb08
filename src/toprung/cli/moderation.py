"""`toprung moderate`: restrict players, and revoke submissions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toprung.cli.options import CommandGroup, Count, PlayerId, Target, Yes, command, confirm
from toprung.cli.show import print_found, print_json, say
from toprung.cli.target import opened
from toprung.domain.standing import PlayerRestriction
from toprung.domain.values import whole_or_text

Reason = Annotated[
    str,
    typer.Option(metavar="TEXT", help="why; it is kept for good, and should name nobody"),
]
Kind = Annotated[str, typer.Option("--kind", metavar="KIND", help="hidden, shadow, or banned")]
Boards = Annotated[
    list[str] | None,
    typer.Option("--board", metavar="PATTERN", help="where it applies, such as eu-*; repeatable"),
]
Until = Annotated[
    str | None, typer.Option(metavar="TIME", help="when it ends by itself (RFC 3339)")
]
SubmissionId = Annotated[str, typer.Argument(metavar="SUBMISSION", help="a submission's id")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="only show what would change")]
After = Annotated[str, typer.Option(metavar="END", help="the end of the page before")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    moderate = typer.Typer(
        cls=CommandGroup,
        name="moderate",
        help="Restrict players and revoke submissions.",
        no_args_is_help=True,
    )
    command(moderate)(restrict)
    command(moderate)(lift)
    command(moderate)(show)
    command(moderate, "list")(list_restrictions)
    command(moderate)(revoke)
    app.add_typer(moderate)


def restrict(
    target: Target,
    player: PlayerId,
    kind: Kind,
    reason: Reason,
    board: Boards = None,
    until: Until = None,
) -> None:
    """Hide a player from others."""
    asked: Any = {"kind": kind, "reason": reason, "boards": board or ["*"], "until": until}
    with opened(target) as boards:
        _tell(target, boards.restrict(player, **asked))


def lift(target: Target, player: PlayerId) -> None:
    """Lift a player's restriction."""
    with opened(target) as boards:
        boards.lift(player)
    if not target.json:
        say(f"{player} is not restricted")


def show(target: Target, player: PlayerId) -> None:
    """Show a player's restriction."""
    with opened(target) as boards:
        _tell(target, boards.restriction(player))


def list_restrictions(target: Target, n: Count = 100, after: After = "") -> None:
    """List restricted players."""
    with opened(target) as boards:
        found = boards.restrictions(n, after)
    titles = "player kind boards at until reason"
    if print_found(found, found.restrictions, titles, as_json=target.json) and target.json:
        return
    if found.next is not None:
        say(f"more: --after {found.next}")


def revoke(
    target: Target,
    submission: SubmissionId,
    reason: Reason,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Take back a submission."""
    position: Any = whole_or_text(submission)
    with opened(target) as boards:
        told = boards.revoke(position, reason=reason, dry_run=True)
        if not dry_run and not told.was_revoked:
            confirm(f"revoke {told.score} of {told.player} on {told.board} for good?", yes)
            told = boards.revoke(position, reason=reason)
    titles = "window period score_before> score> rank_before> rank> total>"
    if print_found(told, told.windows, titles, as_json=target.json) and target.json:
        return
    if told.was_revoked:
        say(f"submission {told.submission} was revoked before: {told.reason}")
    for window, period in told.settled.items():
        say(f"{window}/{period} is settled and stays as it is")


def _tell(target: Any, found: PlayerRestriction) -> None:
    if target.json:
        print_json(found)
        return
    ends = "" if found.until is None else f" until {found.until.isoformat()}"
    say(f"{found.player}: {found.kind} on {', '.join(found.boards)}{ends}")
    say(f"since {found.at.isoformat()}: {found.reason}")
