"""The webhooks that there are, read again now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple

from toprung.domain.webhooks import Webhook
from toprung.ports import Clock, WebhookStore
from toprung.waiting.blocking import running_loop

RELOAD_AFTER: Final = 1_000_000
"""Microseconds after which webhooks are read again: another process may have changed one."""


class _Reading(NamedTuple):
    """What the store held, at the earliest when it was asked."""

    webhooks: Mapping[str, Webhook]
    asked_at: int
    changes: int
    """How often something had changed by then: whoever began before a change is not believed."""


class WebhookBook:
    """Webhooks by id, as of a moment ago. Any thread may ask.

    What cannot be taken back because a webhook is missing or disabled goes by `anew`: the webhook
    may have been put since the book was read.
    """

    def __init__(self, store: WebhookStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._last: _Reading | None = None
        self._changes = 0
        self._loading = asyncio.Lock()

    async def all(self, *, anew: bool = False) -> list[Webhook]:
        """Every webhook, by id; `anew`: as they are now."""
        if anew:
            self.forget()
        return list((await self._fresh()).values())

    async def find(self, webhook_id: str, *, anew: bool = False) -> Webhook | None:
        """A webhook by its id; `anew`: as it is now."""
        if anew:
            self.forget()
        return (await self._fresh()).get(webhook_id)

    async def disable(self, webhook: Webhook, reason: str) -> bool:
        """Send a webhook nothing more, until it is put again; whether that is new."""
        is_new = await self._store.disable(webhook, reason)
        self.forget()
        return is_new

    def forget(self) -> None:
        """Read them again before the next use: something has changed."""
        self._changes += 1

    async def _fresh(self) -> Mapping[str, Webhook]:
        """Read them if they are not fresh; those who ask meanwhile wait for the answer."""
        if running_loop() is None:  # threads cannot wait for such a lock: each reads for itself
            return await self._read()
        async with self._loading:
            return await self._read()

    async def _read(self) -> Mapping[str, Webhook]:
        now, changes, last = self._clock.elapsed(), self._changes, self._last
        if last is None or last.changes != changes or now - last.asked_at > RELOAD_AFTER:
            webhooks = {webhook.id: webhook for webhook in await self._store.all()}
            self._last = last = _Reading(webhooks, now, changes)
        return last.webhooks
