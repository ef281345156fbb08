"""`toprung export`: a ladder as CSV or JSON Lines, which `toprung import` takes back."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, TextIO

import msgspec
import typer

from toprung.blocking import Leaderboard
from toprung.cli.guard import guarded
from toprung.cli.options import BoardId, ReadOptions, Target, command
from toprung.cli.outcome import misused
from toprung.cli.progress import metered
from toprung.cli.rows import JSON_SUFFIXES, Format
from toprung.cli.show import json_line, note, number
from toprung.cli.target import opened
from toprung.domain.instant import instant_text, parse_instant
from toprung.domain.standing import Page, Standing
from toprung.errors import Invalid
from toprung.operations.wire import row, text_of

PAGE_ROWS: Final = 1000
STDOUT: Final = "-"
COLUMNS: Final = ("rank", "player", "name", "avatar_url", "score", "subscore", "achieved_at")

Write = Callable[[Standing], object]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(export)


def export(
    target: Target,
    board: BoardId,
    read: ReadOptions,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="a new file, or - for standard output")
    ] = STDOUT,
    format: Annotated[
        Format | None,
        typer.Option(help="the format of the file", show_default="from the file name, else csv"),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="include the details of each entry")
    ] = False,
    verbatim: Annotated[
        bool, typer.Option("--verbatim", help="do not protect CSV cells that look like formulas")
    ] = False,
) -> None:
    """Export a board's standings as CSV or JSON Lines."""
    if target.json and format == "csv":
        raise misused("--json means --format jsonl and cannot be combined with --format csv")
    is_json = target.json or format == "jsonl" or (format is None and file.endswith(JSON_SUFFIXES))
    with opened(target) as boards, output(file) as out:
        found = boards.board(board)
        write = _json_writer(out) if is_json else _csv_writer(out, details, verbatim)
        rows = _write_all(found, read, details, write)
    if file != STDOUT:
        note(f"{number(rows)} rows in {file}")


def _write_all(board: Leaderboard, read: ReadOptions, details: bool, write: Write) -> int:
    rows = 0
    with metered("exporting", _total(board, read)) as meter:
        for page in _pages(board, read, details):
            for standing in page.standings:
                write(standing)
            rows += len(page.standings)
            meter.show(rows, rows)
    return rows


def _total(board: Leaderboard, read: ReadOptions) -> int:
    return board.total(window=read.window, period=read.period, scope=read.scope)


def _pages(board: Leaderboard, read: ReadOptions, details: bool) -> Iterator[Page]:
    cursor: str | None = None
    while True:
        page = board.standings(PAGE_ROWS, cursor=cursor, details=details, **read.words())
        yield page
        cursor = page.next
        if cursor is None:
            return


def _json_writer(out: TextIO) -> Write:
    return lambda standing: out.write(json_line(row(standing)) + "\n")


def _csv_writer(out: TextIO, details: bool, verbatim: bool) -> Write:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, "details"] if details else COLUMNS)
    text: Callable[[str], str] = str if verbatim else guarded

    def write(standing: Standing) -> None:
        cells = [
            standing.rank,
            text(standing.player),
            text(standing.name or ""),
            text(standing.avatar_url or ""),
            text_of(standing.score),
            standing.subscore,
            instant_text(parse_instant(standing.achieved_at)),
        ]
        if details:
            found = standing.details
            cells.append("" if found is None else text(msgspec.json.encode(found).decode()))
        writer.writerow(cells)

    return write


@contextmanager
def output(file: str) -> Iterator[TextIO]:
    """Standard output, or a new file that is there only when it is whole."""
    if file == STDOUT:
        yield sys.stdout
        return
    path = Path(file)
    if path.exists():
        raise Invalid("file", f"{file!r} already exists; an export never overwrites a file")
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        part.rename(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = file
        raise
