"""Options that many commands share, as groups.

A command takes a group as one parameter; `command` puts the group's members among the command's
options, where Typer finds them::

    @command(app)
    def top(target: Target, board: BoardId) -> None: ...
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Final, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from toprung.cli.outcome import FAILED, misused, reported
from toprung.cli.text import printable
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import RANKINGS
from toprung.domain.values import whole_or_text

F = TypeVar("F", bound=Callable[..., None])

DEFAULT_DB: Final = "toprung.db"


def choice(choices: Iterable[str | None], help: str, *, show_default: str | bool = True) -> Any:
    """An option whose choices are shown and completed; what is none of them the domain refuses."""
    words = [word for word in choices if word is not None]

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return typer.Option(
        metavar=f"<{'|'.join(words)}>",
        autocompletion=complete,
        help=help,
        show_default=show_default,
    )


def whole(text: object) -> Any:
    """The whole number in an option; if it is none, or out of bounds, the domain refuses it."""
    return whole_or_text(str(text))


BoardId = Annotated[str, typer.Argument(metavar="BOARD", help="the board's id")]
PlayerId = Annotated[str, typer.Argument(metavar="PLAYER", help="the player's id")]
Window = Annotated[
    str | None,
    typer.Option(
        metavar="WINDOW",
        help="the window, such as all-time or daily",
        show_default="the board's default window",
    ),
]
Scope = Annotated[
    str, typer.Option(metavar="SCOPE", help="global, or a part of the players such as country:PT")
]
Count = Annotated[
    int,
    typer.Option("--count", "-n", metavar="N", parser=whole, help="how many to show, at most 1000"),
]
Cursor = Annotated[
    str | None,
    typer.Option(metavar="CURSOR", help="continue a list from the cursor printed at its end"),
]


@dataclass(frozen=True)
class Target:
    """Where the boards are, and whether answers are for programs."""

    db: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="a database file, a cluster's .toml file, or cluster:",
            show_default="toprung.db",
        ),
    ] = None
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="the URL of a running service; or set TOPRUNG_URL",
            show_default=False,
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="an access key for the service; or set TOPRUNG_KEY",
            show_default=False,
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False


@dataclass(frozen=True)
class Database:
    """A database itself, for what is done without a service in between."""

    db: Annotated[
        str,
        typer.Option(metavar="DB", help="a database file, a cluster's .toml file, or cluster:"),
    ] = DEFAULT_DB
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False


@dataclass(frozen=True)
class DatabaseFile(Database):
    """A database that must be a file."""

    db: Annotated[str, typer.Option(metavar="DB", help="the database file")] = DEFAULT_DB


@dataclass(frozen=True)
class LadderFlags:
    """Which of a board's ladders is read."""

    window: Window = None
    period: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD",
            help="a period, such as 2026-11-15",
            show_default="the current one",
        ),
    ] = None
    scope: Scope = GLOBAL
    viewer: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYER",
            help="read it as this player sees it",
            show_default="nobody in particular",
        ),
    ] = None

    def words(self) -> dict[str, Any]:
        """The options as keywords of a read."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class ReadOptions(LadderFlags):
    """Which ladder is read, and how places are numbered."""

    ranking: Annotated[
        str | None,
        choice(
            RANKINGS,
            "how ties are numbered: 1234, 1134 or 1123",
            show_default="the board's",
        ),
    ] = None


@dataclass(frozen=True)
class StandingOptions(ReadOptions):
    """What is shown of standings besides."""

    movement: Annotated[
        bool,
        typer.Option("--movement", help="show how players have moved since the newest snapshot"),
    ] = False


def _in_style(parameters: list[Any]) -> list[Any]:
    """The same parameters; what Typer says of its own options reads like the rest of the help."""
    for parameter in parameters:
        text = getattr(parameter, "help", None)
        if text and text.endswith("."):
            parameter.help = text[0].lower() + text[1:-1]
    return parameters


class CommandGroup(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options."""
        return _in_style(super().get_params(ctx))


class _Command(TyperCommand):
    """A command whose usage shows arguments as its reference does: BOARD [PLAYER]."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _in_style(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def command(app: typer.Typer, name: str | None = None, **settings: Any) -> Callable[[F], F]:
    """Add a function to the app as a command, its groups spread out and its errors reported."""

    def add(function: F) -> F:
        app.command(name, cls=_Command, **settings)(spread(reported(function)))
        return function

    return add


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The function with each group parameter replaced by the group's members."""
    hints = get_type_hints(function, include_extras=True)
    required: list[inspect.Parameter] = []
    optional: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        kind: Any = hints[parameter.name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[parameter.name] = kind
            optional += inspect.signature(kind).parameters.values()
        else:
            members = required if parameter.default is parameter.empty else optional
            members.append(parameter)

    annotations = {p.name: hints[p.name] for p in [*required, *optional] if p.name in hints}
    for kind in groups.values():
        annotations |= get_type_hints(kind, include_extras=True)

    def run(**options: Any) -> None:
        for name, kind in groups.items():
            options[name] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
        function(**options)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = annotations
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            p.replace(annotation=annotations[p.name], kind=p.KEYWORD_ONLY)
            for p in [*required, *optional]
        ]
    )
    return run


Yes = Annotated[bool, typer.Option("--yes", help="do not ask for confirmation")]


def confirm(question: str, yes: bool) -> None:
    """Go on only if `yes` was given or the person at the terminal says so."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise misused("this cannot be undone; pass --yes to confirm")
    if not typer.confirm(printable(question), err=True):
        raise typer.Exit(FAILED)
