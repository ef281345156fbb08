"""`toprung backup`, `restore`, `verify` and `rebuild`: care for what is recorded."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated, Final

import typer

from toprung.cli.options import Database, DatabaseFile, Target, command
from toprung.cli.outcome import FAILED
from toprung.cli.show import print_json, say
from toprung.cli.target import local_file, opened, opened_itself, unserved
from toprung.errors import DatabaseDamaged, Invalid, NotFound
from toprung.files import replace, sync_folder

BESIDE: Final = ("-wal", "-shm", ".checkpoint")
"""What may lie beside a database file and belongs to its old content."""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app)(backup)
    command(app)(restore)
    command(app)(verify)
    command(app)(rebuild)


def backup(
    target: Target,
    file: Annotated[str, typer.Argument(metavar="FILE", help="a new file for the backup")],
) -> None:
    """Back up the database to a new file, even while it is in use."""
    with opened(target) as boards:
        boards.backup(file)
    size = Path(file).stat().st_size
    if target.json:
        print_json({"file": file, "bytes": size})
    else:
        say(f"{file}: {size} bytes")


def restore(
    target: DatabaseFile,
    file: Annotated[str, typer.Argument(metavar="FILE", help="a backup")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="replace the existing database")
    ] = False,
) -> None:
    """Restore a database from a backup, after verifying it."""
    from toprung.journals.ownership import Ownership

    path = Path(local_file(target, "restore")).resolve()
    if not Path(file).is_file():
        raise NotFound(f"there is no backup {file!r}")
    if path.exists() and not overwrite:
        raise Invalid("db", f"{str(path)!r} already exists; use --overwrite to replace it")
    if path.exists() and path.samefile(file):
        raise Invalid("file", "the backup and the database are the same file")
    with unserved():
        ownership = Ownership(str(path))  # nobody opens it meanwhile, and nobody has it open
    try:
        boards = _put_in_place(Path(file), path)
    finally:
        ownership.release()
    if target.json:
        print_json({"db": str(path), "boards": boards, "verified": True})
    else:
        say(f"restored {path}: {boards} boards, verified")


def verify(target: Database) -> None:
    """Compare all ladders with the journal and list differences."""
    with opened_itself(target) as boards:
        differences = boards.verify()
    if target.json:
        print_json({"differences": differences})
    else:
        for difference in differences:
            say(difference)
        say(f"{len(differences)} differences" if differences else "no differences")
    if differences:
        raise typer.Exit(FAILED)


def rebuild(target: Database) -> None:
    """Rebuild all ladders from the journal."""
    with opened_itself(target) as boards:
        boards.rebuild()
    if target.json:
        print_json({"rebuilt": True})
    else:
        say("rebuilt all ladders")


def _put_in_place(backup: Path, path: Path) -> int:
    """Copy, check, and only then replace; how many boards it has."""
    from toprung.journals.sqlite_identity import take_place
    from toprung.journals.sqlite_webhooks import renew_nonces

    copy = path.with_name(f"{path.name}.restoring")
    try:
        _copy(backup, copy)
        boards = _check(copy)
        renew_nonces(str(copy))
        take_place(str(copy), str(path))
        for ending in BESIDE:
            Path(f"{path}{ending}").unlink(missing_ok=True)
        copy.replace(path)
        sync_folder(path.parent)
    finally:
        for ending in ("", ".lock", *BESIDE):
            Path(f"{copy}{ending}").unlink(missing_ok=True)
    return boards


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, replace(target) as write:
        shutil.copyfileobj(read, write, 1 << 20)
        write.flush()
        os.fsync(write.fileno())


def _check(copy: Path) -> int:
    """The number of boards, if the copy is a whole and sound database."""
    import apsw

    from toprung.opening import open as open_local

    if copy.stat().st_size == 0:
        raise DatabaseDamaged("the backup is empty")
    with open_local(copy) as boards:
        found = 0
        after = ""
        while page := boards.list(after):
            found += len(page)
            after = page[-1].id
        if differences := boards.verify():
            raise DatabaseDamaged(f"the backup is inconsistent: {differences[0]}")
    connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        verdict = connection.execute("PRAGMA integrity_check(1)").get
    finally:
        connection.close()
    if verdict != "ok":
        raise DatabaseDamaged(f"the backup is damaged: {verdict}")
    return found
