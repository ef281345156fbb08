"""`toprung watch`: the first places of a board, live in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from toprung.cli.options import BoardId, Scope, Target, Window, command, whole
from toprung.cli.show import Cell, Column, console, number, print_json, print_table, say, table
from toprung.cli.standings import ladder_words, standing_table
from toprung.cli.target import database, opened, service_url
from toprung.config import is_cluster_target
from toprung.domain.player import GLOBAL
from toprung.domain.standing import Page
from toprung.domain.values import bounded
from toprung.errors import DatabaseInUse
from toprung.operations.requests import TOP_MAX

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from toprung.client import Leaderboard as ServiceBoard

POLL_SECONDS: Final = 0.5
"""Between two looks at what cannot tell by itself that it changed."""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(watch)


def watch(
    target: Target,
    board: BoardId,
    window: Window = None,
    scope: Scope = GLOBAL,
    n: Annotated[
        int,
        typer.Option(
            "--count", "-n", metavar="N", parser=whole, help="how many to show, at most 100"
        ),
    ] = 10,
    updates: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="stop after this many updates", show_default="until Ctrl-C"
        ),
    ] = None,
) -> None:
    """Watch the top of a board live."""
    bounded(n, TOP_MAX, "top")
    read = {"window": window, "scope": scope}
    if service_url(target) is not None:
        pages = _served(target, board, n, read)
    elif is_cluster_target(database(target)):
        pages = _polled(target, board, n, read)
    else:
        pages = _reopened(target, board, n, read)
    pages = islice(pages, updates)
    if target.json:
        for page in pages:
            print_json(page)
            sys.stdout.flush()
    elif sys.stdout.isatty():
        _show_live(pages)
    else:
        for page in pages:
            print_table(*standing_table(page.standings))
            say("")
            sys.stdout.flush()


Read = Mapping[str, str | None]


def _served(target: Target, board_id: str, n: int, read: Read) -> Iterator[Page]:
    """A service tells by itself."""
    from toprung.client.messages import Top

    with opened(target) as boards:
        board = cast("ServiceBoard", boards.board(board_id))
        name = read["window"] or board.rules().read_window
        scope = read["scope"] or GLOBAL
        with board.watch(n, window=name, scope=scope) as messages:
            for message in messages:
                if isinstance(message, Top):
                    found = message.state, message.total, message.standings
                    yield Page(board_id, name, message.period, scope, *found)


def _polled(target: Target, board_id: str, n: int, read: Read) -> Iterator[Page]:
    """Of a cluster, the ladder's version and period tell whether there is something new."""
    with opened(target) as boards:
        board = boards.board(board_id)
        known: object = None
        while True:
            version = board.version(window=read["window"], scope=read["scope"] or GLOBAL)
            if (state := (version, board.current_periods())) != known:
                known = state
                yield board.standings(n, window=read["window"], scope=read["scope"] or GLOBAL)
            time.sleep(POLL_SECONDS)


def _reopened(target: Target, board_id: str, n: int, read: Read) -> Iterator[Page]:
    """A file belongs to one process, so it is opened for a moment whenever it has changed."""
    path = Path(database(target))
    known: object = None
    while True:
        state = _file_state(path)
        if state != known:
            try:
                with opened(target) as boards:
                    board = boards.board(board_id)
                    page = board.standings(n, window=read["window"], scope=read["scope"] or GLOBAL)
            except DatabaseInUse as error:
                if error.url is not None or known is None:
                    raise
            else:
                known = _file_state(path)
                yield page
        time.sleep(POLL_SECONDS)


def _file_state(path: Path) -> list[tuple[int, int]]:
    """What differs after something was recorded: sizes and times of the file and its log."""
    found = []
    for file in (path, Path(f"{path}-wal")):
        with suppress(OSError):
            status = file.stat()
            found.append((status.st_size, status.st_mtime_ns))
    return found


def _show_live(pages: Iterator[Page]) -> None:
    from rich.live import Live

    screen = console()
    before: dict[str, int] = {}
    with Live(console=screen, auto_refresh=False) as live:
        for page in pages:
            live.update(_picture(page, before, screen), refresh=True)
            before = {standing.player: standing.rank for standing in page.standings}


def _picture(page: Page, before: Mapping[str, int], screen: Console) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    columns, rows = standing_table(page.standings)
    if columns:
        columns = [*columns, Column("moved")]
        for row, standing in zip(rows, page.standings, strict=True):
            row.append(_moved(before, standing.player, standing.rank))
    title = Text(f"{ladder_words(page)}: {number(page.total)} players", style="dim")
    return Group(title, table(columns, rows, screen)) if columns else title


def _moved(before: Mapping[str, int], player: str, rank: int) -> Cell:
    """How far a player has come since the last picture."""
    if not before:
        return ""
    if player not in before:
        return "new"
    change = before[player] - rank
    return f"▲{change}" if change > 0 else f"▼{-change}" if change < 0 else ""
