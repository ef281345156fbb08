"""The client library of PostgreSQL, which only clusters need."""

from __future__ import annotations

from typing import Any

from toprung.errors import MissingExtra


def driver() -> Any:
    """The asyncpg module; a missing one names its cure."""
    try:
        import asyncpg
    except ImportError:
        raise MissingExtra("cluster") from None
    return asyncpg
