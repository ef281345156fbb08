"""Where webhooks are kept."""

from __future__ import annotations

from typing import Protocol

from toprung.domain.webhooks import Webhook


class WebhookStore(Protocol):
    """Where webhooks are kept, beside the journal: their secrets must not be in events.

    What is put or removed is durable when the call returns.
    """

    async def put(self, webhook: Webhook, most: int) -> bool:
        """Keep a webhook, in place of an older one with the same id; False if there is no room.

        `most` is how many there may be, however many are put at the same time.
        """
        ...

    async def all(self) -> list[Webhook]:
        """Every webhook, by id."""
        ...

    async def remove(self, webhook_id: str) -> bool:
        """Forget a webhook; whether there was one."""
        ...

    async def disable(self, webhook: Webhook, reason: str) -> bool:
        """Send it nothing more, unless it was put again since; whether that is new."""
        ...
