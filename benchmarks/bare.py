"""Ceilings: the same durable rows with nothing around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import apsw

from benchmarks import harness

_COLUMNS = "route, player, previous, recorded_at, at, score, subscore, status, key, digest, outcome"
_TABLE = f"CREATE TABLE bare (position INTEGER PRIMARY KEY, {_COLUMNS})"
_ROW = (1, 2, 3, 1700000000000000, 1700000000000000, 5, None, 1, None, None, None)


class BareSqlite:
    """Appends of rows that are as wide as the journal's, synchronous=FULL, by APSW."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._positions = itertools.count(1)

    def times(self, question: str, asked: Sequence[object], seconds: float) -> list[float]:
        """Microseconds of each commit of one row, whatever is asked."""
        assert question == "submit"
        return harness.times(lambda _: self.commit(1), asked, seconds)

    def commit(self, rows: int) -> None:
        """One transaction with so many rows."""
        values = [value for _ in range(rows) for value in (next(self._positions), *_ROW)]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_insert(rows), values)
        self._connection.execute("COMMIT")


@cache
def _insert(rows: int) -> str:
    return f"INSERT INTO bare VALUES {','.join(['(?,?,?,?,?,?,?,?,?,?,?,?)'] * rows)}"


@contextmanager
def sqlite(folder: Path) -> Iterator[BareSqlite]:
    """An empty table in a file of its own."""
    connection = apsw.Connection(str(folder / "bare.db"))
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(_TABLE)
        yield BareSqlite(connection)
    finally:
        connection.close()
