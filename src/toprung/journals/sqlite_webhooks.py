"""Webhooks in one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

import apsw
import msgspec

from toprung.domain.webhooks import Webhook
from toprung.journals.besides import Execute
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import WebhookStore

_LISTS: Final = ("events", "boards")
"""Columns that hold JSON."""


class SqliteWebhooks:
    """The webhooks of one file."""

    def __init__(self, journal: SqliteJournal, store: SqliteStore) -> None:
        self._journal = journal
        self._store = store

    async def put(self, webhook: Webhook, most: int) -> bool:
        """Keep a webhook, unless there are as many others as may be."""
        values = msgspec.structs.asdict(webhook)
        for name in _LISTS:
            values[name] = msgspec.json.encode(values[name]).decode()

        def write(execute: Execute) -> bool:
            ((others,),) = execute("SELECT count(*) FROM webhooks WHERE id <> ?", (webhook.id,))
            if others >= most:
                return False
            execute("DELETE FROM webhooks WHERE id = ?", (webhook.id,))
            execute(
                "INSERT INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values.values(),)
            )
            return True

        return await self._journal.write_beside(write)

    async def all(self) -> list[Webhook]:
        """Every webhook, by id."""
        rows = self._store.select("SELECT * FROM webhooks ORDER BY id")
        return [_webhook(row) for row in rows]

    async def remove(self, webhook_id: str) -> bool:
        """Forget a webhook; whether there was one."""

        def write(execute: Execute) -> bool:
            known = execute("DELETE FROM webhooks WHERE id = ? RETURNING id", (webhook_id,))
            return bool(known.fetchall())

        return await self._journal.write_beside(write)

    async def disable(self, webhook: Webhook, reason: str) -> bool:
        """Send it nothing more, unless it was put again since; whether that is new."""

        def write(execute: Execute) -> bool:
            known = execute(
                "UPDATE webhooks SET disabled = ? WHERE id = ? AND nonce = ? AND updated_at = ?"
                " AND disabled IS NULL RETURNING id",
                (reason, webhook.id, webhook.nonce, webhook.updated_at),
            )
            return bool(known.fetchall())

        return await self._journal.write_beside(write)


def _webhook(row: Sequence[Any]) -> Webhook:
    values = dict(zip(Webhook.__struct_fields__, row, strict=True))
    for name in _LISTS:
        values[name] = msgspec.json.decode(values[name])
    return msgspec.convert(values, Webhook)


def renew_nonces(path: str) -> None:
    """Have the webhooks of a file that nobody uses send messages with ids of their own.

    After a restore positions are given again, and with them the ids of messages: receivers would
    take what happens from now on for repeats of what happened after the backup.
    """
    with closing(apsw.Connection(path)) as connection:
        connection.execute("UPDATE webhooks SET nonce = lower(hex(randomblob(16)))")


_: type[WebhookStore] = SqliteWebhooks
