"""`toprung history`: where a player stood over time."""

from __future__ import annotations

from typing import Annotated

import typer

from toprung.cli.options import BoardId, PlayerId, Scope, Target, Window, choice, command, whole
from toprung.cli.show import note, print_found
from toprung.cli.target import opened
from toprung.domain.history import KEPT
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import RANKINGS


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(history)


def history(
    target: Target,
    board: BoardId,
    player: PlayerId,
    window: Window = None,
    scope: Scope = GLOBAL,
    ranking: Annotated[
        str | None,
        choice(RANKINGS, "how ties are numbered: 1234, 1134 or 1123", show_default="the board's"),
    ] = None,
    n: Annotated[
        int,
        typer.Option(
            "--count", "-n", metavar="N", parser=whole, help="how many snapshots to look at"
        ),
    ] = KEPT,
) -> None:
    """Show where a player stood over time."""
    with opened(target) as boards:
        found = boards.board(board).history(
            player,
            window=window,
            scope=scope,
            ranking=ranking,  # type: ignore[arg-type]
            limit=n,
        )
    titles = "snapshot at period rank> total> score>"
    if not print_found(found, found.points, titles, as_json=target.json):
        note(f"no snapshot of {board} has {player}")
