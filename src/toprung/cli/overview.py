"""`toprung submissions`, `activity`, `periods`, `distribution`: a board besides its standings."""

from __future__ import annotations

from typing import Annotated

import typer

from toprung.cli.options import (
    BoardId,
    Count,
    Cursor,
    LadderFlags,
    PlayerId,
    Scope,
    Target,
    Window,
    command,
    whole,
)
from toprung.cli.show import Column, note, print_found, print_json, print_table
from toprung.cli.target import opened
from toprung.contract import PeriodsAnswer
from toprung.domain.player import GLOBAL
from toprung.domain.standing import Activity, PastSubmissions


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app)(submissions)
    command(app)(activity)
    command(app)(periods)
    command(app)(distribution)


def submissions(
    target: Target, board: BoardId, player: PlayerId, n: Count = 20, cursor: Cursor = None
) -> None:
    """List a player's submissions on a board, newest first."""
    with opened(target) as boards:
        found = boards.board(board).submissions(player, n, cursor)
    titles = "submission> score> subscore> at status"
    if not print_found(found, found.submissions, titles, as_json=target.json):
        note(f"{player} has no submissions on {board}")
    _note_next(target, found)


def activity(
    target: Target, board: BoardId, scope: Scope = GLOBAL, n: Count = 20, cursor: Cursor = None
) -> None:
    """List the newest submissions to a board."""
    with opened(target) as boards:
        found = boards.board(board).activity(n, scope, cursor)
    titles = "submission> player name score> subscore> at"
    if not print_found(found, found.submissions, titles, as_json=target.json):
        note(f"nothing has happened on {board} yet")
    _note_next(target, found)


def _note_next(target: Target, found: PastSubmissions | Activity) -> None:
    if not target.json and found.next is not None:
        note(f"there are older ones: --cursor {found.next}")


def periods(target: Target, board: BoardId, window: Window = None) -> None:
    """List the available periods of a window, newest first."""
    with opened(target) as boards:
        found = boards.board(board)
        name = window or found.rules().read_window
        listed = found.periods(name)
    if target.json:
        print_json(PeriodsAnswer(name, listed))
        return
    columns = [Column("period"), Column("state"), Column("opens"), Column("closes")]
    rows = [
        (p.period, p.state, p.opens_at or "always open", p.closes_at or "never") for p in listed
    ]
    print_table(columns, rows)


def distribution(
    target: Target,
    board: BoardId,
    read: LadderFlags,
    buckets: Annotated[
        int,
        typer.Option(metavar="N", parser=whole, help="how many ranges of scores, at most 200"),
    ] = 20,
) -> None:
    """Show the distribution of scores."""
    with opened(target) as boards:
        spread = boards.board(board).distribution(buckets, **read.words())
    if target.json:
        print_json(spread)
        return
    columns = [Column("from", True), Column("to", True), Column("players", True)]
    print_table(columns, [(bucket.low, bucket.high, bucket.count) for bucket in spread.buckets])
    if not spread.total:
        note("there are no entries")
