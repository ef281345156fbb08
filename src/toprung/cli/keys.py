"""`toprung keys`: make, list and revoke access keys."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toprung.blocking import Keys, Leaderboards
from toprung.cli.options import CommandGroup, Target, command
from toprung.cli.show import Column, note, print_json, print_table, say
from toprung.cli.target import opened
from toprung.domain.access import EVERY_BOARD, VERBS, AccessKey
from toprung.domain.instant import instant_datetime
from toprung.errors import Unavailable


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    keys = typer.Typer(
        cls=CommandGroup,
        name="keys",
        help="Create, list and revoke access keys.",
        no_args_is_help=True,
    )
    command(keys)(create)
    command(keys, "list")(list_keys)
    command(keys)(revoke)
    app.add_typer(keys)


def create(
    target: Target,
    name: Annotated[str, typer.Option(metavar="NAME", help="a description")] = "key",
    verb: Annotated[
        list[str] | None,
        typer.Option(metavar="VERB", help="read, write or admin; repeatable", show_default="all"),
    ] = None,
    board: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="board ids the key is valid for, such as eu-*; repeatable",
            show_default="all",
        ),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER",
            help="keys with the same owner share idempotency keys",
            show_default="the key's id",
        ),
    ] = None,
) -> None:
    """Create a key. It is shown only once."""
    with opened(target, create=True) as boards:
        key, text = _keys(boards).create(name, verb or VERBS, board or (EVERY_BOARD,), owner)
    if target.json:
        print_json(_answer(key) | {"key": text})
    else:
        say(text)


def list_keys(target: Target) -> None:
    """List all keys, without their secrets."""
    with opened(target) as boards:
        found = _keys(boards).all()
    if target.json:
        print_json({"keys": [_answer(key) for key in found]})
        return
    titles = ("id", "owner", "verbs", "boards", "last used", "name")
    rows = [
        (
            key.id,
            key.owner,
            ",".join(key.verbs),
            ",".join(key.boards),
            _day(key.last_used_at),
            key.name,
        )
        for key in found
    ]
    print_table([Column(title) for title in titles], rows)
    if not rows:
        note("there are no keys")


def revoke(
    target: Target, id: Annotated[str, typer.Argument(metavar="ID", help="the key's id")]
) -> None:
    """Revoke a key."""
    with opened(target) as boards:
        _keys(boards).revoke(id)
    if target.json:
        print_json({"revoked": id})
    else:
        say(f"revoked {id}")


def _keys(boards: Leaderboards) -> Keys:
    if boards.keys is None:
        raise Unavailable("this profile does not store access keys")
    return boards.keys


def _answer(key: AccessKey) -> dict[str, Any]:
    used = key.last_used_at
    return {
        "id": key.id,
        "name": key.name,
        "owner": key.owner,
        "verbs": key.verbs,
        "boards": key.boards,
        "created_at": instant_datetime(key.created_at),
        "last_used_at": None if used is None else instant_datetime(used),
    }


def _day(instant: int | None) -> str:
    return "never" if instant is None else instant_datetime(instant).date().isoformat()
