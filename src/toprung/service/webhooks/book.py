"""The webhooks that there are, read again now and then."""

from __future__ import annotations

import asyncio
from typing import Final

from toprung.domain.webhooks import Webhook
from toprung.ports import Clock, WebhookStore
from toprung.waiting.blocking import running_loop

RELOAD_AFTER: Final = 1_000_000
"""Microseconds after which webhooks are read again: another process may have changed one."""


class WebhookBook:
    """Webhooks by id, as of a moment ago.

    What cannot be taken back because a webhook is missing or disabled goes by `anew`: the webhook
    may have been put since the book was read.
    """

    def __init__(self, store: WebhookStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, Webhook] = {}
        self._loaded_at: int | None = None
        self._changes = 0
        """How often something has changed, so that a read that began before does not count."""
        self._loading = asyncio.Lock()

    async def all(self, *, anew: bool = False) -> list[Webhook]:
        """Every webhook, by id; `anew`: as they are now."""
        if anew:
            self.forget()
        await self._refresh()
        return list(self._known.values())

    async def find(self, webhook_id: str, *, anew: bool = False) -> Webhook | None:
        """A webhook by its id; `anew`: as it is now."""
        if anew:
            self.forget()
        await self._refresh()
        return self._known.get(webhook_id)

    async def disable(self, webhook: Webhook, reason: str) -> bool:
        """Send a webhook nothing more, until it is put again; whether that is new."""
        is_new = await self._store.disable(webhook, reason)
        self.forget()
        return is_new

    def forget(self) -> None:
        """Read them again before the next use: something has changed."""
        self._loaded_at = None
        self._changes += 1

    async def _refresh(self) -> None:
        """Read them if they are not fresh; those who ask meanwhile wait for the answer."""
        if running_loop() is None:  # threads cannot wait for such a lock: each reads for itself
            await self._load()
            return
        async with self._loading:
            await self._load()

    async def _load(self) -> None:
        now, changes = self._clock.elapsed(), self._changes
        if self._loaded_at is None or now - self._loaded_at > RELOAD_AFTER:
            self._known = {webhook.id: webhook for webhook in await self._store.all()}
            self._loaded_at = now if changes == self._changes else None
