"""The SQLite file behind the embedded journal, open: a batch is written, and rows are read.

The writer's connection belongs to the journal's writer thread and alone checkpoints the WAL; the
reader's is read-only and shared under a lock. In memory there is one connection for both.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Literal

import apsw
import msgspec

from toprung.domain.board import Board
from toprung.domain.commands.deciding import Profile
from toprung.domain.commands.outcomes import STATUSES
from toprung.domain.commands.repeats import RecordedKey
from toprung.domain.documents import Document, read_document
from toprung.domain.webhooks import EVERY_EVENT
from toprung.errors import Closed, DatabaseDamaged, Invalid, StorageFailed
from toprung.files import create
from toprung.journals.besides import Beside
from toprung.journals.sqlite_faults import FileLostError, FilePlace, check_room, keep_log
from toprung.journals.sqlite_file import BUSY_MILLISECONDS, connect, prepare
from toprung.journals.sqlite_identity import IDENTITY, give_identity
from toprung.journals.sqlite_inserts import inserts_of
from toprung.journals.sqlite_revoked import is_revoked, last_change
from toprung.ports import Plan

PAGES_PER_STEP = 512
"""Of a copy, 2 MB, after which the disk is waited for."""

TRIED_MILLISECONDS = 100
"""How long a write that only tries waits for another process that has locked the file."""

PAGE_ROWS = 20_000
"""Rows that one query of a long reading answers."""

_OWN_FAULTS = (apsw.ConstraintError, apsw.SQLError, apsw.BindingsError, apsw.MismatchError)
"""What a statement is to blame for, and not the disk."""

_log = logging.getLogger("toprung")


_SCRUB_REASONS = (
    "UPDATE events SET body = json_remove(body, '$.by.reason') WHERE kind <> 'erased'"
    " AND position IN (SELECT position FROM acts WHERE player = ?)"
)
"""Why somebody acted may name the player; why it was erased stays."""


class SqliteStore:
    """An open database file."""

    def __init__(self, path: str, synchronous: Literal["full", "normal"]) -> None:
        self.path = path
        self._writer, self._reader = connect(path, synchronous)
        self._reading = threading.RLock()
        self._slow_reader: apsw.Connection | None = None
        self._slow_reading = threading.Lock()
        self._place = FilePlace(path)
        self.is_lost = False
        """Whether the file was deleted or replaced since."""
        self._copies: set[object] = set()
        """Copies under way: they read the log as it was when they began."""
        self._names_erased = False
        """Whether old pages of the log may name who was erased."""
        try:
            self.database = prepare(self._writer, path)
            """A random id that tells this database from any other."""
            self._place.is_kept()  # from now on
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close both connections; closing twice is harmless."""
        with self._reading:
            if self.is_lost:
                keep_log(self._reader)
                keep_log(self._writer)
            self._reader.close()
            self._writer.close()
        with self._slow_reading:
            if self._slow_reader is None:  # nobody opens one any more
                self._slow_reader = self._reader
            self._slow_reader.close()

    # --- writing (the writer thread only) ----------------------------------------------------

    def write(
        self,
        plan: Plan | None,
        last_submission: Callable[[int], int],
        besides: Sequence[Beside[Any]] = (),
    ) -> tuple[list[tuple[int, str]], list[Any]]:
        """Append a batch and commit it, and what is written beside it.

        `last_submission` finds an erased player's history. Answers the (board generation, key)
        pairs that erased players had used, and what each of `besides` returned or raised.
        """
        inserts = [] if plan is None else list(inserts_of(plan))
        erased = () if plan is None else plan.erased
        profiles = () if plan is None else plan.profiles
        told: list[Any] = []
        keys: list[tuple[int, str]] = []
        with self._writing():
            if len(inserts) == 1 and not (profiles or erased or besides or self._names_erased):
                # A statement is a transaction: no need to ask for the interpreter lock thrice.
                self._writer.execute(*inserts[0])
                return keys, told
            with self._transaction():
                for statement, values in inserts:
                    self._writer.execute(statement, values)
                for profile in profiles:
                    self._change_profile(profile)
                for number in erased:
                    keys += self._erase(number, last_submission(number))
                told += map(self._write_beside, besides)
        if erased or self._names_erased:
            self.empty_log()
        return keys, told

    def check_place(self) -> None:
        """Raise FileLostError if the file is no longer the one at its path."""
        if not self.is_in_place():
            raise FileLostError

    def is_in_place(self) -> bool:
        """Whether the file is still the one at its path."""
        self.is_lost = self.is_lost or not self._place.is_kept()
        return not self.is_lost

    def try_write(self) -> None:
        """Write something that changes nothing, to see whether that is possible."""
        if self._reader is not self._writer:
            check_room(self.path)
        self._writer.set_busy_timeout(TRIED_MILLISECONDS)
        try:
            with self._writing():
                self._writer.execute("UPDATE meta SET value = value WHERE name = 'format'")
        finally:
            self._writer.set_busy_timeout(BUSY_MILLISECONDS)

    def note(self, name: str, value: str) -> None:
        """Keep a text about the file itself, in place of an older one of the same name."""
        with self._writing():
            self._writer.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        execute = self._writer.execute
        execute("BEGIN IMMEDIATE")
        try:
            yield
            execute("COMMIT")
        except BaseException:
            if not self._writer.get_autocommit():
                execute("ROLLBACK")
            raise

    def _write_beside(self, beside: Beside[Any]) -> Any:
        """What it returned; or what it raised, and then nothing of it is written."""
        execute = self._writer.execute
        execute("SAVEPOINT beside")
        try:
            result = beside.write(execute)
        except Exception as error:
            if isinstance(error, apsw.Error) and not isinstance(error, _OWN_FAULTS):
                raise  # the disk's: the whole commit fails
            execute("ROLLBACK TO beside")
            result = error
        execute("RELEASE beside")
        return result

    def _change_profile(self, profile: Profile) -> None:
        columns = profile.columns
        if columns:
            assigned = ", ".join(f"{column} = ?" for column in columns)
            statement = f"UPDATE players SET {assigned} WHERE number = ?"  # noqa: S608
            self._writer.execute(statement, (*columns.values(), profile.player))

    def empty_log(self) -> None:
        """Move the log into the file, so that no old page of it names who was erased.

        While somebody reads the log it cannot be done; commits do not wait for that, and one of
        the next does it.
        """
        self._names_erased = True
        if self._copies:
            return
        self._writer.set_busy_timeout(TRIED_MILLISECONDS)
        try:
            found: Any = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._names_erased = bool(found[0][0])
        except apsw.Error as error:  # the erasure is durable; a later commit empties the log
            _log.warning("the log could not be emptied after an erasure: %s", error)
        finally:
            self._writer.set_busy_timeout(BUSY_MILLISECONDS)

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
        execute("DELETE FROM effects WHERE player = ?", (number,))
        execute("UPDATE effects SET answer = '' WHERE other = ?", (number,))
        execute("DELETE FROM log_secrets WHERE player = ?", (number,))
        execute(_SCRUB_REASONS, (number,))
        execute("DELETE FROM players WHERE number = ?", (number,))
        return keys

    def recorded_keys(self, positions: Collection[int]) -> dict[int, RecordedKey]:
        """What was recorded with the keys of these submissions."""
        with self._writing():
            found: list[Any] = self._writer.execute(
                "SELECT position, digest, status, outcome FROM submissions WHERE position IN "
                "(SELECT value FROM json_each(?))",
                (msgspec.json.encode(list(positions)).decode(),),
            ).fetchall()
        known = {
            position: RecordedKey(position, digest, STATUSES[status], outcome)
            for position, digest, status, outcome in found
        }
        gone = RecordedKey(0, b"", STATUSES[0], b"")  # nothing that is submitted is the same
        return {position: known.get(position, gone) for position in positions}

    def document(self, kind: str, key: str) -> Document | None:
        """A document, if there is one."""
        rows = self.select(
            "SELECT version, value FROM documents WHERE kind = ? AND key = ?", (kind, key)
        )
        return read_document(kind, *rows[0]) if rows else None

    def waiting_count(self, generation: int) -> int:
        """How many submissions of a board wait for a verdict."""
        found = self.select(
            "SELECT count(*) FROM documents WHERE kind = 'review'"
            " AND json_extract(value, '$.generation') = ?",
            (generation,),
        )
        return int(found[0][0])

    def is_wanted(self, event: str) -> bool:
        """Whether a webhook wants to be told of events of a type."""
        found = self.select(
            "SELECT 1 FROM webhooks AS w, json_each(w.events) AS e"
            " WHERE w.disabled IS NULL AND e.value IN (?, ?) LIMIT 1",
            (event, EVERY_EVENT),
        )
        return bool(found)

    def last_change(self, board: Board, player: int) -> int:
        """The position of the last event that set or removed a player's entries on a board."""
        return last_change(self, board, player)

    def is_revoked(self, submission: int) -> bool:
        """Whether a submission was revoked."""
        return is_revoked(self, submission)

    def document_pairs(self) -> list[tuple[Any, ...]]:
        """Every document beside the event that set it last: see `documents.differing`."""
        return self.select(
            "WITH newest AS (SELECT json_extract(body, '$.kind') AS kind,"
            " json_extract(body, '$.key') AS key, max(position) AS version,"
            " json_extract(body, '$.value') AS value FROM events WHERE kind = 'document'"
            " GROUP BY 1, 2) "
            "SELECT coalesce(n.kind, d.kind), coalesce(n.key, d.key), n.version, n.value,"
            " d.version, d.value FROM newest AS n FULL JOIN documents AS d"
            " ON d.kind = n.kind AND d.key = n.key"
        )

    def documents(self, kind: str, after: str, limit: int) -> dict[str, Document]:
        """Documents of a kind by key, in the order of keys."""
        rows = self.select(
            "SELECT key, version, value FROM documents WHERE kind = ? AND key > ?"
            " ORDER BY key LIMIT ?",
            (kind, after, limit),
        )
        return {key: read_document(kind, version, value) for key, version, value in rows}

    # --- reading -------------------------------------------------------------------------------

    def select(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._reading:
            return self._query(self._reader, statement, parameters)

    def select_slowly(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """The rows of a query that takes a while, on a connection that nobody else waits for."""
        if self._reader is self._writer:
            return self.select(statement, parameters)
        with self._slow_reading:
            if self._slow_reader is None:
                self._slow_reader = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
            return self._query(self._slow_reader, statement, parameters)

    def _query(
        self, connection: apsw.Connection, statement: str, parameters: Any
    ) -> list[tuple[Any, ...]]:
        try:
            return list(connection.execute(statement, parameters))
        except apsw.ConnectionClosedError:
            raise Closed from None
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise DatabaseDamaged(f"{self.path!r} is damaged: {error}") from error
        except apsw.IOError as error:
            raise StorageFailed(f"{self.path!r} cannot be read: {error}") from error

    @property
    def identity(self) -> str:
        """Which database this is, as against its backups."""
        return self.noted(IDENTITY) or self.database

    def noted(self, name: str) -> str | None:
        """What `note` has kept."""
        rows = self.select("SELECT value FROM meta WHERE name = ?", (name,))
        return rows[0][0] if rows else None

    def pages(
        self, statement: str, after: int, column: str | None = None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Pages of rows in the order of their first column."""
        order = column or "1"
        while rows := self.select(f"{statement} ORDER BY {order} LIMIT {PAGE_ROWS}", (after,)):
            yield rows
            after = rows[-1][0]

    def copy_to(self, path: str) -> None:
        """Write a consistent copy of the database to a new file; a copy that fails leaves none."""
        self._check_room(path)
        try:
            create(path).close()
        except FileExistsError:
            raise Invalid(
                "path", f"{path!r} already exists; a backup never overwrites a file"
            ) from None
        except OSError as error:
            raise StorageFailed(f"cannot write the copy {path!r}: {error.strerror}") from error
        try:
            with closing(apsw.Connection(path)) as target:
                self._copy_to(target)
                give_identity(target)
        except BaseException as error:
            with suppress(OSError):
                Path(path).unlink()
            if isinstance(error, apsw.Error | OSError):
                raise StorageFailed(f"cannot write the copy {path!r}: {error}") from error
            raise

    def _check_room(self, path: str) -> None:
        """Refuse a copy that would fill the disk: submissions may be written to the same one."""
        if self._reader is self._writer:
            return
        files = (Path(self.path), Path(f"{self.path}-wal"))
        needed = sum(file.stat().st_size for file in files if file.exists())
        with suppress(OSError):  # whatever is wrong with the folder is said by whoever writes there
            free = shutil.disk_usage(Path(path).parent).free
            if free < needed + needed // 10:
                raise StorageFailed(
                    f"cannot write the copy {path!r}: it needs about {needed / 1e6:,.0f} MB"
                    f" and {free / 1e6:,.0f} MB are free"
                )

    def _copy_to(self, target: apsw.Connection) -> None:
        if self._reader is self._writer or self.is_lost:  # then nothing else leads to it
            with self._reading:
                _copy(self._reader, target)
            return
        # A connection of its own, so that readers do not wait for a long copy.
        copy = object()
        self._copies.add(copy)
        try:
            with closing(apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)) as source:
                _copy_in_steps(source, target)
        finally:
            self._copies.discard(copy)


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(-1)


def _copy_in_steps(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy, and have the disk keep pace: what is left to the end would make commits wait for it."""
    target.execute("PRAGMA synchronous = OFF")  # it is synced here
    source.execute("BEGIN")
    source.execute("SELECT name FROM meta LIMIT 1").fetchall()  # all steps see this moment
    with Path(target.filename).open("rb+", buffering=0) as file:
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                begin = time.perf_counter()
                backup.step(PAGES_PER_STEP)
                os.fsync(file.fileno())
                time.sleep(time.perf_counter() - begin)  # half of the disk's time is for commits
        os.fsync(file.fileno())
    source.execute("COMMIT")
