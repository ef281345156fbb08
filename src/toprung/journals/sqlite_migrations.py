"""The tables of the SQLite file, made by numbered migrations.

A file says in its row `format` of `meta` which migration was the last. A new file goes through all
of them, so there is no other description of the tables. Each is one transaction: whoever dies
meanwhile leaves the file as it was. None writes a row of `submissions`: there may be a billion.

To add one: a function, at the end of `MIGRATIONS`; statements go to `sql/sqlite/`. A migration
that has been released never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

import apsw

from toprung.domain.player import fold_name
from toprung.errors import DatabaseDamaged

Migration: TypeAlias = Callable[[apsw.Connection], None]


def migrate(writer: apsw.Connection, path: str) -> list[int]:
    """Apply the migrations that a file lacks; their numbers. A file of a newer version is refused.

    Without tables it lacks all of them.
    """
    done = _last(writer, path)
    missing = list(enumerate(MIGRATIONS, 1))[done:]
    for number, apply in missing:
        with writer:
            apply(writer)
            writer.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (str(number),))
    return [number for number, _ in missing]


def _last(writer: apsw.Connection, path: str) -> int:
    if not writer.execute("SELECT count(*) FROM sqlite_schema").get:
        return 0
    found = str(writer.execute("SELECT value FROM meta WHERE name = 'format'").get)
    if not found.isdecimal() or not 1 <= int(found) <= len(MIGRATIONS):
        raise DatabaseDamaged(
            f"{path!r} has format {found}, this version of Toprung knows 1 to {len(MIGRATIONS)}:"
            " a newer version wrote it; update this one"
        )
    return int(found)


# --- the migrations -------------------------------------------------------------------------------


def _journal(writer: apsw.Connection) -> None:
    writer.execute(_statements("0001_journal"))


def _names_and_links(writer: apsw.Connection) -> None:
    """Names as they are looked for, and links from submissions to those before on the same board.

    `players.folded` is what `fold_name` makes of the name, for an index that finds names by how
    they begin. `submissions.here` leads to the player's submission before this one on the same
    board, 0 if there is none; NULL where that is `previous`, or behind it in the chain.
    """
    if "folded" not in _columns(writer, "players"):  # some files of format 1 have them
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
    if "here" not in _columns(writer, "submissions"):
        writer.execute("ALTER TABLE submissions ADD COLUMN here INTEGER")


def _access_keys(writer: apsw.Connection) -> None:
    writer.execute(_statements("0003_access_keys"))
    if "owner" not in _columns(writer, "access_keys"):
        writer.execute("ALTER TABLE access_keys ADD COLUMN owner TEXT")


def _documents(writer: apsw.Connection) -> None:
    writer.execute(_statements("0004_documents"))


def _background(writer: apsw.Connection) -> None:
    writer.execute(_statements("0005_background"))


def _snapshots(writer: apsw.Connection) -> None:
    writer.execute(_statements("0006_snapshots"))


def _key_limits(writer: apsw.Connection) -> None:
    writer.execute(_statements("0007_key_limits"))


def _pending_names(writer: apsw.Connection) -> None:
    """Names that wait for a moderator; they are erased with their players."""
    if "pending_name" not in _columns(writer, "players"):
        writer.execute("ALTER TABLE players ADD COLUMN pending_name TEXT")
    writer.execute(
        "CREATE INDEX IF NOT EXISTS players_pending ON players (id, name, pending_name)"
        " WHERE pending_name IS NOT NULL"
    )


def _revoked(writer: apsw.Connection) -> None:
    writer.execute(_statements("0008_revoked"))


def _audit(writer: apsw.Connection) -> None:
    writer.execute(_statements("0010_audit"))


def _review(writer: apsw.Connection) -> None:
    writer.execute(_statements("0011_review"))


MIGRATIONS: Sequence[Migration] = (
    *(_journal, _names_and_links, _access_keys, _documents, _background),
    *(_snapshots, _key_limits, _revoked, _pending_names, _audit),
    _review,
)
"""By number, from 1."""


def _statements(name: str) -> str:
    return files(__package__).joinpath(f"sql/sqlite/{name}.sql").read_text()


def _columns(writer: apsw.Connection, table: str) -> set[str]:
    return {row[1] for row in writer.execute(f"PRAGMA table_info({table})")}
