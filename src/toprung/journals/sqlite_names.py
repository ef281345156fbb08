"""Names of players as they are looked for, in the SQLite file.

They are folded once, when they are set, so that an index finds them by how they begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toprung.domain.player import name_range

if TYPE_CHECKING:
    from toprung.journals.sqlite_store import SqliteStore


def players_named(store: SqliteStore, prefix: str, limit: int) -> list[str]:
    """Ids of the players whose names begin with `prefix`, by name, namesakes by id."""
    rows = store.select(
        "SELECT id FROM players WHERE folded >= ? AND folded < ? ORDER BY folded, id LIMIT ?",
        (*name_range(prefix), limit),
    )
    return [row[0] for row in rows]
