"""What callers hear when SQLite refuses to write, and whether the file is still where it was."""

from __future__ import annotations

import os
from contextlib import suppress

import apsw

from toprung.errors import StorageFailed

FILE_LOST = (
    "the database file was deleted or replaced while it was in use, so nothing more is recorded; "
    "save what is there with a backup, then restart"
)


ROOM_BYTES_MIN = 1024 * 1024


class FileLostError(Exception):
    """The file that was written to is not the one at its path."""


def passing_reason(error: Exception) -> str | None:
    """Why a write was refused, if a later one may succeed; None for any other error."""
    if isinstance(error, apsw.FullError):
        return "the disk is full"
    if isinstance(error, apsw.BusyError):
        return "another process has locked the database file"
    if isinstance(error, apsw.ReadOnlyError):
        return "the database file is read-only"
    return None


def refused(reason: str) -> StorageFailed:
    """What callers hear of it."""
    return StorageFailed(f"{reason}; nothing was recorded")


class FilePlace:
    """The database file and its log, which must stay where they are while they are open.

    On Unix a file that is deleted can be written for as long as it is open, and nobody notices.
    """

    def __init__(self, path: str) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self._paths = () if path == ":memory:" else (path, f"{path}-wal")

    def is_kept(self) -> bool:
        """Whether both are the files they were when they were first seen. Two system calls."""
        for path in self._paths:
            try:
                found = os.stat(path)  # noqa: PTH116 -- after every commit
            except FileNotFoundError:
                if path in self._known:
                    return False
                continue  # the log comes with the first write
            except OSError:
                continue  # that says nothing about the file
            if self._known.setdefault(path, (found.st_dev, found.st_ino)) != (
                found.st_dev,
                found.st_ino,
            ):
                return False
        return True


def check_room(path: str) -> None:
    """Raise FullError if the disk has no room for a few commits, although one may still fit."""
    room = os.statvfs(path)
    if room.f_bavail * room.f_frsize < ROOM_BYTES_MIN:
        raise apsw.FullError("less than 1 MiB is free")


def keep_log(connection: apsw.Connection) -> None:
    """Have a connection leave the log's path alone at close: another database's may lie there."""
    with suppress(apsw.Error):
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
