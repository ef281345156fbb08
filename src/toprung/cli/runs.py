"""`toprung runs`: start a run, and change the secret behind runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprung.cli.options import BoardId, CommandGroup, PlayerId, Target, command
from toprung.cli.show import print_json, say
from toprung.cli.target import opened
from toprung.domain.instant import instant_text
from toprung.errors import RunsUnavailable
from toprung.profiles.embedded import SystemClock
from toprung.service.run_secrets import rotate as add_secret


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    runs = typer.Typer(
        cls=CommandGroup,
        name="runs",
        help="Start runs, and change the secret behind them.",
        no_args_is_help=True,
    )
    command(runs)(start)
    command(runs)(rotate)
    app.add_typer(runs)


def start(target: Target, board: BoardId, player: PlayerId) -> None:
    """Start a run of a player: what its next score is signed with."""
    with opened(target) as boards:
        run = boards.board(board).run(player)
    if target.json:
        print_json(run)
    else:
        for name in ("run", "key", "expires"):
            say(f"{name:8} {getattr(run, name)}")


def rotate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="the file with the secrets of runs")],
) -> None:
    """Add a new secret to the file, or make the file."""
    try:
        secret, count = add_secret(Path(file), SystemClock().now())
    except OSError as error:
        raise RunsUnavailable(f"{file!r} cannot be written: {error.strerror}") from None
    say(f"a new secret is in force from {instant_text(secret.since)}; the file has {count}")
