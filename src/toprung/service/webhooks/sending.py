"""Messages on their way: signed, sent once, and what becomes of them."""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from toprung.domain.effects import Attempt, Effect, StoredEffect, failed, withdrawn
from toprung.domain.instant import SECOND
from toprung.domain.webhooks import (
    PLAYER_ERASED,
    Webhook,
    signature,
    target_of,
)
from toprung.ports import Clock, Journal, Posted, Poster, Sender
from toprung.service.webhooks.book import WebhookBook
from toprung.service.webhooks.messages import is_still_for, plain_message, rendered

GONE: Final = 410
_DELIVERED: Final = range(200, 300)
_REDIRECTS: Final = range(300, 400)

_log = logging.getLogger("toprung")


async def post_message(
    poster: Poster, webhook: Webhook, message: str, body: bytes, now: int
) -> Posted:
    """Send a message to a webhook once, signed."""
    target = target_of(webhook.url)
    assert target is not None, "its URL was checked when it was put"
    seconds = now // SECOND
    headers = (
        ("content-type", "application/json"),
        ("webhook-id", message),
        ("webhook-timestamp", str(seconds)),
        ("webhook-signature", signature(webhook.secret, message, seconds, body)),
    )
    posted = await poster.post(target, headers, body)
    if posted.status in _REDIRECTS and not posted.answer:
        return posted._replace(answer="redirects are not followed")
    return posted


def is_delivered(posted: Posted) -> bool:
    """Whether the receiver has taken the message."""
    return posted.status in _DELIVERED


class WebhookSender:
    """Sends messages to webhooks."""

    def __init__(self, book: WebhookBook, journal: Journal, poster: Poster, clock: Clock) -> None:
        self._book = book
        self._journal = journal
        self._poster = poster
        self._clock = clock

    async def send(self, stored: StoredEffect) -> Attempt:
        """Try it once. A receiver that answers 410 wants nothing more."""
        effect = stored.effect
        webhook = await self._book.find(effect.target)
        if _unwanted(webhook, effect):
            webhook = await self._book.find(effect.target, anew=True)
        reason = _unwanted(webhook, effect)
        if webhook is None or reason:
            return withdrawn(stored, self._clock.now(), reason)
        body = await rendered(effect, self._journal)
        if body is None:
            return withdrawn(stored, self._clock.now(), "it names a player who was erased")
        posted = await post_message(self._poster, webhook, effect.id, body, self._clock.now())
        now = self._clock.now()
        if is_delivered(posted):
            return Attempt(stored.number, "delivered", now, 0, posted.status, posted.answer)
        reason = "its receiver answered 410 Gone"
        if posted.status == GONE and await self._book.disable(webhook, reason):
            _log.warning("webhook %r is disabled: %s", webhook.id, reason)
        return failed(stored, now, *posted, for_good=posted.status == GONE)

    async def close(self) -> None:
        """Let go of connections."""
        await self._poster.close()


def _unwanted(webhook: Webhook | None, effect: Effect) -> str:
    """Why a webhook is not sent a message any more; empty if it is."""
    if webhook is None:
        return "the webhook was deleted"
    if webhook.disabled is not None:
        return f"the webhook is disabled: {webhook.disabled}"
    if not is_still_for(webhook, effect):
        return "the webhook is not for this board or event any more"
    return ""


class AnnouncementSender:
    """Turns an announcement into a message for each webhook that wants to know.

    Whether the queue of a webhook is full does not matter: announcements are few, and what they
    tell is known to nobody else.
    """

    def __init__(self, book: WebhookBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    async def send(self, stored: StoredEffect) -> Attempt:
        """Write the messages, in the commit that settles it."""
        effect, now = stored.effect, self._clock.now()
        if effect.type != PLAYER_ERASED:
            return failed(stored, now, None, "this process does not know this announcement")
        data = msgspec.json.decode(effect.body)
        messages = tuple(
            plain_message(webhook, effect.id, effect.type, stored.created_at, data, is_brief=True)
            for webhook in await self._book.all(anew=True)
            if webhook.disabled is None and webhook.wants(PLAYER_ERASED)
        )
        return Attempt(stored.number, "delivered", now, effects=messages)

    async def close(self) -> None:
        """There is nothing to let go of."""


_: tuple[type[Sender], ...] = (WebhookSender, AnnouncementSender)
