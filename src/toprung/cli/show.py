"""What people see and programs read: tables, lines and JSON.

On a terminal tables have titles, thousands separators and medals; into a pipe goes plain text
whose numbers are just digits. JSON is what the HTTP interface answers, exact to the last digit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import msgspec

from toprung.cli.text import printable, printable_json
from toprung.operations import wire

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_encoder: Final = msgspec.json.Encoder(decimal_format="number")
_PIPE_WIDTH: Final = 100_000
"""Columns of a page that has no edge."""
_MEDALS: Final = {"1": "🥇", "2": "🥈", "3": "🥉"}
_LONG_TEXT: Final = 20
"""Columns wider than this may be shortened to half of it."""

Cell = str | int | Decimal | datetime | None


@dataclass(frozen=True)
class Column:
    """One column of a table; numbers stand on the right."""

    title: str
    is_number: bool = False


def json_line(value: Any, *, movement: bool = False) -> str:
    """What the service answers for a value of the library, on one line."""
    return printable_json(_encoder.encode(wire.shown(value, movement=movement)).decode())


def print_json(value: Any, *, movement: bool = False) -> None:
    """Print one JSON document on one line."""
    print(json_line(value, movement=movement))


def print_found(value: Any, rows: Iterable[Any], titles: str, *, as_json: bool) -> bool:
    """Print a value as JSON, or its rows as a table of the members that `titles` names.

    Members whose name ends with ``>`` are numbers; columns that nothing fills are left out. Returns
    whether there are rows for people to see.
    """
    if as_json:
        print_json(value)
        return True
    names = [title.removesuffix(">") for title in titles.split()]
    columns = [Column(title.removesuffix(">"), title.endswith(">")) for title in titles.split()]
    cells = [[getattr(row, name) for name in names] for row in rows]
    print_table(*filled(columns, cells))
    return bool(cells)


def say(text: str) -> None:
    """Print a line for people."""
    print(printable(text))


def note(text: str) -> None:
    """Print a line for people beside the output: on stderr."""
    print(printable(text), file=sys.stderr)


def console(file: IO[str] | None = None) -> Console:
    """A console on stdout that guesses nothing and interprets nothing."""
    from rich.console import Console

    out = sys.stdout if file is None else file
    width = None if out.isatty() else _PIPE_WIDTH
    return Console(file=out, width=width, highlight=False, markup=False, emoji=False)


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    """Print rows under their titles; nothing at all when there are none."""
    lines = list(rows)
    if not lines:
        return
    out = console()
    if out.file.isatty():
        out.print(table(columns, lines, out))
        return
    for line in plain_lines(columns, lines):
        print(line)


def filled(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> tuple[list[Column], list[list[Cell]]]:
    """The columns in which some row has something, and the rows with these alone."""
    kept = [at for at in range(len(columns)) if any(row[at] is not None for row in rows)]
    return [columns[at] for at in kept], [[row[at] for at in kept] for row in rows]


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], out: Console) -> Table:
    """A table for a terminal. The first three places of a rank column stand out."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        made.add_column(Text(column.title), justify=justify, no_wrap=True, overflow="ellipsis")
    has_medals = out.encoding == "utf-8" and columns[0].title == "rank"
    lines = [[Text(shown(cell)) for cell in row] for row in rows]
    _shorten(columns, lines, out.width)
    for cells in lines:
        place = cells[0].plain if columns[0].title == "rank" else ""
        if has_medals and place in _MEDALS:
            cells[0] = Text(f"{_MEDALS[place]} {place}")
        made.add_row(*cells, style="bold" if place in _MEDALS else "")
    return made


def _shorten(columns: Sequence[Column], lines: list[list[Text]], width: int) -> None:
    """Shorten long text, so that it does not push numbers off the terminal."""
    widths = [max((line[at].cell_len for line in lines), default=0) for at in range(len(columns))]
    long = [
        at for at, column in enumerate(columns) if not column.is_number and widths[at] > _LONG_TEXT
    ]
    rest = width - sum(w for at, w in enumerate(widths) if at not in long) - 4 * len(columns)
    for at in long:
        for line in lines:
            line[at].truncate(max(_LONG_TEXT // 2, rest // len(long)), overflow="ellipsis")


def plain_lines(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """The table as plain text: aligned, two spaces between columns, digits without separators."""
    from rich.cells import cell_len

    texts = [[column.title for column in columns]]
    texts += [[shown(cell, separator="") for cell in row] for row in rows]
    widths = [max(cell_len(line[at]) for line in texts) for at in range(len(columns))]

    def line(cells: list[str]) -> str:
        parts = []
        for column, width, cell in zip(columns, widths, cells, strict=True):
            gap = " " * (width - cell_len(cell))
            parts.append(gap + cell if column.is_number else cell + gap)
        return "  ".join(parts).rstrip()

    return [line(cells) for cells in texts]


def shown(value: Cell, separator: str = ",") -> str:
    """A value as a cell.

    >>> shown(1204113), shown(Decimal("-12345.50")), shown(Decimal("1E-9")), shown(None)
    ('1,204,113', '-12,345.50', '0.000000001', '')
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return format(value, separator + "d")
        case Decimal():
            return format(value, separator + "f")
        case datetime():
            return moment(value)
        case _:
            return printable(value)


def moment(value: datetime) -> str:
    """A moment to the second.

    >>> from datetime import UTC
    >>> moment(datetime(2026, 11, 15, 12, 30, tzinfo=UTC))
    '2026-11-15 12:30:00Z'
    """
    return value.replace(tzinfo=None).isoformat(" ", "seconds") + "Z"


def number(value: float | Decimal) -> str:
    """A number in a sentence: with separators on a terminal, without in a pipe."""
    separator = "," if sys.stdout.isatty() else ""
    return format(value, separator + ("d" if isinstance(value, int) else "f"))


def percent(share: float, *, up: bool = False) -> str:
    """A percentage, rounded down or up to one decimal, or to as many as make it more than 0.

    >>> percent(99.99), percent(1.01, up=True), percent(0.00083, up=True), percent(0.0)
    ('99.9', '1.1', '0.0009', '0.0')
    """
    exact = Decimal(repr(share))
    decimals = max(1, -exact.adjusted()) if exact else 1
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return format(exact.quantize(Decimal(1).scaleb(-decimals), rounding), "f")
