"""Idempotency keys of a batch: which submissions are repeats, and what is remembered of new ones.

Keys are looked up before the players are locked, and inserted at the end: a key that another batch
has used meanwhile makes the insert come back short, and the batch is tried again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from toprung.domain.command import Receipt
from toprung.domain.idempotency import bare_key, key_digest, owner_of
from toprung.domain.outcomes import STATUSES, Outcomes
from toprung.domain.submission import Submission
from toprung.journals.postgres_store import statement


class Raced(Exception):  # noqa: N818 -- never leaves the journal
    """Another process used a key, or erased a player, meanwhile; the batch is tried again."""


def recorded_digest(generation: int, key: str) -> bytes:
    """What an owned key is remembered by; an unowned one, by what it was before keys had owners."""
    if owner_of(key) is None:
        return hashlib.blake2b(key.encode(), digest_size=16).digest()
    return key_digest(generation, key)


class Repeats:
    """The keys that a batch brings to one board."""

    def __init__(self, generation: int, forgotten: int, *, has_unowned: bool) -> None:
        """Keys used up to the position `forgotten` are free; `has_unowned`: some have no owner."""
        self._generation = generation
        self._has_unowned = has_unowned
        self._forgotten = forgotten
        self._wanted: set[bytes] = set()
        self._found: dict[bytes, Mapping[str, Any]] = {}
        self._rows: list[tuple[Any, ...]] = []

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def want(self, key: str) -> None:
        """Look this one up, too."""
        self._wanted.update(self._digests(key))

    def _digests(self, key: str) -> Iterator[bytes]:
        """Everything that a key may be remembered by."""
        yield recorded_digest(self._generation, key)
        if self._has_unowned:
            yield recorded_digest(self._generation, bare_key(key))

    async def look_up(self, connection: Any) -> None:
        """Find out which keys were used before."""
        rows = await connection.fetch(
            statement("find_keys"),
            self._generation,
            list(self._wanted),
            self._forgotten,
        )
        self._found = {row["key"]: row for row in rows}

    def first(self, submission: Submission) -> tuple[Receipt, bool] | None:
        """What the first with this key was told, and whether it was the same; None: it is new."""
        assert submission.key is not None
        rows = map(self._found.get, self._digests(submission.key))
        row = next((row for row in rows if row is not None), None)
        if row is None:
            return None
        told = msgspec.json.decode(row["outcome"], type=Outcomes)
        receipt = told.receipt(row["position"], STATUSES[row["status"]])
        return receipt, row["digest"] == submission.digest

    def add(self, submission: Submission, receipt: Receipt, number: int) -> None:
        """Remember what a new key led to."""
        assert submission.key is not None
        body = msgspec.json.encode(Outcomes(receipt.outcomes, receipt.skipped))
        status = STATUSES.index(receipt.status)
        key = recorded_digest(self._generation, submission.key)
        self._rows.append((key, submission.digest, receipt.submission, status, body, number))

    async def write(self, connection: Any, recorded_at: int) -> None:
        """Write what was added; Raced if one of the keys is not new any more."""
        if not self._rows:
            return
        self._rows.sort()
        added = await connection.fetch(
            statement("add_keys"),
            self._generation,
            recorded_at,
            self._forgotten,
            *[list(column) for column in zip(*self._rows, strict=True)],
        )
        if len(added) < len(self._rows):
            raise Raced
