"""`toprung webhook`: set, list, show, delete and test webhooks; see and replay their messages."""

from __future__ import annotations

from typing import Annotated

import typer

from toprung.cli.options import CommandGroup, Count, Cursor, Target, command
from toprung.cli.show import Cell, Column, filled, moment, note, print_json, print_table, say
from toprung.cli.target import opened
from toprung.domain.access import EVERY_BOARD
from toprung.domain.webhooks import EVENT_TYPES, Delivery, WebhookInfo

Id = Annotated[str, typer.Argument(metavar="ID", help="the webhook's id")]
Message = Annotated[str, typer.Argument(metavar="MESSAGE", help="the message's id")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    webhook = typer.Typer(
        cls=CommandGroup,
        name="webhook",
        help="Tell other programs what happens.",
        no_args_is_help=True,
    )
    command(webhook, "set")(set_webhook)
    command(webhook, "list")(list_webhooks)
    command(webhook)(show)
    command(webhook)(delete)
    command(webhook)(deliveries)
    command(webhook)(replay)
    command(webhook)(test)
    app.add_typer(webhook)


def set_webhook(
    target: Target,
    id: Id,
    address: Annotated[str, typer.Argument(metavar="URL", help="where requests go")],
    event: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE", help=f"{', '.join(EVENT_TYPES)}; repeatable", show_default="all"
        ),
    ] = None,
    board: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="board ids, such as eu-*; repeatable", show_default="all"
        ),
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="SECRET",
            help="what requests are signed with; whsec_ and base64",
            show_default="a new one, or the present one",
        ),
    ] = None,
) -> None:
    """Create or replace a webhook. Its secret is shown only once."""
    with opened(target, create=True) as boards:
        found = boards.webhooks.put(id, address, event or ["*"], board or [EVERY_BOARD], secret)
    if target.json:
        print_json(found)
    else:
        say(found.secret or f"set {id}")


def list_webhooks(target: Target) -> None:
    """List all webhooks, without their secrets."""
    with opened(target) as boards:
        found = boards.webhooks.list()
    if target.json:
        print_json({"webhooks": found})
        return
    titles = ("id", "events", "boards", "state", "url")
    rows = [
        (each.id, ",".join(each.events), ",".join(each.boards), _state(each), each.url)
        for each in found
    ]
    print_table([Column(title) for title in titles], rows)
    if not rows:
        note("there are no webhooks")


def show(target: Target, id: Id) -> None:
    """Show a webhook, without its secret."""
    with opened(target) as boards:
        found = boards.webhooks.get(id)
    if target.json:
        print_json(found)
        return
    rows = [
        ("url", found.url),
        ("events", ", ".join(found.events)),
        ("boards", ", ".join(found.boards)),
        ("created", moment(found.created_at)),
        ("updated", moment(found.updated_at)),
        ("state", _state(found)),
        *([] if found.disabled is None else [("reason", found.disabled)]),
    ]
    print_table([Column("webhook"), Column(found.id)], rows)


def delete(target: Target, id: Id) -> None:
    """Delete a webhook with all its messages."""
    with opened(target) as boards:
        boards.webhooks.delete(id)
    if target.json:
        print_json({"deleted": id})
    else:
        say(f"deleted {id}")


def deliveries(
    target: Target,
    id: Id,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="STATE", help="only those waiting, delivered or dead", show_default="all"
        ),
    ] = None,
    n: Count = 20,
    cursor: Cursor = None,
) -> None:
    """List messages to a webhook, newest first."""
    with opened(target) as boards:
        found = boards.webhooks.deliveries(id, state, n, cursor)  # type: ignore[arg-type]
    if target.json:
        print_json(found)
        return
    columns = [Column("message"), Column("type"), Column("created"), Column("state")]
    columns += [Column("attempts", True), Column("next attempt")]
    columns += [Column("status", True), Column("answer")]
    print_table(*filled(columns, [_row(each) for each in found.deliveries]))
    if not found.deliveries:
        note("there are no messages")
    if found.next is not None:
        note(f"there are older ones: --cursor {found.next}")


def replay(target: Target, id: Id, message: Message) -> None:
    """Send a message again, with the same id."""
    with opened(target) as boards:
        found = boards.webhooks.send_again(id, message)
    if target.json:
        print_json(found)
    else:
        say(f"{found.message} is sent again")


def test(target: Target, id: Id) -> None:
    """Send a test message now, and show the answer."""
    with opened(target) as boards:
        found = boards.webhooks.test(id)
    if target.json:
        print_json(found)
    else:
        who = "the receiver" if found.status is None else str(found.status)
        word = "delivered" if found.delivered else "not delivered"
        say(f"{word}: {who} {found.answer}".rstrip())
    if not found.delivered:
        raise typer.Exit(1)


def _state(webhook: WebhookInfo) -> str:
    return "enabled" if webhook.disabled is None else "disabled"


def _row(delivery: Delivery) -> tuple[Cell, ...]:
    return (
        delivery.message,
        delivery.type,
        delivery.created_at,
        delivery.state,
        delivery.attempts,
        delivery.next_at,
        delivery.status,
        delivery.answer.partition("\n")[0] or None,
    )
