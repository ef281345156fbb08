"""What the audit log reads of a journal, beyond what followers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from toprung.domain.events import Event
from toprung.domain.ladder import Route


class LogRows(NamedTuple):
    """A part of the journal, as it is hashed: submissions are many, and stay text."""

    scores: bytes
    """JSON rows of (position, recorded_at, route, player, at, score, subscore, status), in order;
    empty if there are none."""
    routes: Mapping[int, tuple[str, int, str, Route]]
    """Board, version, source and route by number."""
    details: Sequence[tuple[int, int, bytes]]
    """(position, player, details) of those submissions that have any."""
    events: Sequence[Event]
    """Those that are no submissions, in order."""


class ActsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Which acts somebody wants to see: newest first, below a position."""

    limit: int
    before: int | None = None
    actor: str | None = None
    """The kind, or the kind and the id with a colon between."""
    board: str | None = None
    since: int | None = None
    """Microseconds."""
    until: int | None = None


class AuditStore(Protocol):
    """What the audit log reads. Nothing here changes anything."""

    async def log_rows(self, after: int, until: int) -> LogRows:
        """The events in (after, until], of which no more can appear. No longer than a stretch."""
        ...

    async def secrets(self, players: Sequence[int]) -> dict[int, bytes]:
        """What the salts of players are made of, where there is anything."""
        ...

    async def acts(self, asked: ActsAsked) -> list[Event]:
        """Events that are acts of administration, newest first."""
        ...
