"""What a profile consists of, as the services know it."""

from __future__ import annotations

from dataclasses import dataclass

from toprung.ports import (
    Clock,
    Feed,
    Index,
    Journal,
    KeyStore,
    Maintenance,
    PastIndex,
    SnapshotStore,
)
from toprung.ports.rates import RateLimits
from toprung.service.activity import ActivityLog
from toprung.service.amending import Amendments
from toprung.service.archiving import Archives
from toprung.service.audit import AuditLog
from toprung.service.background.runner import Background
from toprung.service.endings import Endings
from toprung.service.guards import Guards
from toprung.service.movement import Movements
from toprung.service.naming import NameWords
from toprung.service.reviewing import Reviews
from toprung.service.run_secrets import RunSecrets
from toprung.service.snapshots import Snapshots
from toprung.service.webhooks.service import Webhooks


@dataclass(frozen=True)
class Parts:
    """The ports of an open profile, and what runs beside them."""

    journal: Journal
    index: Index
    clock: Clock
    maintenance: Maintenance
    keys: KeyStore | None
    """Access keys; None where none are stored."""
    feed: Feed | None
    """What tells of changes as they happen."""
    background: Background
    webhooks: Webhooks
    activity: ActivityLog
    """The newest submissions of boards."""
    endings: Endings
    """What closes and settles periods."""
    archives: Archives
    """What archives them."""
    amendments: Amendments
    """What amends them afterwards."""
    past: PastIndex
    """Ladders that are in archives."""
    snapshots: Snapshots
    """What takes snapshots of ladders."""
    snapshot_store: SnapshotStore
    movements: Movements
    runs: RunSecrets
    """What runs are started and checked with."""
    name_words: NameWords
    """What sends names of players to review."""
    audit: AuditLog
    """Who administered the database, and proof of all that was recorded."""
    rates: RateLimits
    """What counts the submissions of players and addresses."""
    guards: Guards
    """What is typical of boards."""
    reviews: Reviews
    """What submissions that wait for a verdict are listed and decided by."""
