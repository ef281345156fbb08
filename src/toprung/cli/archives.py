"""`toprung archive`: what is archived, whether it is whole, a copy of it, and whose it is."""

from __future__ import annotations

from typing import Annotated

import typer

from toprung.cli.options import BoardId, CommandGroup, Database, Target, command
from toprung.cli.outcome import FAILED
from toprung.cli.periods import PeriodId, WindowName
from toprung.cli.show import note, number, print_found, print_json, say
from toprung.cli.target import opened, opened_itself

OnlyWindow = Annotated[
    str | None, typer.Option("--window", metavar="WINDOW", help="only periods of this window")
]
File = Annotated[str, typer.Argument(metavar="FILE", help="a new Parquet file")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    archive = typer.Typer(
        cls=CommandGroup,
        name="archive",
        help="List, verify, export and adopt archives of settled periods.",
        no_args_is_help=True,
    )
    command(archive, name="list")(list_archives)
    command(archive)(verify)
    command(archive)(export)
    command(archive)(adopt)
    app.add_typer(archive)


def list_archives(target: Target, board: BoardId, window: OnlyWindow = None) -> None:
    """List the archives of a board, newest first."""
    with opened(target) as boards:
        found = boards.board(board).archives(window)
    titles = "window period players> entries> bytes> file"
    if not print_found({"archives": found}, found, titles, as_json=target.json):
        note("there are no archives")


def verify(target: Target, board: BoardId, window: OnlyWindow = None) -> None:
    """Check that the archives of a board are what was written."""
    with opened(target) as boards:
        of_board = boards.board(board)
        checks = [
            of_board.verify_archive(each.window, each.period) for each in of_board.archives(window)
        ]
    wrong = [each for each in checks if each.problem is not None]
    if target.json:
        print_json({"checked": len(checks), "problems": wrong})
    else:
        for each in wrong:
            say(f"{each.window}/{each.period}: {each.problem}")
        say(f"{number(len(checks))} archives, {number(len(wrong))} with problems")
    if wrong:
        raise typer.Exit(FAILED)


def export(
    target: Target, board: BoardId, window: WindowName, period: PeriodId, file: File
) -> None:
    """Copy the Parquet file of a period to a new file."""
    with opened(target) as boards:
        boards.board(board).export_archive(window, period, file)
    say(f"wrote {file}")


def adopt(target: Database) -> None:
    """Take over the archives of a database that this one replaces.

    A place for archives belongs to the first database that writes there; others are refused, for
    a copy would delete what the original needs. The place is the one that the database has:
    DB.archive, TOPRUNG_ARCHIVE_URL, or a cluster's archive_url.
    """
    with opened_itself(target) as boards:
        was_others = boards.adopt_archives()
    if target.json:
        print_json({"was_another": was_others})
    else:
        say("adopted the archives of another database" if was_others else "they are its own")
