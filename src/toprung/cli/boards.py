"""`toprung board`: create, change, list, show and delete boards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any

import msgspec
import typer

from toprung.blocking import Leaderboard, Leaderboards
from toprung.cli.options import BoardId, CommandGroup, Target, Yes, choice, command, confirm, whole
from toprung.cli.outcome import misused
from toprung.cli.show import Column, note, number, print_json, print_table, say
from toprung.cli.target import opened
from toprung.contract import BoardAnswer, BoardsAnswer
from toprung.domain.board import CHOICES
from toprung.domain.board_rules import BoardRules
from toprung.operations.wire import board_answer, text_of

PAGE = 500


@dataclass(frozen=True)
class Rules:
    """The rules of a board; what is not given takes its default, or stays."""

    title: Annotated[str | None, typer.Option(metavar="TEXT", help="the title to display")] = None
    order: Annotated[
        str | None, choice(CHOICES["order"], "whether higher or lower scores are better")
    ] = None
    policy: Annotated[
        str | None, choice(CHOICES["policy"], "how a player's scores are combined")
    ] = None
    decimals: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole, help="digits after the decimal point, at most 9"),
    ] = None
    subscore: Annotated[
        str | None,
        choice(CHOICES["subscore"], "a second number that breaks ties between equal scores"),
    ] = None
    tie_break: Annotated[
        str | None, choice(CHOICES["tie_break"], "which of two tied players comes first")
    ] = None
    ranking: Annotated[
        str | None, choice(CHOICES["ranking"], "how ties are numbered: 1234, 1134 or 1123")
    ] = None
    windows: Annotated[
        list[str] | None,
        typer.Option(
            "--window",
            metavar="WINDOW",
            help='all-time, daily, ..., or {"name": ..., "cron": ...} as JSON; repeatable',
        ),
    ] = None
    default_window: Annotated[
        str | None,
        typer.Option(metavar="WINDOW", help="the window to read when none is given"),
    ] = None
    timezone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE", help="the time zone of its days and weeks, such as Europe/Oslo"
        ),
    ] = None
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="ATTRIBUTE",
            help="an attribute with a ranking for each value, such as country; repeatable",
        ),
    ] = None
    public: Annotated[
        bool | None, typer.Option("--public/--private", help="whether it can be read without a key")
    ] = None
    score_min: Annotated[
        str | None, typer.Option(metavar="SCORE", help="the lowest score accepted")
    ] = None
    score_max: Annotated[
        str | None, typer.Option(metavar="SCORE", help="the highest score accepted")
    ] = None
    max_increase: Annotated[
        str | None,
        typer.Option(metavar="SCORE", help="the most that one submission may improve a score"),
    ] = None
    history: Annotated[
        str | None,
        typer.Option(
            metavar="EVERY",
            help='snapshots every hour, day, week or month; or {"every": ..., "keep": ...} as JSON',
        ),
    ] = None
    run: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='how long runs may take: {"min_seconds": ..., "max_seconds": ...} as JSON',
        ),
    ] = None

    trust: Annotated[
        str | None, choice(CHOICES["trust"], "who may submit: servers with keys, or players, too")
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='how often each player may submit: {"submissions": 10, "seconds": 60}',
        ),
    ] = None
    max_per: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='how fast scores may improve: {"amount": 100, "seconds": 60}',
        ),
    ] = None
    review: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='which submissions wait for a verdict: {"when": {"top": 100, "anomaly": 3.5}}',
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """The rules that were given, as the library takes them."""
        rules = {field.name: getattr(self, field.name) for field in fields(self)}
        rules = {name: value for name, value in rules.items() if value is not None}
        if "windows" in rules:
            rules["windows"] = [_as_json(text, "--window") for text in rules["windows"]]
        if "history" in rules:
            history = _as_json(rules["history"], "--history")
            rules["history"] = {"every": history} if isinstance(history, str) else history
        if "run" in rules:
            rules["run"] = _as_json(rules["run"], "--run")
        for name in ("rate", "max_per", "review"):
            if name in rules:
                option = f"--{name.replace('_', '-')}"
                rules[name] = _as_json(rules[name], option)
        return rules


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    board = typer.Typer(
        cls=CommandGroup,
        name="board",
        help="Create, change, list, show and delete boards.",
        no_args_is_help=True,
    )
    command(board)(create)
    command(board)(change)
    command(board, "list")(list_boards)
    command(board)(show)
    command(board)(delete)
    app.add_typer(board)


def create(target: Target, board: BoardId, rules: Rules) -> None:
    """Create a board, and the database file if it does not exist."""
    with opened(target, create=True) as boards:
        _tell(target, boards.create(board, **rules.given()), "created")


def change(
    target: Target,
    board: BoardId,
    rules: Rules,
    reset: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="a rule to reset to its default; repeatable"),
    ] = None,
) -> None:
    """Change some rules of a board."""
    changes = rules.given() | {name.replace("-", "_"): None for name in reset or ()}
    if not changes:
        raise misused("specify at least one rule to change")
    with opened(target) as boards:
        _tell(target, boards.patch(board, **changes), "changed")


def list_boards(target: Target) -> None:
    """List all boards."""
    with opened(target) as boards:
        found = list(_all_boards(boards))
    if target.json:
        print_json(BoardsAnswer([board_answer(rules) for rules in found]))
        return
    titles = ("board", "title", "order", "policy", "windows", "scopes", "public")
    rows = [
        (
            rules.id,
            rules.title,
            rules.order,
            rules.policy,
            _names(rules),
            ",".join(rules.scopes),
            rules.public,
        )
        for rules in found
    ]
    print_table([Column(title) for title in titles], rows)
    if not rows:
        note("there are no boards")


def show(target: Target, board: BoardId) -> None:
    """Show a board's rules, current periods and player counts."""
    with opened(target) as boards:
        found = boards.board(board)
        answer = _answer(found)
        if target.json:
            print_json(answer)
            return
        rules = found.rules()
        totals = {name: found.total(window=name) for name in rules.window_names}
    for name, value in _facts(rules):
        say(f"{name + ':':<14}{value}")
    columns = [Column("window"), Column("period"), Column("state"), Column("closes")]
    columns.append(Column("players", True))
    rows = [
        (name, period.period, period.state, period.closes_at or "never", totals[name])
        for name, period in answer.periods.items()
    ]
    say("")
    print_table(columns, rows)


