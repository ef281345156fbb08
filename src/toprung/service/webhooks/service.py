"""Webhooks as callers see them; their messages listed, and sent again."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import msgspec

from toprung.domain.access import EVERY_BOARD
from toprung.domain.effects import EFFECT_STATES, EffectState, StoredEffect
from toprung.domain.trust.act import ActName
from toprung.domain.values import bounded, parse_choice, parse_text, whole_or_text
from toprung.domain.webhooks import (
    TEST,
    WEBHOOKS_MAX,
    Deliveries,
    Delivery,
    TestResult,
    Webhook,
    WebhookInfo,
    message_id,
    parse_boards,
    parse_events,
    parse_secret,
    parse_url,
    parse_webhook_id,
    payload,
    secret_text,
    shown_delivery,
    shown_webhook,
)
from toprung.errors import Gone, Invalid, NotFound
from toprung.ports import Clock, EffectStore, FollowerStore, Poster, WebhookStore
from toprung.service.webhooks.book import WebhookBook
from toprung.service.webhooks.follower import follower_name, has_follower
from toprung.service.webhooks.sending import is_delivered, post_message

LISTED_MAX: Final = 1000
_SECRET_BYTES: Final = 32
_NONCE_BYTES: Final = 16


class Webhooks:
    """The webhooks of one database."""

    def __init__(
        self,
        store: WebhookStore,
        book: WebhookBook,
        followers: FollowerStore,
        effects: EffectStore,
        poster: Poster,
        clock: Clock,
    ) -> None:
        self._store = store
        self._book = book
        self._followers = followers
        self._effects = effects
        self._poster = poster
        self._clock = clock

    def across(self, crossing: Callable[[Any], Any]) -> Webhooks:
        """The same webhooks for callers who reach the stores by way of something else."""
        return Webhooks(
            crossing(self._store),
            self._book,
            crossing(self._followers),
            crossing(self._effects),
            self._poster,
            self._clock,
        )

    def allow_private_addresses(self) -> None:
        """Let webhooks of this process be at private addresses, such as this machine's."""
        self._poster.allows_private = True

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
        parse_webhook_id(webhook_id)
        parse_url(url)
        chosen, patterns = parse_events(events), parse_boards(boards)
        if secret is not None:
            parse_secret(secret)
        known = {each.id: each for each in await self._store.all()}
        before = known.get(webhook_id)
        now = self._clock.now()
        is_shown = before is None or secret is not None
        if before is None:
            await self._effects.drop(webhook_id)  # of one that had the same id
            webhook = Webhook(
                id=webhook_id,
                url=url,
                events=chosen,
                boards=patterns,
                secret=secret or secret_text(secrets.token_bytes(_SECRET_BYTES)),
                nonce=secrets.token_hex(_NONCE_BYTES),
                since=(await self._followers.last())[0],
                created_at=now,
                updated_at=now,
            )
        else:
            webhook = msgspec.structs.replace(
                before,
                url=url,
                events=chosen,
                boards=patterns,
                secret=secret or before.secret,
                since=await self._since(before, chosen, patterns),
                updated_at=max(now, before.updated_at + 1),
                disabled=None,
            )
        too_many = Invalid("", f"there are {WEBHOOKS_MAX} webhooks already; delete some first")
        if before is None and len(known) >= WEBHOOKS_MAX:
            raise too_many
        await self._note("webhook.set", webhook_id)
        if not await self._store.put(webhook, WEBHOOKS_MAX):
            raise too_many
        self._book.forget()
        return shown_webhook(webhook, with_secret=is_shown)

    async def get(self, webhook_id: str) -> WebhookInfo:
        """Return a webhook, without its secret."""
        return shown_webhook(await self._find(webhook_id))

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with all its messages, also those that wait."""
        await self._find(webhook_id)
        await self._note("webhook.delete", webhook_id)
        removed = await self._store.remove(webhook_id)
        self._book.forget()
        await self._effects.drop(webhook_id)
        if not removed:
            raise _unknown(webhook_id)

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
        before = None if cursor is None else _parse_cursor(cursor)
        await self._find(webhook_id)
        found = await self._effects.listed(webhook_id, before, limit + 1, state)
        shown = tuple(map(shown_delivery, found[:limit]))
        return Deliveries(shown, str(found[limit - 1].number) if len(found) > limit else None)

    async def delivery(self, webhook_id: str, message: str) -> Delivery:
        """Return one message to a webhook, by its id."""
        return shown_delivery(await self._message(webhook_id, message))

    async def send_again(self, webhook_id: str, message: str) -> Delivery:
        """Send a message again, with the same id, as if it had never been tried.

        Gone if its content was dropped, because it named somebody who was erased.
        """
        stored = await self._message(webhook_id, message)
        if (await self._find(webhook_id)).disabled is not None:
            raise Invalid("", f"webhook {webhook_id!r} is disabled; set it again first")
        if not stored.effect.body:
            raise Gone(f"message {message!r} was delivered, and its content is not kept")
        if not await self._effects.send_again(webhook_id, message, self._clock.now()):
            raise _unknown_message(message)
        return shown_delivery(await self._message(webhook_id, message))

    async def test(self, webhook_id: str) -> TestResult:
        """Send a test message now; what its receiver made of it. It is not tried again."""
        webhook = await self._find(webhook_id)
        now = self._clock.now()
        message = message_id(webhook.nonce, f"{TEST} {now} {secrets.token_hex(8)}")
        body = payload(TEST, now, {"webhook": webhook.id})
        posted = await post_message(self._poster, webhook, message, body, now)
        return TestResult(message, is_delivered(posted), *posted)

    # Below this line `list` is no longer the type.
    async def list(self) -> list[WebhookInfo]:
        """Return all webhooks by id, without their secrets."""
        return [shown_webhook(each) for each in await self._store.all()]

    async def _note(self, name: ActName, subject: str) -> None:
        """Record an act before it happens: nothing happens without a trace."""

    async def _find(self, webhook_id: str) -> Webhook:
        parse_webhook_id(webhook_id)
        for webhook in await self._store.all():
            if webhook.id == webhook_id:
                return webhook
        raise _unknown(webhook_id)

    async def _message(self, webhook_id: str, message: str) -> StoredEffect:
        await self._find(webhook_id)
        stored = await self._effects.find(webhook_id, parse_text(message, "message"))
        if stored is None:
            raise _unknown_message(message)
        return stored

    async def _since(
        self, before: Webhook, events: tuple[str, ...], boards: tuple[str, ...]
    ) -> int:
        """Where a webhook that is put again goes on.

        One that was disabled, or had no follower, begins at the end. One that wants to know
        something else goes on where it is, and takes a new look at all ladders. Any other one does
        not notice.
        """
        if not has_follower(before):
            return (await self._followers.last())[0]
        if (before.events, before.boards) == (events, boards):
            return before.since
        state = (await self._followers.states()).get(follower_name(before))
        return before.since if state is None else max(before.since, state.position)


def _parse_cursor(cursor: object) -> int:
    number = whole_or_text(parse_text(cursor, "cursor"))
    if isinstance(number, int) and 0 < number < 2**63:
        return number
    raise Invalid("cursor", "is not a cursor of this list")


def _unknown(webhook_id: str) -> NotFound:
    return NotFound(f"there is no webhook {webhook_id!r}")


def _unknown_message(message: str) -> NotFound:
    return NotFound(f"there is no message {message!r}; old ones are not kept")
