"""`toprung submit` and `remove`: one score and what it led to, and no more scores of a player."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from toprung.cli.options import BoardId, PlayerId, Target, Yes, command, confirm
from toprung.cli.outcome import misused
from toprung.cli.show import Column, note, print_json, print_table, say
from toprung.cli.target import opened


def add_to(app: typer.Typer) -> None:
    """Add the commands; a score may be negative, which must not look like an option."""
    command(app, context_settings={"ignore_unknown_options": True})(submit)
    command(app)(remove)


def submit(
    target: Target,
    board: BoardId,
    player: PlayerId,
    score: Annotated[str, typer.Argument(metavar="SCORE", help="the score")],
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="when the score was achieved, such as 2026-11-15T12:30:00Z",
            show_default="now",
        ),
    ] = None,
    subscore: Annotated[
        str | None,
        typer.Option(metavar="SCORE", help="a second number that breaks ties between equal scores"),
    ] = None,
    details: Annotated[
        str | None, typer.Option(metavar="JSON", help="JSON to store with the score, up to 1 KiB")
    ] = None,
    submission_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="an idempotency key; a submission repeated with it counts once"
        ),
    ] = None,
) -> None:
    """Submit a score."""
    with opened(target) as boards:
        result = boards.board(board).submit(
            player,
            score,
            at=at,
            subscore=subscore,
            details=_json(details),
            key=submission_key,
        )
    if target.json:
        print_json(result)
        return
    repeat = " (sent before)" if result.replayed else ""
    reasons = f": {', '.join(result.reasons)}" if result.reasons else ""
    say(f"{result.status}{repeat}{reasons}")
    if result.status == "pending":
        note("it counts once it has been accepted; toprung review list shows what waits")
        return
    columns = [
        Column("window"),
        Column("period"),
        Column("score", True),
        Column("rank", True),
        Column("before", True),
        Column("players", True),
    ]
    rows = [
        (window, s.period, s.score, s.rank, s.previous_rank, s.total)
        for window, s in result.standings.items()
    ]
    print_table(columns, rows)
    if result.skipped:
        why = (f"{window} ({reason})" for window, reason in result.skipped.items())
        note(f"does not count in: {', '.join(why)}")
    if result.stale:
        note("recorded; ranks follow when the index can be reached again")


def remove(target: Target, board: BoardId, player: PlayerId, yes: Yes = False) -> None:
    """Remove a player from a board, in all windows and scopes."""
    confirm(f"take {player} off {board}?", yes)
    with opened(target) as boards:
        boards.board(board).remove(player)
    if target.json:
        print_json({"board": board, "removed": player})
    else:
        say(f"removed {player} from {board}")


def _json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise misused(f"--details is not JSON: {error}") from None
    return msgspec.Raw(text.encode())