def delete(target: Target, board: BoardId, yes: Yes = False) -> None:
    """Delete a board and everything on it."""
    with opened(target) as boards:
        total = boards.board(board).total()
        confirm(f"delete board {board} with {number(total)} players for good?", yes)
        boards.delete(board)
    if target.json:
        print_json({"deleted": board})
    else:
        say(f"deleted {board}")


def _all_boards(boards: Leaderboards) -> Iterator[BoardRules]:
    after = ""
    while page := boards.list(after, PAGE):
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].id


def _tell(target: Target, board: Leaderboard, what: str) -> None:
    if target.json:
        print_json(_answer(board))
    else:
        say(f"{what} {board.id}")


def _answer(board: Leaderboard) -> BoardAnswer:
    return board_answer(board.rules(), periods=board.current_periods())


def _facts(rules: BoardRules) -> list[tuple[str, str]]:
    """The rules as people read them; what is not set is left out."""
    shown: dict[str, Any] = {"board": rules.id} | dict(rules)
    shown["windows"] = _names(rules)
    shown["scopes"] = ",".join(rules.scopes)
    shown["public"] = "yes" if rules.public else "no"
    if rules.history is not None:
        shown["history"] = "every {every}, the newest {keep} kept".format(**rules.history)
    if rules.run is not None:
        shown["run"] = "{min_seconds} to {max_seconds} seconds".format(**rules.run)
    return [
        (name.replace("_", " "), text_of(value))
        for name, value in shown.items()
        if value is not None and value != ""
    ]


def _names(rules: BoardRules) -> str:
    return ",".join(rules.window_names)


def _as_json(text: str, option: str) -> Any:
    """An object that is given as JSON, or else the text itself."""
    if not text.startswith("{"):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise misused(f"{option} is not JSON: {error}") from None
