"""The webhooks of a service."""

from __future__ import annotations

from toprung.client.encoding import encode, path
from toprung.client.remote import RemoteFace
from toprung.client.transport import Request
from toprung.domain.access import EVERY_BOARD
from toprung.domain.webhooks import (
    WebhookInfo,
    parse_boards,
    parse_events,
    parse_secret,
    parse_url,
    parse_webhook_id,
)
from toprung.faces import WebhooksMethods


class Webhooks(WebhooksMethods, RemoteFace, runs="webhooks"):
    """Addresses that a service tells of what happens; they need a key that allows `admin`."""

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
        address = path("webhooks", parse_webhook_id(webhook_id))
        asked = {
            "url": parse_url(url),
            "events": parse_events(events),
            "boards": parse_boards(boards),
            "secret": None if secret is None else parse_secret(secret),
        }
        # Not sent again by itself: the secret is shown only once.
        request = Request(method="PUT", path=address, body=encode(asked))
        return await self._caller.call(request, WebhookInfo)
