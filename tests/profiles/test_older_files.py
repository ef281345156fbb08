"""A database and a checkpoint that version 0.1.0 wrote open, are brought up to date and go on.

Its boards are `here` and `other`; "ann" submitted to them in turns.
"""

from __future__ import annotations

import logging
import shutil
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
    shutil.copy(DATA / "v0.1.0.db", found)
    if request.param == "with its checkpoint":
        shutil.copy(DATA / "v0.1.0.db.checkpoint", f"{found}.checkpoint")
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


def test_a_newer_file_is_refused(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute("UPDATE meta SET value = '3' WHERE name = 'format'")
    connection.close()
    with pytest.raises(errors.DatabaseDamaged, match="has format 3, this version knows"):
        toprung.open(path)
