"""Webhooks in PostgreSQL: a table beside the journal, as access keys have one."""

from __future__ import annotations

from typing import Any

from toprung.domain.webhooks import Webhook
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.ports import WebhookStore


class PostgresWebhooks:
    """The webhooks that all processes of a cluster share."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def put(self, webhook: Webhook, most: int) -> bool:
        """Keep a webhook, unless there are as many others as may be."""
        async with self._store.connection(writes=True) as connection, connection.transaction():
            await connection.execute("LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE")
            status: str = await connection.execute(
                statement("put_webhook"),
                webhook.id,
                webhook.url,
                list(webhook.events),
                list(webhook.boards),
                webhook.secret,
                webhook.nonce,
                webhook.since,
                webhook.created_at,
                webhook.updated_at,
                webhook.disabled,
                most,
            )
        return status != "INSERT 0 0"

    async def all(self) -> list[Webhook]:
        """Every webhook, by id."""
        async with self._store.connection() as connection:
            rows: list[Any] = await connection.fetch("SELECT * FROM webhooks ORDER BY id")
        return [
            Webhook(
                id=row["id"],
                url=row["url"],
                events=tuple(row["events"]),
                boards=tuple(row["boards"]),
                secret=row["secret"],
                nonce=row["nonce"],
                since=row["since"],
                created_at=row["created_at"],
                updated_at=row["updated_at"],
                disabled=row["disabled"],
            )
            for row in rows
        ]

    async def remove(self, webhook_id: str) -> bool:
        """Forget a webhook; whether there was one."""
        status = await self._store.execute("DELETE FROM webhooks WHERE id = $1", webhook_id)
        return status != "DELETE 0"

    async def disable(self, webhook: Webhook, reason: str) -> bool:
        """Send it nothing more, unless it was put again since; whether that is new."""
        status = await self._store.execute(
            "UPDATE webhooks SET disabled = $4 WHERE id = $1 AND nonce = $2 AND updated_at = $3"
            " AND disabled IS NULL",
            webhook.id,
            webhook.nonce,
            webhook.updated_at,
            reason,
        )
        return status != "UPDATE 0"


_: type[WebhookStore] = PostgresWebhooks
