"""The checks of an embedded database: its owner, its integrity, its disk and its clock."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from toprung.doctor import CHECK_THE_TIME, Check, background_check, verdict
from toprung.errors import DatabaseInUse, ToprungError
from toprung.journals.ownership import Ownership
from toprung.journals.sqlite_time import known_fault

SQLITE_MIN: Final = (3, 51, 3)
FREE_BYTES_MIN: Final = 256 * 1024 * 1024


def examine_file(path: str, now: Callable[[], float] = time.time) -> list[Check]:
    """Look at a database file without changing it; never raises because of what it finds."""
    return list(_checks(Path(path).resolve(), now))


def _checks(path: Path, now: Callable[[], float]) -> Iterator[Check]:
    yield _sqlite_version()
    if not path.is_file():
        yield Check("file", False, f"there is no {str(path)!r}; specify the database with --db")
        return
    readable = os.access(path, os.R_OK) and os.access(path, os.W_OK)
    writable = readable and os.access(path.parent, os.W_OK)
    yield verdict(
        "permissions",
        writable,
        "can read and write",
        f"cannot read and write {str(path)!r} and its folder: chown or chmod them",
    )
    if not readable:
        return
    yield _disk_space(path)
    yield _integrity(path)
    yield _clock_jump(path, now())
    if writable:
        yield from _ownership(path)


def _sqlite_version() -> Check:
    text = apsw.sqlite_lib_version()
    version = tuple(int(part) for part in text.split("."))
    return verdict(
        "sqlite version",
        version >= SQLITE_MIN,
        text,
        f'{text} can lose commits: pip install --upgrade "apsw>=3.51.3"',
    )


def _disk_space(path: Path) -> Check:
    free = shutil.disk_usage(path.parent).free
    needed = max(FREE_BYTES_MIN, path.stat().st_size)  # a checkpoint is smaller than the journal
    return verdict(
        "disk space",
        free >= needed,
        f"{free // 2**20} MiB free",
        f"{free // 2**20} MiB free, {needed // 2**20} MiB needed: free some space",
    )


def _integrity(path: Path) -> Check:
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = str(connection.execute("PRAGMA quick_check(1)").get)
        finally:
            connection.close()
    except apsw.Error as error:
        found = str(error)
    return verdict(
        "integrity",
        found == "ok",
        "whole",
        f"damaged ({' '.join(found.split())}): restore a backup with toprung restore",
    )


def _clock_jump(path: Path, now: float) -> Check:
    """Whether this machine's clock agrees with what the file knows of the time."""
    text: str | None = None
    with suppress(apsw.Error):  # a damaged file is another check's
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            text = connection.execute("SELECT value FROM meta WHERE name = 'clock'").get
        finally:
            connection.close()
    fault = None if text is None else known_fault(text, int(now * 1e6))
    return verdict("clock jump", fault is None, "none", f"{fault}: {CHECK_THE_TIME}")


def _ownership(path: Path) -> Iterator[Check]:
    try:
        ownership = Ownership(str(path))
    except DatabaseInUse as error:
        yield Check("ownership", True, str(error))
        return
    except (ToprungError, OSError) as error:
        yield Check("ownership", False, f"{error}: check the disk and the folder's permissions")
        return
    ownership.release()
    yield Check("ownership", True, "not in use")
    yield from _opens(path)


def _opens(path: Path) -> Iterator[Check]:
    """Whether it opens, how the start went, and whether background work needs attention."""
    from toprung.opening import open as open_local

    checkpoint = Path(f"{path}.checkpoint")
    note = "with a checkpoint" if checkpoint.is_file() else "no checkpoint: starts by replaying"
    try:
        with open_local(path) as boards:
            boards.list(limit=1)
            status = boards.status()
    except (ToprungError, OSError) as error:
        yield Check("opens", False, f"{error}; restore a backup with toprung restore")
        return
    yield Check("opens", True, note)
    yield background_check(status.faults)
