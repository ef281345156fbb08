"""Names of players as they are looked for, in the SQLite file.

They are folded once, when they are set, so that an index finds them by how they begin. Files from
before there was such a thing get theirs when they are opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from toprung.domain.player import fold_name, name_range

if TYPE_CHECKING:
    from toprung.journals.sqlite_store import SqliteStore


def add_folded_names(writer: apsw.Connection) -> None:
    """Fold the names of a file in which they are not."""
    columns = {row[1] for row in writer.execute("PRAGMA table_info(players)")}
    if "folded" in columns:
        return
    with writer:
        writer.execute("ALTER TABLE players ADD COLUMN folded TEXT")
        named: list[Any] = writer.execute(
            "SELECT number, name FROM players WHERE name IS NOT NULL"
        ).fetchall()
        writer.executemany(
            "UPDATE players SET folded = ? WHERE number = ?",
            [(fold_name(name), number) for number, name in named],
        )
        writer.execute(
            "CREATE INDEX players_by_name ON players (folded, id) WHERE folded IS NOT NULL"
        )


def players_named(store: SqliteStore, prefix: str, limit: int) -> list[str]:
    """Ids of the players whose names begin with `prefix`, by name, namesakes by id."""
    rows = store.select(
        "SELECT id FROM players WHERE folded >= ? AND folded < ? ORDER BY folded, id LIMIT ?",
        (*name_range(prefix), limit),
    )
    return [row[0] for row in rows]
