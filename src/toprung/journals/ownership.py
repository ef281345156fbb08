"""One process owns a database file; a lock file beside it says which.

The lock is the operating system's (`flock`), so it goes with the process however that ends. The
file's text is only for people: who holds it and, if it serves, where.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import weakref
from typing import Any

from toprung.errors import DatabaseInUse, StorageFailed
from toprung.files import claim


class Ownership:
    """Exclusive ownership of a database file, from construction to `release`."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._file = claim(f"{path}.lock")
        except OSError as error:
            reason = error.strerror
            if error.errno == errno.ELOOP:
                reason = f"its lock file {path + '.lock'!r} is a symbolic link; remove it"
            raise StorageFailed(f"cannot open {path!r}: {reason}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 4096, 0)
            os.close(self._file)
            raise _in_use(path, holder) from None
        self.announce(None)
        _living.add(self)

    def announce(self, url: str | None) -> None:
        """Say who owns the file and at which address it serves."""
        text = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text, 0)

    def release(self) -> None:
        """Give the file up; harmless when done twice."""
        if self._file >= 0:
            os.ftruncate(self._file, 0)
            fcntl.flock(self._file, fcntl.LOCK_UN)  # processes forked meanwhile may have it open
            os.close(self._file)
            self._file = -1

    def abandon(self) -> None:
        """In a forked process: leave the file to the one that owns it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _abandon_all() -> None:
    for ownership in list(_living):
        ownership.abandon()


_living: weakref.WeakSet[Ownership] = weakref.WeakSet()
os.register_at_fork(after_in_child=_abandon_all)


def _in_use(path: str, holder: bytes) -> DatabaseInUse:
    who: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        who = json.loads(holder)
    pid, url = who.get("pid"), who.get("url")
    text = f"database {path!r} is in use"
    if pid is not None:
        text += f" by process {pid}"
    if url is not None:
        text += f", which serves it at {url}"
    return DatabaseInUse(text, pid=pid, url=url)
