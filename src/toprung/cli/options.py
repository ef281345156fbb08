"""Options that many commands share, as groups.

A command takes a group as one parameter; `command` puts the group's members among the command's
options, where Typer finds them::

    @command(app)
    def top(target: Target, board: BoardId) -> None: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Final, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from toprung.cli.outcome import reported
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import RANKINGS
from toprung.domain.values import whole_or_text

F = TypeVar("F", bound=Callable[..., None])

DEFAULT_DB: Final = "toprung.db"


def choice(choices: Iterable[str | None], help: str) -> Any:
    """An option whose choices are shown and completed; what is none of them the domain refuses."""
    words = [word for word in choices if word is not None]

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return typer.Option(metavar=f"<{'|'.join(words)}>", autocompletion=complete, help=help)


def whole(text: object) -> Any:
    """The whole number in an option; if it is none, or out of bounds, the domain refuses it."""
    return whole_or_text(str(text))


BoardId = Annotated[str, typer.Argument(metavar="BOARD", help="the board's id")]
PlayerId = Annotated[str, typer.Argument(metavar="PLAYER", help="the player's id")]
Window = Annotated[str | None, typer.Option(metavar="WINDOW", help="all-time, daily, ...")]
Scope = Annotated[str, typer.Option(metavar="SCOPE", help="global, or for example country:PT")]
Count = Annotated[
    int, typer.Option("--count", "-n", metavar="N", parser=whole, help="how many, at most 1000")
]
Cursor = Annotated[
    str | None,
    typer.Option(metavar="CURSOR", help="continue a list, with the cursor printed at its end"),
]


@dataclass(frozen=True)
class Target:
    """Where the boards are, and whether answers are for programs."""

    db: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="the database file, or the .toml of a cluster, or cluster:",
            show_default="toprung.db",
        ),
    ] = None
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="a running service; or set TOPRUNG_URL", show_default=False
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="the service's access key; TOPRUNG_KEY keeps it off the process list",
            show_default=False,
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="print JSON, as the service would")] = False


@dataclass(frozen=True)
class Database:
    """A database itself, for what is done without a service in between."""

    db: Annotated[
        str,
        typer.Option(
            metavar="DB", help="the database file, or the .toml of a cluster, or cluster:"
        ),
    ] = DEFAULT_DB
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False


@dataclass(frozen=True)
class LadderFlags:
    """Which of a board's ladders is read."""

    window: Window = None
    period: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD", help="a period, such as 2026-11-15; default: the current one"
        ),
    ] = None
    scope: Scope = GLOBAL

    def words(self) -> dict[str, Any]:
        """The options as keywords of a read."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class ReadOptions(LadderFlags):
    """Which ladder is read, and how places are numbered."""

    ranking: Annotated[
        str | None, choice(RANKINGS, "1 2 3 4, 1 1 3 4 or 1 1 2 3; default: the board's")
    ] = None


class _Command(TyperCommand):
    """A command whose usage shows arguments as its reference does: BOARD [PLAYER]."""

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
