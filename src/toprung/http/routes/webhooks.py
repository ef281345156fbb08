"""Webhooks: a key must allow `admin` on all boards that a webhook names."""

from __future__ import annotations

from typing import Any

from toprung.contract import WebhooksAnswer
from toprung.domain.access import EVERY_BOARD
from toprung.domain.webhooks import EVERY_EVENT, WebhookInfo, parse_boards, parse_events
from toprung.errors import NotFound
from toprung.http.answers import NO_STORE, Answer, ok
from toprung.http.auth import manages
from toprung.http.call import Call
from toprung.http.routing import Handler, Handlers
from toprung.http.running import handler_of
from toprung.http.strict import members_of
from toprung.operations import OPERATIONS, Operation
from toprung.operations.requests import NoQuery, WebhookBody

handles = Handlers()


@handles
async def list_webhooks(call: Call[NoQuery, None]) -> Answer:
    """Those that the key may manage."""
    found = await call.boards.webhooks.list()
    return ok(WebhooksAnswer([each for each in found if _manages(call, each)]), (NO_STORE,))


@handles
async def put_webhook(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """The key must be for what the webhook names now, and for what it will name."""
    asked = members_of(call.body, WebhookBody)
    webhooks = call.boards.webhooks
    if call.key is not None:
        check = call.state.gate.check_manages
        check(call, parse_events(asked["events"]), parse_boards(asked.get("boards", ("*",))))
        for known in await webhooks.list():
            if known.id == call.values[0]:
                check(call, known.events, known.boards)
    put = await webhooks.put(call.values[0], **asked)
    return ok(put, (NO_STORE,), 201 if put.created_at == put.updated_at else 200)


@handles
async def get_webhook(call: Call[NoQuery, None]) -> Answer:
    """The very one that the caller was found to manage."""
    return ok(await _managed(call), (NO_STORE,))


def _if_managed(operation: Operation) -> Handler:
    """A handler that first looks whether the caller may manage the webhook."""
    run = handler_of(operation)

    async def handle(call: Call[Any, Any]) -> Answer:
        if operation.body is not None:  # what is malformed is told to everybody
            members_of(call.body, operation.body)
        await _managed(call)
        return await run(call)

    return handle


for _operation in OPERATIONS.values():
    if _operation.runs.startswith("webhooks.") and _operation.variables:
        handles.all.setdefault(_operation.name, _if_managed(_operation))


async def _managed(call: Call[Any, Any]) -> WebhookInfo:
    """The webhook in the address, if the caller may manage it.

    Whether there is one is not for keys that are for some boards only.
    """
    try:
        found = await call.boards.webhooks.get(call.values[0])
    except NotFound:
        call.state.gate.check_manages(call, (EVERY_EVENT,), (EVERY_BOARD,))
        raise
    call.state.gate.check_manages(call, found.events, found.boards)
    return found


def _manages(call: Call[Any, Any], webhook: WebhookInfo) -> bool:
    return manages(call, webhook.events, webhook.boards)
