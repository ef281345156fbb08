"""The webhooks of a service."""

from __future__ import annotations

import msgspec

from toprung.client.caller import Caller
from toprung.client.encoding import encode, path, query
from toprung.client.transport import Request
from toprung.domain.access import EVERY_BOARD
from toprung.domain.effects import EFFECT_STATES, EffectState
from toprung.domain.player import check_text
from toprung.domain.values import bounded, parse_choice, parse_text
from toprung.domain.webhooks import (
    Deliveries,
    Delivery,
    TestResult,
    WebhookInfo,
    parse_boards,
    parse_events,
    parse_secret,
    parse_url,
    parse_webhook_id,
)
from toprung.service.webhooks.service import LISTED_MAX


class _Webhooks(msgspec.Struct):
    webhooks: list[WebhookInfo]


class Webhooks:
    """Addresses that a service tells of what happens; they need a key that allows `admin`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def put(
        self,
        webhook_id: str,
        url: str,
        events: tuple[str, ...] | list[str],
        boards: tuple[str, ...] | list[str] = (EVERY_BOARD,),
        secret: str | None = None,
    ) -> WebhookInfo:
        """Create a webhook, or replace all of one but its secret, unless that is given.

        The answer shows the secret if it was given or generated; it cannot be read again. A webhook
        that was disabled is enabled, and is told of what happens from now on.
        """
        address = _webhook(webhook_id)
        asked = {
            "url": parse_url(url),
            "events": parse_events(events),
            "boards": parse_boards(boards),
            "secret": None if secret is None else parse_secret(secret),
        }
        # Not sent again by itself: the secret is shown only once.
        request = Request(method="PUT", path=address, body=encode(asked))
        return await self._caller.call(request, WebhookInfo)

    async def get(self, webhook_id: str) -> WebhookInfo:
        """Return a webhook, without its secret."""
        request = Request(method="GET", path=_webhook(webhook_id), effect="none")
        return await self._caller.call(request, WebhookInfo)

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with all its messages, also those that wait."""
        address = _webhook(webhook_id)
        await self._caller.answer(Request(method="DELETE", path=address, effect="idempotent"))

    async def deliveries(
        self,
        webhook_id: str,
        state: EffectState | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Deliveries:
        """Return messages to a webhook, newest first, at most 1,000 at a time.

        `state` leaves those that are ``waiting``, ``delivered`` or ``dead``.
        """
        bounded(limit, LISTED_MAX, "limit")
        if state is not None:
            parse_choice(state, EFFECT_STATES, "state")
        if cursor is not None:
            parse_text(cursor, "cursor")
        request = Request(
            method="GET",
            path=_webhook(webhook_id, "deliveries"),
            query=query(state=state, limit=limit, cursor=cursor),
            effect="none",
        )
        return await self._caller.call(request, Deliveries)

    async def delivery(self, webhook_id: str, message: str) -> Delivery:
        """Return one message to a webhook, by its id."""
        request = Request(method="GET", path=_message(webhook_id, message), effect="none")
        return await self._caller.call(request, Delivery)

    async def send_again(self, webhook_id: str, message: str) -> Delivery:
        """Send a message again, with the same id, as if it had never been tried.

        Gone if its content was dropped, because it named somebody who was erased.
        """
        address = _message(webhook_id, message, "replay")
        request = Request(method="POST", path=address, body=encode({}), effect="idempotent")
        return await self._caller.call(request, Delivery)

    async def test(self, webhook_id: str) -> TestResult:
        """Send a test message now; what its receiver made of it. It is not tried again."""
        request = Request(method="POST", path=_webhook(webhook_id, "test"), body=encode({}))
        return await self._caller.call(request, TestResult)

    # Below this line `list` is no longer the type.
    async def list(self) -> list[WebhookInfo]:
        """Return all webhooks by id, without their secrets."""
        request = Request(method="GET", path=path("webhooks"), effect="none")
        return (await self._caller.call(request, _Webhooks)).webhooks


def _webhook(webhook_id: str, *segments: str) -> str:
    return path("webhooks", parse_webhook_id(webhook_id), *segments)


def _message(webhook_id: str, message: str, *segments: str) -> str:
    return _webhook(webhook_id, "deliveries", check_text(message, 64, "message"), *segments)
