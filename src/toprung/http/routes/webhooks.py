"""Webhooks: set, shown, deleted, tested; their messages listed and sent again.

They need a key that allows `admin` on all boards that a webhook names.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from toprung.domain.access import EVERY_BOARD
from toprung.domain.webhooks import (
    Deliveries,
    Delivery,
    TestResult,
    WebhookInfo,
    may_manage,
    parse_boards,
    parse_events,
)
from toprung.errors import NotFound
from toprung.http.answers import NO_STORE, Answer, Empty, ok
from toprung.http.call import Call
from toprung.http.problems import Refused
from toprung.http.requests import NoQuery
from toprung.http.routing import Routes
from toprung.http.strict import members_of
from toprung.service.webhooks.service import LISTED_MAX

routes = Routes()

_FORBIDDEN = (
    "this needs a key that allows 'admin' on all boards that the webhook names, and on all boards"
    " for the events player.erased and *"
)


class WebhookBody(Struct, forbid_unknown_fields=True):
    """A webhook to set."""

    url: str
    """Where requests go: http or https, without user and fragment."""
    events: tuple[str, ...]
    """Types of events: board.changed, leader.changed, player.erased; * for all."""
    boards: tuple[str, ...] = (EVERY_BOARD,)
    """Patterns of board ids, in which * stands for any characters."""
    secret: str | None = None
    """What requests are signed with: whsec_ and 24 to 64 bytes in base64. Without one, a webhook
    keeps its secret, and a new one gets one."""


class NoBody(Struct, forbid_unknown_fields=True):
    """Nothing: an empty object."""


class WebhooksAnswer(Struct):
    """All webhooks that the key may manage, by id."""

    webhooks: list[WebhookInfo]


class DeliveriesQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """A page of messages."""

    state: Literal["waiting", "delivered", "dead"] | None = None
    limit: Annotated[int, Meta(ge=1, le=LISTED_MAX)] = 100
    cursor: str | None = None


@routes.get("/v1/webhooks", "admin", answer=WebhooksAnswer, checks_boards=True)
async def list_webhooks(call: Call[NoQuery, None]) -> Answer:
    """List the webhooks, without their secrets."""
    found = await call.boards.webhooks.list()
    return ok(WebhooksAnswer([each for each in found if _may_manage(call, each)]), (NO_STORE,))


@routes.put(
    "/v1/webhooks/{webhook}",
    "admin",
    body=WebhookBody,
    answer=WebhookInfo,
    also=(201,),
    grows=True,
    checks_boards=True,
)
async def put_webhook(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Create a webhook (201) or replace it (200); its secret is shown if it was given or generated.

    Without `secret`, a new webhook gets one, and an existing one keeps its own.
    """
    asked = members_of(call.body, WebhookBody)
    webhooks = call.boards.webhooks
    if call.key is not None:
        events, boards = parse_events(asked["events"]), parse_boards(asked.get("boards", ("*",)))
        if not may_manage(call.key, events, boards):
            raise Refused(403, "forbidden", _FORBIDDEN)
        for known in await webhooks.list():
            if known.id == call.values[0] and not _may_manage(call, known):
                raise Refused(403, "forbidden", _FORBIDDEN)
    put = await webhooks.put(call.values[0], **asked)
    return ok(put, (NO_STORE,), 201 if put.created_at == put.updated_at else 200)


@routes.get("/v1/webhooks/{webhook}", "admin", answer=WebhookInfo, also=(404,), checks_boards=True)
async def get_webhook(call: Call[NoQuery, None]) -> Answer:
    """Get a webhook, without its secret."""
    return ok(await _managed(call), (NO_STORE,))


@routes.delete("/v1/webhooks/{webhook}", "admin", also=(404,), checks_boards=True)
async def delete_webhook(call: Call[NoQuery, None]) -> Answer:
    """Delete a webhook with all its messages, also those that wait."""
    await _managed(call)
    await call.boards.webhooks.delete(call.values[0])
    return Empty()


@routes.get(
    "/v1/webhooks/{webhook}/deliveries",
    "admin",
    query=DeliveriesQuery,
    answer=Deliveries,
    also=(404,),
    checks_boards=True,
)
async def list_deliveries(call: Call[DeliveriesQuery, None]) -> Answer:
    """List messages to a webhook, newest first, with the last answer to each."""
    await _managed(call)
    asked = call.query
    found = await call.boards.webhooks.deliveries(
        call.values[0], asked.state, asked.limit, asked.cursor
    )
    return ok(found, (NO_STORE,))


@routes.get(
    "/v1/webhooks/{webhook}/deliveries/{message}",
    "admin",
    answer=Delivery,
    also=(404,),
    checks_boards=True,
)
async def get_delivery(call: Call[NoQuery, None]) -> Answer:
    """Get one message to a webhook."""
    await _managed(call)
    return ok(await call.boards.webhooks.delivery(*call.values), (NO_STORE,))


@routes.post(
    "/v1/webhooks/{webhook}/deliveries/{message}/replay",
    "admin",
    body=NoBody,
    answer=Delivery,
    also=(404, 410),
    checks_boards=True,
)
async def replay_delivery(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Send a message again, with the same id, as if it had never been tried."""
    members_of(call.body, NoBody)
    await _managed(call)
    return ok(await call.boards.webhooks.send_again(*call.values), (NO_STORE,))


@routes.post(
    "/v1/webhooks/{webhook}/test",
    "admin",
    body=NoBody,
    answer=TestResult,
    also=(404,),
    checks_boards=True,
)
async def test_webhook(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Send a test message now; what its receiver made of it. It is not tried again."""
    members_of(call.body, NoBody)
    await _managed(call)
    return ok(await call.boards.webhooks.test(call.values[0]), (NO_STORE,))


async def _managed(call: Call[Any, Any]) -> WebhookInfo:
    """The webhook in the address, if the caller may manage it.

    Whether there is one is not for keys that are for some boards only.
    """
    try:
        found = await call.boards.webhooks.get(call.values[0])
    except NotFound:
        if call.key is None or EVERY_BOARD in call.key.boards:
            raise
        found = None
    if found is None or not _may_manage(call, found):
        raise Refused(403, "forbidden", _FORBIDDEN)
    return found


def _may_manage(call: Call[Any, Any], webhook: WebhookInfo) -> bool:
    return call.key is None or may_manage(call.key, webhook.events, webhook.boards)
