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
from toprung.cli.show import Column, filled, note, print_json, print_table
from toprung.cli.target import opened
from toprung.contract import PeriodsAnswer
from toprung.domain.player import GLOBAL
from toprung.http.wire import (
    activity_answer,
    distribution_answer,
    period_answer,
    submissions_answer,
)


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
    if target.json:
        print_json(submissions_answer(found))
        return
    columns = [Column("submission", True), Column("score", True), Column("subscore", True)]
    columns += [Column("at"), Column("status")]
    rows = [(s.submission, s.score, s.subscore, s.at, s.status) for s in found.submissions]
    print_table(*filled(columns, rows))
    if not rows:
        note(f"{player} has no submissions on {board}")
    if found.next is not None:
        note(f"there are older ones: --cursor {found.next}")


def activity(
    target: Target, board: BoardId, scope: Scope = GLOBAL, n: Count = 20, cursor: Cursor = None
) -> None:
    """List the newest submissions to a board."""
    with opened(target) as boards:
        found = boards.board(board).activity(n, scope, cursor)
    if target.json:
        print_json(activity_answer(found))
        return
    columns = [Column("submission", True), Column("player"), Column("name")]
    columns += [Column("score", True), Column("subscore", True), Column("at")]
    rows = [(s.submission, s.player, s.name, s.score, s.subscore, s.at) for s in found.submissions]
    print_table(*filled(columns, rows))
    if not rows:
        note(f"nothing has happened on {board} yet")
    if found.next is not None:
        note(f"there are older ones: --cursor {found.next}")


def periods(target: Target, board: BoardId, window: Window = None) -> None:
    """List the available periods of a window, newest first."""
    with opened(target) as boards:
        found = boards.board(board)
        name = window or found.rules().read_window
        listed = found.periods(name)
    if target.json:
        print_json(PeriodsAnswer(name, [period_answer(period) for period in listed]))
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
        print_json(distribution_answer(spread))
        return
    columns = [Column("from", True), Column("to", True), Column("players", True)]
    print_table(columns, [(bucket.low, bucket.high, bucket.count) for bucket in spread.buckets])
    if not spread.total:
        note("there are no entries")
