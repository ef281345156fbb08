"""Making a file of today look like one of an early version: without what migrations have added."""

from __future__ import annotations

from collections.abc import Callable

TABLES = (
    *("documents", "followers", "derived", "effects", "jobs", "webhooks"),
    *("snapshots", "snapshot_ladders", "snapshot_parts"),
    *("revoked", "histories", "layouts", "acts", "log_secrets"),
)
COLUMNS = (
    *(("access_keys", "expires_at"), ("access_keys", "addresses")),
    ("players", "pending_name"),
)


def make_older(execute: Callable[[str], object], to_format: int) -> None:
    """Have a file be of format 1 or 2, apart from what the caller takes away itself."""
    execute("DROP INDEX players_pending")
    for table, column in COLUMNS:
        execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    for table in TABLES:
        execute(f"DROP TABLE {table}")
    execute(f"UPDATE meta SET value = '{to_format}' WHERE name = 'format'")
