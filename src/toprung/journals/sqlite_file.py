"""Opening the SQLite file: its two connections, its tables, and what is refused before use."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import apsw

from toprung.errors import DatabaseDamaged, StorageFailed
from toprung.files import claim
from toprung.journals.sqlite_migrations import migrate

BUSY_MILLISECONDS = 5_000
"""How long a write waits for another process that has locked the file."""

_APPLICATION_ID = 0x544F5052  # "TOPR"
_STATEMENTS_CACHED = 250
"""Of every connection; there are about 100 for each table that submissions fill."""


def connect(path: str, synchronous: str) -> tuple[apsw.Connection, apsw.Connection]:
    """The writer's connection and one for readers; in memory they are the same."""
    if path == ":memory:":
        connection = apsw.Connection(path, statementcachesize=_STATEMENTS_CACHED)
        return connection, connection
    try:
        os.close(claim(path))  # SQLite gives its log the permissions of the database
    except OSError as error:
        raise StorageFailed(f"cannot open {path!r}: {error.strerror}") from error
    try:
        writer = apsw.Connection(path, statementcachesize=_STATEMENTS_CACHED)
        _check_file(writer, path)  # before anything is written to it
        writer.set_busy_timeout(BUSY_MILLISECONDS)
        writer.execute("PRAGMA journal_mode = WAL").fetchall()
        writer.execute(f"PRAGMA synchronous = {synchronous}")
        writer.execute("PRAGMA wal_autocheckpoint = 4000")
        writer.execute("PRAGMA secure_delete = ON").fetchall()
        reader = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("PRAGMA cache_size = -16000")
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise DatabaseDamaged(f"{path!r} is not a database: {error}") from error
    except apsw.Error as error:
        raise StorageFailed(f"cannot open {path!r}: {error}") from error
    return writer, reader


def _check_file(connection: apsw.Connection, path: str) -> None:
    """Refuse the database of another program, and one that was cut.

    An empty file is as good as a new one. SQLite reads what is missing from the last page as
    zeros, and rows of zeros are no error to it; without a WAL the size tells.
    """
    wal = Path(f"{path}-wal")
    has_wal = wal.exists() and wal.stat().st_size > 0
    known = connection.execute("PRAGMA application_id").get
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    expected = connection.execute("PRAGMA page_count").get
    expected *= connection.execute("PRAGMA page_size").get
    fault = ""
    if known != _APPLICATION_ID and (known or tables):
        fault = "is a database, but not one of Toprung's"
    elif tables and not has_wal and Path(path).stat().st_size < expected:
        fault = f"has been cut: it should have {expected:,} bytes"
    if fault:
        connection.close()
        raise DatabaseDamaged(f"{path!r} {fault}")


def prepare(writer: apsw.Connection, path: str) -> str:
    """Make the tables of a new file, bring those of an older one up to date. Its random id."""
    execute = writer.execute
    try:
        if execute("PRAGMA application_id").get != _APPLICATION_ID:  # new: `connect` saw to it
            with writer:
                execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                migrate(writer, path)
                execute("INSERT INTO meta VALUES ('database', ?)", (uuid.uuid4().hex,))
        else:
            migrate(writer, path)
        database: str = execute("SELECT value FROM meta WHERE name = 'database'").get
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError) as error:
        raise DatabaseDamaged(f"{path!r} cannot be read: {error}") from error
    except apsw.Error as error:
        raise StorageFailed(f"{path!r} cannot be used: {error}") from error
    return database
