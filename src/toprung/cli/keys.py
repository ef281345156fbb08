"""`toprung keys`: make, list and revoke the access keys of a database that nobody serves."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable

from toprung.domain.access import EVERY_BOARD, VERBS
from toprung.domain.instant import instant_datetime
from toprung.errors import Unavailable
from toprung.service.keys import Keys

Action = Callable[[argparse.Namespace, Keys], Awaitable[None]]


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("keys", help="make, list and revoke access keys")
    actions = parser.add_subparsers(metavar="action", required=True)
    create = _add(actions, "create", "make a key; it is shown once", _create)
    create.add_argument("--name", default="key", help="what people call it")
    create.add_argument("--verb", action="append", choices=VERBS, help="repeat; all by default")
    create.add_argument("--board", action="append", help="a pattern of board ids; repeat")
    _add(actions, "list", "every key, never the key itself", _list)
    revoke = _add(actions, "revoke", "make a key worthless", _revoke)
    revoke.add_argument("id")


def _add(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    action: Action,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text)
    parser.add_argument("--db", default="toprung.db", help="the database file")
    parser.set_defaults(run=lambda options: asyncio.run(_with_keys(options, action)))
    return parser


async def _with_keys(options: argparse.Namespace, action: Action) -> None:
    from toprung.opening import open_async

    async with open_async(options.db) as boards:
        if boards.keys is None:
            raise Unavailable("this profile keeps no access keys")
        await action(options, boards.keys)


async def _create(options: argparse.Namespace, keys: Keys) -> None:
    _, text = await keys.create(
        options.name, options.verb or VERBS, options.board or (EVERY_BOARD,)
    )
    print(text)


async def _list(_options: argparse.Namespace, keys: Keys) -> None:
    for key in await keys.all():
        used = "never" if key.last_used_at is None else _day(key.last_used_at)
        print(f"{key.id}  {','.join(key.verbs)}  {','.join(key.boards)}  {used}  {key.name}")


async def _revoke(options: argparse.Namespace, keys: Keys) -> None:
    await keys.revoke(options.id)
    print(f"revoked {options.id}")


def _day(instant: int) -> str:
    return instant_datetime(instant).date().isoformat()
