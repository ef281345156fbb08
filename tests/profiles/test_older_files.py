"""A database and a checkpoint of format 1 open, are brought up to date and go on.

Its boards are `here` and `other`; "ann" submitted to them in turns.
"""

from __future__ import annotations

import logging
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import toprung
from toprung import errors
from toprung.testing.clock import FrozenClock

DATA = Path(__file__).parent / "data"
NOW = "2026-11-15T12:00:00Z"


@pytest.fixture(params=["with its checkpoint", "without"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found = tmp_path / "old.db"
    shutil.copy(DATA / "format-1.db", found)
    if request.param == "with its checkpoint":
        shutil.copy(DATA / "format-1.db.checkpoint", f"{found}.checkpoint")
    return str(found)


def history(boards: toprung.Leaderboards, board: str) -> list[object]:
    found: list[object] = []
    cursor = None
    while True:
        page = boards[board].submissions("ann", 2, cursor)
        found += [each.score for each in page.submissions]
        cursor = page.next
        if cursor is None:
            return found


def test_an_older_file_opens_and_goes_on(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING, "toprung"),
        toprung.open(path, clock=FrozenClock(NOW)) as boards,
    ):
        assert caplog.records == [], "the checkpoint is used"
        assert history(boards, "here") == [2, 1, 0]
        assert history(boards, "other") == [3, 2, 1, 0] * 3
        assert boards["here"].submissions("bob").submissions == ()
        assert boards["other"].submit("bob", 7, key="k").replayed
        for score in (10, 11):
            boards["here"].submit("ann", score)
            boards["other"].submit_many([("ann", 20 + score), ("ann", 30 + score)])
    for _ in range(2):
        with toprung.open(path, clock=FrozenClock(NOW)) as boards:
            assert history(boards, "here") == [11, 10, 2, 1, 0]
            assert history(boards, "other") == [41, 31, 40, 30, *([3, 2, 1, 0] * 3)]
            assert [each.player for each in boards["other"].top(1, scope="country:PT")] == ["ann"]
            assert boards.verify() == []
            boards.rebuild()
            assert history(boards, "here") == [11, 10, 2, 1, 0]
    with toprung.open(path, clock=FrozenClock(NOW)) as boards:
        boards.erase("ann")
    connection = apsw.Connection(path)
    assert connection.execute("SELECT value FROM meta WHERE name = 'format'").get == "2"
    assert connection.execute("SELECT count(*) FROM details").get == 0
    connection.close()


def pages(path: str) -> list[bytes]:
    content = Path(path).read_bytes()
    return [content[at : at + 4096] for at in range(0, len(content), 4096)]


def make_older(path: str) -> None:
    """Give a file the layout of format 1."""
    connection = apsw.Connection(path)
    connection.execute("DROP INDEX players_by_name")
    for table, column in (("submissions", "here"), ("players", "folded")):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("UPDATE meta SET value = '1' WHERE name = 'format'")
    connection.execute("VACUUM")
    connection.close()
    Path(f"{path}.checkpoint").unlink(missing_ok=True)


def test_what_is_recorded_is_not_written_again(tmp_path: Path) -> None:
    path = str(tmp_path / "long.db")
    with toprung.open(path, clock=FrozenClock(NOW), synchronous="normal") as boards:
        here, other = boards.create("here"), boards.create("other")
        for board in (here, other, here):
            board.submit_many([(f"player-{number}", number) for number in range(10_000)])
    make_older(path)
    before = pages(path)
    with toprung.open(path, clock=FrozenClock(NOW)) as boards:
        assert len(boards["here"].submissions("player-5").submissions) == 2
        assert boards.verify() == []
    after = pages(path)
    assert len(before) > 300
    assert sum(old != new for old, new in zip(before, after, strict=False)) < 10
    assert len(after) - len(before) < 10


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_upgrade_that_is_interrupted_is_made_again(path: str, moment: str) -> None:
    """The process is killed just before the upgrade is committed, or just after."""
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_OPENING, path, moment], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    connection = apsw.Connection(path)
    columns = {row[1] for row in connection.execute("PRAGMA table_info(submissions)")}
    found = connection.execute("SELECT value FROM meta WHERE name = 'format'").get
    connection.close()
    assert (found, "here" in columns) == (("1", False) if moment == "before" else ("2", True))
    with toprung.open(path, clock=FrozenClock(NOW)) as boards:
        assert history(boards, "here") == [2, 1, 0]
        boards["here"].submit("ann", 3)
        assert history(boards, "here") == [3, 2, 1, 0]
        assert boards.verify() == []


KILLED_WHILE_OPENING = """
import os, signal, sys
import toprung
from toprung.journals import sqlite_file

path, moment = sys.argv[1:]
kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
migrate, add_links = sqlite_file._migrate, sqlite_file.add_links
if moment == "before":
    sqlite_file.add_links = lambda writer: (add_links(writer), kill())
else:
    sqlite_file._migrate = lambda writer: (migrate(writer), kill())
toprung.open(path)
"""


def test_a_newer_file_is_refused(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute("UPDATE meta SET value = '3' WHERE name = 'format'")
    connection.close()
    with pytest.raises(errors.DatabaseDamaged, match="has format 3, this version knows"):
        toprung.open(path)
