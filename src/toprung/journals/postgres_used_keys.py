"""Idempotency keys in the database: what was recorded with them, and the new ones of a batch.

Keys are looked up before the players are locked, and inserted at the end: a key that another batch
has used meanwhile makes the insert come back short, and the batch is tried again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from toprung.domain.commands.outcomes import STATUSES
from toprung.domain.commands.repeats import KeyName, RecordedKey
from toprung.journals.postgres_store import statement


class Raced(Exception):  # noqa: N818 -- never leaves the journal
    """Another process used a key, or erased a player, meanwhile; the batch is tried again."""


KeyRow = tuple[bytes, bytes | None, int, int, bytes, int]
"""Key, digest of what was submitted, position, status, outcome, and the player's number."""


async def find_keys(
    connection: Any, generation: int, names: Collection[KeyName], forgotten: int
) -> dict[KeyName, RecordedKey]:
    """Those of a board's keys that were used after the position `forgotten`."""
    digests = [digest for _, digest in names]
    rows = await connection.fetch(statement("find_keys"), generation, digests, forgotten)
    return {
        (generation, row["key"]): RecordedKey(
            row["position"], row["digest"], STATUSES[row["status"]], row["outcome"]
        )
        for row in rows
    }


async def add_keys(
    connection: Any, generation: int, rows: Sequence[KeyRow], recorded_at: int, forgotten: int
) -> None:
    """Record new keys of a board; Raced if one of them is not new any more."""
    added = await connection.fetch(
        statement("add_keys"),
        generation,
        recorded_at,
        forgotten,
        *[list(column) for column in zip(*sorted(rows), strict=True)],
    )
    if len(added) < len(rows):
        raise Raced
