"""The checks of an embedded database: who owns it, whether it is whole, whether there is room."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from toprung.doctor import Check, verdict
from toprung.errors import DatabaseInUse, ToprungError
from toprung.journals.ownership import Ownership

SQLITE_MIN: Final = (3, 51, 3)
FREE_BYTES_MIN: Final = 256 * 1024 * 1024


def examine_file(path: str) -> list[Check]:
    """Look at a database file without changing it; never raises because of what it finds."""
    return list(_checks(Path(path).resolve()))


def _checks(path: Path) -> Iterator[Check]:
    yield _sqlite_version()
    if not path.is_file():
        yield Check("file", False, f"there is no {str(path)!r}; name the database with --db")
        return
    readable = os.access(path, os.R_OK) and os.access(path, os.W_OK)
    writable = readable and os.access(path.parent, os.W_OK)
    yield verdict(
        "permissions",
        writable,
        "may read and write",
        f"may not read and write {str(path)!r} and its folder: chown or chmod them",
    )
    if not readable:
        return
    yield _disk_space(path)
    yield _integrity(path)
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
        f"{free // 2**20} MiB free, {needed // 2**20} MiB are wanted: make room",
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


def _ownership(path: Path) -> Iterator[Check]:
    try:
        ownership = Ownership(str(path))
    except DatabaseInUse as error:
        yield Check("ownership", True, str(error))
        return
    except (ToprungError, OSError) as error:
        yield Check("ownership", False, f"{error}: look at the disk and the folder's permissions")
        return
    ownership.release()
    yield Check("ownership", True, "nobody has it open")
    yield _opens(path)


def _opens(path: Path) -> Check:
    """Whether it opens, and how the start went."""
    from toprung.opening import open as open_local

    checkpoint = Path(f"{path}.checkpoint")
    note = "with a checkpoint" if checkpoint.is_file() else "no checkpoint: starts by replaying"
    try:
        with open_local(path) as boards:
            boards.list(limit=1)
    except (ToprungError, OSError) as error:
        return Check("opens", False, f"{error}; restore a backup with toprung restore")
    return Check("opens", True, note)
