"""`toprung names`: names of players that wait for a moderator."""

from __future__ import annotations

from typing import Annotated

import typer

from toprung.cli.options import CommandGroup, PlayerId, Target, command, whole
from toprung.cli.show import note, print_found, say
from toprung.cli.target import opened

Name = Annotated[str, typer.Argument(metavar="NAME", help="the name, as it was proposed")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    names = typer.Typer(
        cls=CommandGroup,
        name="names",
        help="List, accept and reject names that wait for review.",
        no_args_is_help=True,
    )
    command(names, "list")(list_names)
    command(names)(accept)
    command(names)(reject)
    app.add_typer(names)


def list_names(
    target: Target,
    n: Annotated[
        int, typer.Option("--count", "-n", metavar="N", parser=whole, help="how many to list")
    ] = 100,
    after: Annotated[str, typer.Option(metavar="PLAYER", help="list those after this player")] = "",
) -> None:
    """List names that wait for review, by player."""
    with opened(target) as boards:
        found = boards.name_reviews(after, n)
    if not print_found(found, found, "player name pending_name", as_json=target.json):
        note("no name waits for review")


def accept(target: Target, player: PlayerId, name: Name) -> None:
    """Accept a name: it is shown from now on."""
    with opened(target) as boards:
        boards.review_name(player, name, accept=True)
    say(f"{player} is now shown as {name}")


def reject(target: Target, player: PlayerId, name: Name) -> None:
    """Reject a name: the old one stays."""
    with opened(target) as boards:
        boards.review_name(player, name, accept=False)
    say(f"{player} keeps its name")
