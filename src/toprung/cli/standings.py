"""`toprung top`, `rank`, `around` and `find`: who is where."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from toprung.cli.options import BoardId, Count, PlayerId, StandingOptions, Target, command, whole
from toprung.cli.outcome import misused
from toprung.cli.show import (
    Cell,
    Column,
    filled,
    moment,
    number,
    percent,
    print_json,
    print_table,
    say,
)
from toprung.cli.target import opened
from toprung.domain.standing import Movement, Page, ShownMovement, Standing


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app)(top)
    command(app)(rank)
    command(app)(around)
    command(app)(find)


def top(
    target: Target,
    board: BoardId,
    read: StandingOptions,
    n: Count = 10,
    first: Annotated[
        int | None,
        typer.Option("--from", metavar="RANK", parser=whole, help="the place to start from"),
    ] = None,
) -> None:
    """Show the top of a board."""
    with opened(target) as boards:
        page = boards.board(board).standings(n, from_rank=first, **read.words())
    print_page(target, page, movement=read.movement)


def rank(target: Target, board: BoardId, player: PlayerId, read: StandingOptions) -> None:
    """Show a player's rank."""
    with opened(target) as boards:
        found = boards.board(board).standing(player, names=True, **read.words())
    if target.json:
        print_json(found, movement=read.movement)
        return
    name = f" ({found.name})" if found.name else ""
    say(f"{found.player}{name}: rank {number(found.rank)} of {number(found.total)}")
    beaten, best = percent(found.percentile), percent(found.top_percent, up=True)
    say(f"score {number(found.score)}{_subscore(found)}, better than {beaten} %, top {best} %")
    if read.movement:
        say(_moved(found.movement))
    say(ladder_words(found))


def around(
    target: Target,
    board: BoardId,
    read: StandingOptions,
    player: Annotated[str | None, typer.Argument(metavar="PLAYER", help="the player's id")] = None,
    score: Annotated[
        str | None, typer.Option(metavar="SCORE", help="a score instead of a player")
    ] = None,
    above: Annotated[
        int,
        typer.Option(metavar="N", parser=whole, help="how many places above to show, at most 100"),
    ] = 5,
    below: Annotated[
        int,
        typer.Option(metavar="N", parser=whole, help="how many places below to show, at most 100"),
    ] = 5,
) -> None:
    """Show the players around a player, or around a score."""
    if (player is None) == (score is None):
        raise misused("specify a player or --score")
    with opened(target) as boards:
        found = boards.board(board)
        if player is not None:
            page = found.around(player, above, below, **read.words())
        else:
            page = found.around_score(score, above, below, **read.words())
    print_page(target, page, player, movement=read.movement)


def find(
    target: Target,
    board: BoardId,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="the start of a name, or a player's id")
    ],
    read: StandingOptions,
    n: Annotated[
        int,
        typer.Option(
            "--count", "-n", metavar="N", parser=whole, help="how many to show, at most 50"
        ),
    ] = 10,
) -> None:
    """Find players on a board by name or id."""
    with opened(target) as boards:
        page = boards.board(board).find(text, n, **read.words())
    print_page(target, page, movement=read.movement)


def print_page(
    target: Target, page: Page, player: str | None = None, *, movement: bool = False
) -> None:
    """Print a list; the player's line is marked."""
    if target.json:
        print_json(page, movement=movement)
        return
    print_table(*standing_table(page.standings, player))
    if sys.stdout.isatty():
        say(f"{ladder_words(page)}: {number(page.total)} players")


def ladder_words(read: Page | Standing) -> str:
    """Which ladder was read, and the state of its period unless it is open."""
    words = [read.board, read.window, read.period, read.scope]
    return ", ".join(words if read.state == "open" else [*words, read.state])


def standing_table(
    standings: Sequence[Standing], player: str | None = None
) -> tuple[list[Column], list[list[Cell]]]:
    """Columns and rows of a list; those that no line fills are left out."""
    columns = [Column("rank", True), Column("player"), Column("name"), Column("score", True)]
    columns += [Column("subscore", True), Column("achieved"), Column("moved", True), Column("")]
    rows: list[list[Cell]] = [
        [
            *(s.rank, s.player, s.name, s.score, s.subscore, s.achieved_at),
            *(_step(s.movement), _arrow(s, player)),
        ]
        for s in standings
    ]
    return filled(columns, rows)


def _arrow(standing: Standing, player: str | None) -> str | None:
    return "<" if standing.player == player else None


def _step(movement: ShownMovement) -> str | None:
    """A movement as a cell.

    >>> from datetime import UTC, datetime
    >>> then = datetime(2026, 11, 15, tzinfo=UTC)
    >>> [_step(Movement(then, 7, delta)) for delta in (5, 0, -2)], _step("new"), _step(None)
    (['+5', '=', '-2'], 'new', None)
    """
    if not isinstance(movement, Movement):
        return movement
    return f"{movement.delta:+d}" if movement.delta else "="


def _moved(movement: ShownMovement) -> str:
    """A movement as a sentence."""
    if movement is None:
        return "there is no snapshot of this ladder"
    if not isinstance(movement, Movement):
        return "new since the newest snapshot"
    since = f"since {moment(movement.since)}"
    if not movement.delta:
        return f"rank unchanged {since}"
    return f"{'up' if movement.delta > 0 else 'down'} {number(abs(movement.delta))} {since}"


def _subscore(standing: Standing) -> str:
    return "" if standing.subscore is None else f" / {number(standing.subscore)}"
