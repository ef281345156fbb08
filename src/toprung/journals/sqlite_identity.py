"""Which database a file is, as against its copies.

A file has a random id (`database` in `meta`), which its copies have, too: checkpoints and `migrate`
go by it. A backup gets one more (`identity`), because it is a copy and not the original; whoever
restores it in the place of the original makes it the original again.
"""

from __future__ import annotations

import uuid
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import apsw

IDENTITY: Final = "identity"
_SELECT: Final = "SELECT name, value FROM meta WHERE name IN ('database', 'identity')"
_SET: Final = "INSERT OR REPLACE INTO meta VALUES ('identity', ?)"


def give_identity(copy: apsw.Connection) -> None:
    """Make a file that was just copied another database than the original."""
    # Without a file beside it: nobody but this connection knows of the copy.
    copy.execute("PRAGMA journal_mode = MEMORY")
    copy.execute("PRAGMA synchronous = FULL")
    copy.execute(_SET, (uuid.uuid4().hex,))


def take_place(copy: str, of: str) -> None:
    """Give a copy the identity of the file that it is going to replace, if it is a copy of it.

    A file that cannot be read has none to give: then the copy keeps its own.
    """
    if not Path(of).exists():
        return
    with (
        suppress(apsw.Error),
        closing(apsw.Connection(of, flags=apsw.SQLITE_OPEN_READWRITE)) as old,
    ):
        known = _ids(old)
        with closing(apsw.Connection(copy)) as connection:
            found = _ids(connection)
            if found["database"] == known.get("database"):
                connection.execute(_SET, (known.get(IDENTITY, known["database"]),))


def _ids(connection: apsw.Connection) -> dict[str, str]:
    return {str(name): str(value) for name, value in connection.execute(_SELECT)}
