"""The SQLite file behind the embedded journal, open: a batch is written, and rows are read.

The writer's connection belongs to the journal's writer thread and alone checkpoints the WAL; the
reader's is read-only and shared under a lock. In memory there is one connection for both.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain
from typing import Any, Literal

import apsw
import msgspec

from toprung.domain.board import Board
from toprung.domain.command import Status
from toprung.domain.ladder import Route
from toprung.errors import Closed, DatabaseDamaged, StorageFailed
from toprung.journals.sqlite_file import connect, prepare
from toprung.journals.sqlite_inserts import inserts_of
from toprung.ports import Event, Plan, RecordedKey

STATUSES: tuple[Status, ...] = ("unchanged", "accepted")
"""What the column `submissions.status` means."""

_PAGE_ROWS = 20_000
_log = logging.getLogger("toprung")


class SqliteStore:
    """An open database file."""

    def __init__(self, path: str, synchronous: Literal["full", "normal"]) -> None:
        self.path = path
        self._writer, self._reader = connect(path, synchronous)
        self._reading = threading.RLock()
        try:
            self.database = prepare(self._writer, path)
            """A random id that tells this database from any other."""
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close both connections; closing twice is harmless."""
        with self._reading:
            self._reader.close()
            self._writer.close()

    # --- writing (the writer thread only) ----------------------------------------------------

    def write(self, plan: Plan, last_submission: Callable[[int], int]) -> list[tuple[int, str]]:
        """Append a batch and commit it; `last_submission` finds an erased player's history.

        Answers the (board generation, key) pairs that erased players had used.
        """
        inserts = list(inserts_of(plan))
        with self._writing():
            if len(inserts) == 1 and not plan.profiles and not plan.erased:
                # A statement is a transaction: no need to ask for the interpreter lock thrice.
                self._writer.execute(*inserts[0])
                return []
            keys = self._transact(plan, inserts, last_submission)
        if plan.erased:
            self._empty_log()
        return keys

    def _transact(
        self,
        plan: Plan,
        inserts: Iterable[tuple[str, Sequence[Any]]],
        last_submission: Callable[[int], int],
    ) -> list[tuple[int, str]]:
        """Several statements as one transaction; the keys of erased players."""
        execute = self._writer.execute
        keys: list[tuple[int, str]] = []
        execute("BEGIN IMMEDIATE")
        try:
            for statement, values in inserts:
                execute(statement, values)
            for number, name, avatar_url in plan.profiles:
                execute(
                    "UPDATE players SET name = ?, avatar_url = ? WHERE number = ?",
                    (name, avatar_url, number),
                )
            for number in plan.erased:
                keys += self._erase(number, last_submission(number))
            execute("COMMIT")
        except BaseException:
            if not self._writer.get_autocommit():
                execute("ROLLBACK")
            raise
        return keys

    def _empty_log(self) -> None:
        """Move the log into the file, so that no old page of it names who was erased."""
        try:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except apsw.Error as error:  # the erasure is durable; the next checkpoint empties the log
            _log.warning("the log could not be emptied after an erasure: %s", error)

    def _writing(self) -> AbstractContextManager[Any]:
        """In memory, readers share the writer's connection and must not see half a batch."""
        return self._reading if self._reader is self._writer else nullcontext()

    def _erase(self, number: int, position: int) -> list[tuple[int, str]]:
        """Delete what can identify the player; the sequence of positions stays. Its keys."""
        execute = self._writer.execute
        keys: list[tuple[int, str]] = []
        while position:
            row: Any = execute(
                "SELECT r.generation, s.key, s.previous FROM submissions AS s "
                "JOIN routes AS r ON r.number = s.route WHERE s.position = ?",
                (position,),
            ).fetchall()[0]
            generation, key, previous = row
            if key is not None:
                keys.append((generation, key))
                execute(
                    "UPDATE submissions SET key = NULL, digest = NULL, outcome = NULL "
                    "WHERE position = ?",
                    (position,),
                )
            execute("DELETE FROM details WHERE position = ?", (position,))
            position = previous
        execute("DELETE FROM players WHERE number = ?", (number,))
        return keys

    def recorded_keys(self, positions: Iterable[int]) -> dict[int, RecordedKey]:
        """What was recorded with the keys of these submissions."""
        with self._writing():
            found: list[Any] = self._writer.execute(
                "SELECT position, digest, status, outcome FROM submissions WHERE position IN "
                "(SELECT value FROM json_each(?))",
                (msgspec.json.encode(list(positions)).decode(),),
            ).fetchall()
        return {
            position: RecordedKey(digest, STATUSES[status], outcome)
            for position, digest, status, outcome in found
        }

    # --- reading -------------------------------------------------------------------------------

    def select(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._reading:
            try:
                return list(self._reader.execute(statement, parameters))
            except apsw.ConnectionClosedError:
                raise Closed from None
            except (apsw.CorruptError, apsw.NotADBError) as error:
                raise DatabaseDamaged(f"{self.path!r} is damaged: {error}") from error
            except apsw.IOError as error:
                raise StorageFailed(f"{self.path!r} cannot be read: {error}") from error

    def players_from(self, number: int) -> Iterator[list[tuple[Any, ...]]]:
        """(number, id) of the players from a number on, in pages."""
        return self.pages("SELECT number, id FROM players WHERE number > ?", number - 1)

    def routes(self) -> Iterator[tuple[int, str, int, int, str, Route]]:
        """Every route, by number."""
        pages = self.pages("SELECT * FROM routes WHERE number > ?", 0)
        for *name, route in chain.from_iterable(pages):
            yield (*name, msgspec.json.decode(route, type=Route))

    def routes_numbered(
        self, numbers: Iterable[int]
    ) -> list[tuple[int, str, int, int, str, Route]]:
        """The routes of these numbers."""
        rows = self.select(
            "SELECT * FROM routes WHERE number IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(numbers)).decode(),),
        )
        return [(*name, msgspec.json.decode(route, type=Route)) for *name, route in rows]

    def last_route(self) -> int:
        """The greatest number of a route; 0 when there is none."""
        return int(self.select("SELECT coalesce(max(number), 0) FROM routes")[0][0])

    def submissions_between(self, after: int, until: int) -> Iterator[list[tuple[Any, ...]]]:
        """Submissions at positions in (after, until], in pages: what replay needs of them."""
        statement = (
            "SELECT position, route, player, at, score, subscore FROM submissions "
            "WHERE position > ? AND position <= ? ORDER BY position LIMIT ?"
        )
        while rows := self.select(statement, (after, until, _PAGE_ROWS)):
            yield rows
            after = rows[-1][0]

    def events_between(self, after: int, until: int) -> Iterator[Event]:
        """Events besides submissions at positions in (after, until]."""
        pages = self.pages(
            "SELECT position, recorded_at, kind, body FROM events WHERE position > ?", after
        )
        for position, recorded_at, kind, body in chain.from_iterable(pages):
            if position > until:
                return
            yield Event(position, recorded_at, kind, msgspec.json.decode(body))

    def board_rules(self) -> list[Board]:
        """All rules that boards ever had, in order."""
        bodies = self.select("SELECT body FROM events WHERE kind = 'board' ORDER BY position")
        parsed = (msgspec.json.decode(body) for (body,) in bodies)
        return [Board.parse(body["board"], body["rules"]) for body in parsed]

    def keys_since(self, moment: int) -> Iterator[tuple[int, int, str]]:
        """(position, board generation, key) of the keyed submissions recorded since a moment."""
        pages = self.pages(
            "SELECT s.position, r.generation, s.key FROM submissions AS s "
            "JOIN routes AS r ON r.number = s.route "
            "WHERE s.key IS NOT NULL AND s.position > ?",
            self.position_at(moment),
            "s.position",
        )
        yield from chain.from_iterable(pages)

    def fingerprint(self, position: int) -> str:
        """What stands at a position, as text to be hashed; empty when nothing does."""
        for table in ("submissions", "events"):
            columns = "route, player, at, score" if table == "submissions" else "kind, body"
            rows = self.select(
                f"SELECT position, recorded_at, {columns} FROM {table} "  # noqa: S608
                "WHERE position = ?",
                (position,),
            )
            if rows:
                return repr(rows[0])
        return ""

    def copy_to(self, path: str) -> None:
        """Write a consistent copy of the database to a new file."""
        try:
            with closing(apsw.Connection(path)) as target:
                self._copy_to(target)
        except apsw.Error as error:
            raise StorageFailed(f"cannot write the copy {path!r}: {error}") from error

    def _copy_to(self, target: apsw.Connection) -> None:
        if self._reader is self._writer:
            with self._reading:
                _copy(self._reader, target)
            return
        # A connection of its own, so that readers do not wait for a long copy.
        with closing(apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)) as source:
            _copy(source, target)

    def position_at(self, moment: int) -> int:
        """The last position recorded before a moment; recording times never go back."""
        low, high = 0, self.last()[0]
        while low < high:
            middle = (low + high + 1) // 2
            rows = self.select(
                "SELECT recorded_at FROM submissions WHERE position >= ? ORDER BY position LIMIT 1",
                (middle,),
            )
            if rows and rows[0][0] < moment:
                low = middle
            else:
                high = middle - 1
        return low

    def pages(
        self, statement: str, after: int, column: str | None = None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Pages of rows in the order of their first column."""
        order = column or "1"
        while rows := self.select(f"{statement} ORDER BY {order} LIMIT {_PAGE_ROWS}", (after,)):
            yield rows
            after = rows[-1][0]

    def events_after(self, after: int, limit: int) -> Iterator[Event]:
        """All events, submissions among them, after a position."""
        rows = self.select(
            "SELECT position, recorded_at, kind, body FROM ("
            " SELECT position, recorded_at, kind, body FROM events WHERE position > :after"
            " UNION ALL"
            " SELECT s.position, s.recorded_at, 'score', json_object("
            "  'board', r.board, 'version', r.version, 'source', r.source,"
            "  'route', json(r.route), 'player', s.player, 'at', s.at, 'score', s.score,"
            "  'subscore', s.subscore, 'status', s.status)"
            " FROM submissions AS s JOIN routes AS r ON r.number = s.route"
            " WHERE s.position > :after"
            ") ORDER BY position LIMIT :limit",
            {"after": after, "limit": limit},
        )
        for position, recorded_at, kind, body in rows:
            yield Event(position, recorded_at, kind, msgspec.json.decode(body))

    def last(self) -> tuple[int, int]:
        """The last position and when it was recorded."""
        row = self.select(
            "SELECT position, recorded_at FROM submissions UNION ALL "
            "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
        )
        return (int(row[0][0]), int(row[0][1])) if row else (0, 0)


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(-1)
