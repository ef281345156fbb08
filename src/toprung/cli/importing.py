"""`toprung import`: scores from CSV or JSON Lines, quickly, exactly once, whatever is in the file.

Rows go to `submit_many` in chunks. Each carries a key, its own or one made of its place and its
content, so that a second run counts nothing twice. Refused rows go to a file, the others count.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import typer

from toprung.blocking import Leaderboard, Leaderboards
from toprung.cli.csv_rows import CsvRows
from toprung.cli.json_rows import JsonRows
from toprung.cli.options import BoardId, Target, command
from toprung.cli.outcome import PARTLY, misused
from toprung.cli.players import profile_of
from toprung.cli.progress import Meter, metered
from toprung.cli.rejects import Rejects
from toprung.cli.rows import (
    BadRow,
    Format,
    GoodRow,
    Lines,
    ReadRules,
    RowReader,
    check_unpacked,
    guess_format,
)
from toprung.cli.show import note, number, print_json, say
from toprung.cli.target import opened
from toprung.errors import Invalid
from toprung.service.submit import BatchRow

CHUNK_ROWS: Final = 20_000
"""Rows in memory at a time: two batches, so that one is read while the other is written."""

STDIN: Final = "-"


@dataclass(frozen=True)
class ImportOptions:
    """How a file is read."""

    format: Annotated[
        Format | None,
        typer.Option(
            help="the format of the file",
            show_default="from the file name, else from the first character",
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEMBER=COLUMN",
            help="the column for a member, such as player=user_id; repeatable",
        ),
    ] = None
    ignore_others: Annotated[
        bool, typer.Option("--ignore-others", help="ignore unknown columns")
    ] = False
    names: Annotated[
        bool, typer.Option("--names", help="also set players' names and pictures (slower)")
    ] = False
    keys: Annotated[
        bool,
        typer.Option("--keys/--no-keys", help="generate idempotency keys for rows without one"),
    ] = True
    label: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="the name of this import in generated keys",
            show_default="the file name",
        ),
    ] = None
    rejects: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="a new file for rejected rows",
            show_default="FILE.rejects.csv or FILE.rejects.jsonl",
        ),
    ] = None
    verbatim: Annotated[
        bool, typer.Option("--verbatim", help="keep the apostrophes that protect CSV cells")
    ] = False


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "import")(import_scores)


def import_scores(
    target: Target,
    board: BoardId,
    options: ImportOptions,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="a file, or - for standard input")
    ] = STDIN,
) -> None:
    """Import scores from CSV or JSON Lines. Safe to run again."""
    rules = ReadRules(
        label=options.label or Path(file).name,
        with_keys=options.keys,
        renamed=_renamed(options.column),
        ignore_others=options.ignore_others,
        verbatim=options.verbatim,
    )
    began = time.monotonic()
    with _stream(file) as stream:
        beginning = stream.peek(4096)  # type: ignore[attr-defined]
        check_unpacked(beginning)
        kind = options.format or guess_format(file, beginning)
        lines = Lines(stream)
        reader: RowReader = (CsvRows if kind == "csv" else JsonRows)(lines, rules)
        wanted = options.rejects or _rejects_path(file, kind)
        with (
            opened(target) as boards,
            closing(Rejects(wanted, kind, reader.header)) as rejects,
            metered("importing", _size(stream)) as meter,
        ):
            work = _Import(boards, boards.board(board), rejects, options.names)
            try:
                _run(work, reader, lines, meter)
            except BaseException:
                again = "; run it again to go on, no row counts twice" if options.keys else ""
                note(f"stopped after {number(work.rows)} rows{again}")
                raise
    _tell(target, work, time.monotonic() - began)
    if rejects.count:
        raise typer.Exit(PARTLY)


class _Import:
    """An import under way: what became of the rows so far."""

    def __init__(
        self, boards: Leaderboards, board: Leaderboard, rejects: Rejects, names: bool
    ) -> None:
        self._boards = boards
        self._board = board
        self._names = names
        self.rejects = rejects
        self.rows = self.accepted = self.unchanged = self.duplicates = 0

    def take(self, chunk: list[GoodRow | BadRow]) -> None:
        """Record a chunk of rows."""
        good = [row for row in chunk if isinstance(row, GoodRow)]
        result = self._board.submit_many([_submission(row.values) for row in good])
        self.accepted += result.accepted
        self.unchanged += result.unchanged
        self.duplicates += result.duplicates
        bad = [row for row in chunk if isinstance(row, BadRow)]
        refused = {rejected.index for rejected in result.rejected}
        for rejected in result.rejected:
            row = good[rejected.index]
            field = f"{rejected.field}: " if rejected.field else ""
            bad.append(BadRow(row.line, field + rejected.detail, row.source))
        for line, reason, source in sorted(bad, key=attrgetter("line")):
            self.rejects.add(line, reason, source)
        if self._names:
            self._set_names(row for at, row in enumerate(good) if at not in refused)
        self.rows += len(chunk)

    def _set_names(self, rows: Iterator[GoodRow]) -> None:
        for row in rows:
            if row.names == (None, None):
                continue
            try:
                self._set_name(row.values["player"], *row.names)
            except Invalid as error:
                self.rejects.add(row.line, str(error), row.source)

    def _set_name(self, player: str, name: str | None, avatar_url: str | None) -> None:
        """Set what the row says, and keep what it does not."""
        old = profile_of(self._boards, player)
        name, avatar_url = name or old.name, avatar_url or old.avatar_url
        if (name, avatar_url) != (old.name, old.avatar_url):
            self._boards.patch_player(player, name=name, avatar_url=avatar_url)


def _submission(values: dict[str, Any]) -> BatchRow:
    """A row as `submit_many` takes it; a pair, where that is all, is checked much faster."""
    return (values["player"], values["score"]) if len(values) == 2 else values


def _run(work: _Import, reader: RowReader, lines: Lines, meter: Meter) -> None:
    rows = iter(reader)
    while chunk := list(islice(rows, CHUNK_ROWS)):
        work.take(chunk)
        meter.show(lines.byte_count, work.rows)


def _tell(target: Target, work: _Import, seconds: float) -> None:
    path = work.rejects.path
    if target.json:
        print_json(
            {
                "rows": work.rows,
                "accepted": work.accepted,
                "unchanged": work.unchanged,
                "duplicates": work.duplicates,
                "rejected": work.rejects.count,
                "rejects": None if path is None else os.fspath(path),
            }
        )
        return
    rate = int(work.rows / max(seconds, 1e-9))
    fates = {
        "accepted": work.accepted,
        "unchanged": work.unchanged,
        "repeated": work.duplicates,
        "rejected": work.rejects.count,
    }
    told = ", ".join(f"{number(rows)} {fate}" for fate, rows in fates.items())
    say(f"{number(work.rows)} rows: {told}")
    note(f"{seconds:.1f} s, {number(rate)} rows/s")
    if path is not None:
        note(f"rejected rows and reasons: {path}")


@contextmanager
def _stream(file: str) -> Iterator[BinaryIO]:
    if file == STDIN:
        yield sys.stdin.buffer
        return
    with Path(file).open("rb") as stream:
        yield stream


def _size(stream: BinaryIO) -> int | None:
    """How many bytes there are to read, where that is known."""
    try:
        found = os.fstat(stream.fileno())
    except OSError:  # standard input may be anything
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _rejects_path(file: str, format: Format) -> Path:
    return Path(f"toprung.rejects.{format}" if file == STDIN else f"{file}.rejects.{format}")


def _renamed(columns: list[str] | None) -> dict[str, str]:
    pairs: dict[str, Any] = {}
    for text in columns or ():
        member, equals, name = text.partition("=")
        if not equals or not name:
            raise misused(f"--column must be MEMBER=COLUMN, not {text!r}")
        pairs[member] = name
    return pairs
