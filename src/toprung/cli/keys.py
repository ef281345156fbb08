"""`toprung keys`: make, list, change, rotate and revoke access keys."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toprung.blocking import Keys, Leaderboards
from toprung.cli.options import CommandGroup, Target, command, whole
from toprung.cli.outcome import misused
from toprung.cli.show import Column, note, print_json, print_table, say
from toprung.cli.target import opened
from toprung.domain.access import EVERY_BOARD, OVERLAP_SECONDS, VERBS, AccessKey
from toprung.domain.instant import instant_datetime
from toprung.errors import Unavailable

KeyId = Annotated[str, typer.Argument(metavar="ID", help="the key's id")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    keys = typer.Typer(
        cls=CommandGroup,
        name="keys",
        help="Create, list, change, rotate and revoke access keys.",
        no_args_is_help=True,
    )
    command(keys)(create)
    command(keys, "list")(list_keys)
    command(keys)(edit)
    command(keys)(rotate)
    command(keys)(revoke)
    app.add_typer(keys)


def create(
    target: Target,
    name: Annotated[str, typer.Option(metavar="NAME", help="a description")] = "key",
    verb: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERB", help="read, write, moderate or admin; repeatable", show_default="all"
        ),
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
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="when it expires, such as 2027-01-31T00:00:00Z",
            show_default="never",
        ),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="an IP address or network that it may be used from; repeatable",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Create a key. It is shown only once."""
    with opened(target, create=True) as boards:
        key, text = _keys(boards).create(
            name,
            verb or VERBS,
            board or (EVERY_BOARD,),
            owner,
            expires_at=expires,
            addresses=address or (),
        )
    _tell(target, key, text)


def edit(
    target: Target,
    id: KeyId,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="a description")] = None,
    verb: Annotated[
        list[str] | None,
        typer.Option(metavar="VERB", help="read, write, moderate or admin; repeatable"),
    ] = None,
    board: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="board ids the key is valid for; repeatable"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="when it expires, or never")
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="an IP address or network that it may be used from, or any; repeatable",
        ),
    ] = None,
) -> None:
    """Change a key: what is not given stays as it is."""
    asked = {
        "name": name,
        "verbs": verb,
        "boards": board,
        "expires_at": expires,
        "addresses": [] if address == ["any"] else address,
    }
    changes: dict[str, Any] = {each: value for each, value in asked.items() if value is not None}
    if not changes:
        raise misused("specify at least one thing to change")
    if expires == "never":
        changes["expires_at"] = None
    with opened(target) as boards:
        key = _keys(boards).edit(id, **changes)
    if target.json:
        print_json(_answer(key))
    else:
        say(f"changed {key.id}")


def rotate(
    target: Target,
    id: KeyId,
    overlap: Annotated[
        int,
        typer.Option(
            metavar="SECONDS", parser=whole, help="how long the old key can still be used"
        ),
    ] = OVERLAP_SECONDS,
) -> None:
    """Create a key that allows the same; the old one expires. The new key is shown only once."""
    with opened(target) as boards:
        key, text = _keys(boards).rotate(id, overlap)
    _tell(target, key, text)


def list_keys(target: Target) -> None:
    """List all keys, without their secrets."""
    with opened(target) as boards:
        found = _keys(boards).all()
    if target.json:
        print_json({"keys": [_answer(key) for key in found]})
        return
    titles = ("id", "owner", "verbs", "boards", "addresses", "expires", "last used", "name")
    rows = [
        (
            key.id,
            key.owner,
            ",".join(key.verbs),
            ",".join(key.boards),
            ",".join(key.addresses) or "any",
            _day(key.expires_at),
            _day(key.last_used_at),
            key.name,
        )
        for key in found
    ]
    print_table([Column(title) for title in titles], rows)
    if not rows:
        note("there are no keys")


def revoke(target: Target, id: KeyId) -> None:
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


def _tell(target: Target, key: AccessKey, text: str) -> None:
    """Show a new key, this once."""
    if target.json:
        print_json(_answer(key) | {"key": text})
    else:
        say(text)


def _answer(key: AccessKey) -> dict[str, Any]:
    used, ends = key.last_used_at, key.expires_at
    return {
        "id": key.id,
        "name": key.name,
        "owner": key.owner,
        "verbs": key.verbs,
        "boards": key.boards,
        "created_at": instant_datetime(key.created_at),
        "last_used_at": None if used is None else instant_datetime(used),
        "expires_at": None if ends is None else instant_datetime(ends),
        "addresses": key.addresses,
    }


def _day(instant: int | None) -> str:
    return "never" if instant is None else instant_datetime(instant).date().isoformat()
