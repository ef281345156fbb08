"""The migrations of the SQLite file: all or nothing, in order, and no other way to make a file."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

import toprung
from tests.stores import world
from tests.stores.loading import load_file
from toprung import errors
from toprung.journals.sqlite_migrations import MIGRATIONS
from toprung.testing.clock import FrozenClock

LATEST = len(MIGRATIONS)


def opened(path: str) -> Any:
    return toprung.open(path, clock=FrozenClock(world.END))


def tables(path: str) -> dict[str, Any]:
    """Everything about the tables of a file but the text of the statements that made them."""
    connection = apsw.Connection(path)
    names: list[Any] = list(
        connection.execute("SELECT type, name FROM sqlite_schema WHERE sql NOT NULL ORDER BY 1, 2")
    )
    found = {
        f"{kind} {name}": list(connection.execute(f"PRAGMA {kind}_xinfo({name})"))
        for kind, name in names
    }
    found["lists"] = sorted(connection.execute("PRAGMA table_list"))
    found["partial"] = [
        list(connection.execute(f"PRAGMA index_list({name})"))
        for kind, name in names
        if kind == "table"
    ]
    connection.close()
    return found


def format_of(path: str) -> int:
    connection = apsw.Connection(path)
    found = connection.execute("SELECT value FROM meta WHERE name = 'format'").get
    connection.close()
    return int(found)


@pytest.mark.parametrize("name", ["format-1", "format-2"])
def test_a_migrated_file_has_the_tables_of_a_new_one(name: str, tmp_path: Path) -> None:
    new = str(tmp_path / "new.db")
    opened(new).close()
    old = load_file(name, tmp_path / "old.db")
    opened(old).close()
    assert tables(old) == tables(new)
    assert format_of(old) == format_of(new) == LATEST


def test_the_first_two_migrations_make_what_older_versions_made(tmp_path: Path) -> None:
    made = str(tmp_path / "made.db")
    connection = apsw.Connection(made)
    for number, apply in enumerate(MIGRATIONS[:2], 1):
        apply(connection)
        theirs = tables(load_file(f"format-{number}", tmp_path / f"{number}.db"))
        ours = tables(made)
        keys = next(row for row in theirs["lists"] if row[1] == "access_keys")
        theirs["lists"].remove(keys)  # a service had made it
        del theirs["table access_keys"]
        assert {key: theirs[key] for key in theirs if key != "partial"} == {
            key: ours[key] for key in ours if key != "partial"
        }
    connection.close()


@pytest.mark.parametrize("number", range(2, LATEST + 1))
def test_a_migration_that_is_interrupted_leaves_the_file_as_it_was(
    number: int, tmp_path: Path
) -> None:
    """The process is killed when all statements of a migration are done, before it is committed."""
    path, expected = (old_file_without_keys(tmp_path / name) for name in ("old.db", "expected.db"))
    connection = apsw.Connection(expected)
    for apply in MIGRATIONS[1 : number - 1]:
        apply(connection)
    connection.close()
    killed = kill_while_opening(path, number)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert format_of(path) == number - 1
    assert tables(path) == tables(expected)
    with opened(path) as boards:
        assert boards.verify() == []
        boards["blitz"].submit("ann", 1000)
        assert boards["blitz"].top(1)[0].player == "ann"
    assert format_of(path) == LATEST


def old_file_without_keys(path: Path) -> str:
    found = load_file("format-1", path)
    connection = apsw.Connection(found)
    connection.execute("DROP TABLE access_keys")
    connection.close()
    return found


def test_a_new_file_is_made_at_once_or_not_at_all(tmp_path: Path) -> None:
    path = str(tmp_path / "new.db")
    killed = kill_while_opening(path, LATEST)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    connection = apsw.Connection(path)
    assert connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    connection.close()
    with opened(path) as boards:
        boards.create("blitz").submit("ann", 1)
        assert boards.verify() == []


def kill_while_opening(path: str, number: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_OPENING, path, str(number)],
        capture_output=True,
        check=False,
    )


KILLED_WHILE_OPENING = """
import os, signal, sys
import toprung
from toprung.journals import sqlite_migrations

path, number = sys.argv[1], int(sys.argv[2])
migrations = list(sqlite_migrations.MIGRATIONS)
apply = migrations[number - 1]
migrations[number - 1] = lambda writer: (apply(writer), os.kill(os.getpid(), signal.SIGKILL))
sqlite_migrations.MIGRATIONS = migrations
toprung.open(path)
"""


@pytest.mark.parametrize("found", [str(LATEST + 1), "0", "next", ""])
def test_a_file_of_another_format_is_refused(found: str, tmp_path: Path) -> None:
    path = load_file("format-2", tmp_path / "old.db")
    connection = apsw.Connection(path)
    connection.execute("UPDATE meta SET value = ? WHERE name = 'format'", (found,))
    connection.close()
    before = tables(path)
    with pytest.raises(
        errors.DatabaseDamaged,
        match=f"has format {found}, this version of Toprung knows 1 to {LATEST}: a newer version",
    ):
        toprung.open(path)
    assert tables(path) == before


# --- what is recorded is left alone ---------------------------------------------------------------


def pages(path: str) -> list[bytes]:
    content = Path(path).read_bytes()
    return [content[at : at + 4096] for at in range(0, len(content), 4096)]


def make_older(path: str) -> None:
    """Give a file the layout of format 1."""
    first = apsw.Connection(":memory:")
    MIGRATIONS[0](first)
    names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    connection = apsw.Connection(path)
    for (table,) in set(connection.execute(names)) - set(first.execute(names)):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("DROP INDEX players_by_name")
    for table, column in (("submissions", "here"), ("players", "folded")):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("UPDATE meta SET value = '1' WHERE name = 'format'")
    connection.execute("VACUUM")
    connection.close()
    Path(f"{path}.checkpoint").unlink(missing_ok=True)


def test_what_is_recorded_is_not_written_again(tmp_path: Path) -> None:
    path = str(tmp_path / "long.db")
    with toprung.open(path, clock=FrozenClock(world.END), synchronous="normal") as boards:
        here, other = boards.create("here"), boards.create("other")
        for board in (here, other, here):
            board.submit_many([(f"player-{number}", number) for number in range(10_000)])
    make_older(path)
    before = pages(path)
    with opened(path) as boards:
        assert len(boards["here"].submissions("player-5").submissions) == 2
        assert boards.verify() == []
    after = pages(path)
    assert len(before) > 300
    assert sum(old != new for old, new in zip(before, after, strict=False)) < 10
    assert len(after) - len(before) < 40  # new tables and their indexes, all empty
