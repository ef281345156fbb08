"""Old pages of the log do not name who was erased, also if a backup was being made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import toprung
from toprung.journals import sqlite_store

NAME = "Zacharias"


def test_the_log_is_emptied_after_an_erasure(tmp_path: Path) -> None:
    with toprung.open(tmp_path / "x.db") as boards:
        boards.set_player("zac", name=NAME)
        assert NAME.encode() in (tmp_path / "x.db-wal").read_bytes()
        boards.erase("zac")
        assert NAME.encode() not in (tmp_path / "x.db-wal").read_bytes()


def test_an_erasure_does_not_wait_for_a_backup_and_the_log_is_emptied_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    original: Callable[..., None] = sqlite_store._copy_in_steps

    def slowly(source: apsw.Connection, target: apsw.Connection) -> None:
        source.execute("BEGIN")
        source.execute("SELECT * FROM meta").fetchall()
        begun.set()
        assert may_end.wait(60)
        source.execute("COMMIT")
        original(source, target)

    waits: list[int] = []
    monkeypatch.setattr(sqlite_store, "_copy_in_steps", slowly)
    with toprung.open(tmp_path / "x.db") as boards:
        boards.set_player("zac", name=NAME)
        copying = threading.Thread(target=boards.backup, args=(str(tmp_path / "copy.db"),))
        copying.start()
        assert begun.wait(60)
        monkeypatch.setattr(sqlite_store, "TRIED_MILLISECONDS", waits)  # nobody gets to use it
        boards.erase("zac")
        monkeypatch.undo()
        may_end.set()
        copying.join()
        boards.set_player("ann", name="Ann")
        assert NAME.encode() not in (tmp_path / "x.db-wal").read_bytes()


def test_who_reads_the_log_otherwise_holds_up_no_commit_for_long(tmp_path: Path) -> None:
    with toprung.open(tmp_path / "x.db") as boards:
        boards.set_player("zac", name=NAME)
        other = apsw.Connection(str(tmp_path / "x.db"), flags=apsw.SQLITE_OPEN_READONLY)
        other.execute("BEGIN")
        other.execute("SELECT * FROM meta").fetchall()
        boards.erase("zac")
        other.execute("COMMIT")
        other.close()
        boards.set_player("ann", name="Ann")
        assert NAME.encode() not in (tmp_path / "x.db-wal").read_bytes()
