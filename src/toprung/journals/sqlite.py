"""The journal in one SQLite file: one writer thread, one commit for whatever is waiting.

Theory of operation. Callers hand commands to a bounded queue and await a `Pending`. The writer
thread takes all that is waiting (a run of submissions, or one other command), has the fold
decide it, appends the rows, commits once, makes the batch visible, and wakes the callers. So a
lone caller pays one fsync, and a thousand callers share one.

Failure rules. A batch that cannot be written is discarded whole and its callers get
StorageFailed. After an I/O error nobody knows what the disk holds, so the journal refuses
writes until it is opened again; a full disk may be tried again.

Inserts are multi-row statements: a statement per row would release and fight for the
interpreter lock a thousand times per batch.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Literal, TypeVar

import apsw
import msgspec

from toprung.domain.board import Board
from toprung.domain.command import Command, Receipts, Status, Submit
from toprung.domain.ladder import Route
from toprung.errors import Closed, DatabaseDamaged, Overloaded, StorageFailed, ToprungError
from toprung.pending import Pending, resolve_all
from toprung.ports import (
    SUBMISSION_COLUMNS,
    Clock,
    Event,
    Fold,
    Journal,
    Plan,
    PlayerProfile,
    RecordedKey,
    RecordedSubmission,
)

QUEUE_ROWS_MAX = 200_000
"""Submissions that may wait; more are refused with Overloaded."""

COMMIT_ROWS_MAX = 10_000
"""Submissions after which a batch is closed."""

CHAIN_STEPS_MAX = 10_000
"""Links of a player's chain that one read follows."""

FORMAT = "1"

_APPLICATION_ID = 0x544F5052  # "TOPR"
_STATUS: tuple[Status, ...] = ("unchanged", "accepted")
_PARAMETERS_MAX = 30_000
_log = logging.getLogger("toprung")
T = TypeVar("T")


class _Request:
    """A command on its way to the writer."""

    __slots__ = ("command", "pending", "rows")

    def __init__(self, command: Command) -> None:
        self.command = command
        self.pending: Pending[Receipts | Board | None] = Pending()
        self.rows = len(command.submissions) if isinstance(command, Submit) else 1


class SqliteJournal:
    """Append-only events in SQLite, written by one thread."""

    _fold: Fold
    _after_commit: Callable[[bool], None]

    def __init__(
        self, path: str, clock: Clock, *, synchronous: Literal["full", "normal"] = "full"
    ) -> None:
        self.path = path
        self._clock = clock
        self._writer, self._reader = _connect(path, synchronous)
        self._reading = threading.RLock()
        """Guards the reader connection; in memory there is one connection for both."""
        self.database = self._prepare()
        self._head, self._recorded_at = self._last()
        self._queue: deque[_Request] = deque()
        self._queued_rows = 0
        self._wake = threading.Condition()
        self._turn = threading.Lock()
        self._closing = False
        self._failure: ToprungError | None = None
        self._thread: threading.Thread | None = None

    def start(self, fold: Fold, after_commit: Callable[[bool], None]) -> None:
        """Begin to accept commands, deciding them against `fold`, which is complete by now.

        `after_commit` is called in the writer thread and told whether a player was erased.
        """
        self._fold = fold
        self._after_commit = after_commit
        self._thread = threading.Thread(target=self._run, name="toprung-writer", daemon=True)
        self._thread.start()

    # --- the Journal port: writing ---------------------------------------------------------------

    async def record(self, command: Command) -> Receipts | Board | None:
        """Record a command; durable when this returns."""
        return await self._enqueue(command)

    def _enqueue(self, command: Command) -> Pending[Receipts | Board | None]:
        request = _Request(command)
        with self._wake:
            if self._closing:
                raise Closed
            if self._failure is not None:
                raise self._failure
            if self._queued_rows + request.rows > QUEUE_ROWS_MAX and self._queue:
                raise Overloaded
            self._queue.append(request)
            self._queued_rows += request.rows
            self._wake.notify()
        return request.pending

    async def finish(self) -> None:
        """Accept no more, and record what was accepted."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    async def close(self) -> None:
        """Finish what was accepted, then close the file."""
        await self.finish()
        with self._reading:
            self._reader.close()
            self._writer.close()

    # --- the writer thread -----------------------------------------------------------------------

    def _run(self) -> None:
        while batch := self._take():
            with self._turn:
                outcomes = self._commit(batch)
            resolve_all(zip((request.pending for request in batch), outcomes, strict=True))

    def _take(self) -> list[_Request]:
        """Whatever is waiting: a run of submissions, or one other command."""
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            batch: list[_Request] = []
            rows = 0
            while self._queue and rows < COMMIT_ROWS_MAX:
                if batch and not isinstance(self._queue[0].command, Submit):
                    break
                request = self._queue.popleft()
                batch.append(request)
                rows += request.rows
                if not isinstance(request.command, Submit):
                    break
            self._queued_rows -= rows
            return batch

    def _commit(self, batch: list[_Request]) -> Sequence[Receipts | Board | Exception | None]:
        if self._failure is not None:
            return [self._failure] * len(batch)
        now = max(self._clock.now(), self._recorded_at)
        try:
            plan = self._fold.plan([request.command for request in batch], self._head, now)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the callers must hear of it
            return [error] * len(batch)
        try:
            if plan.repeats:
                plan.settle(self._recorded_keys(plan.repeats))
            if plan.head > self._head:
                self._write(plan)
        except Exception as error:  # noqa: BLE001
            plan.discard()
            return [self._failed(error)] * len(batch)
        try:
            results = plan.apply()
        except Exception as error:  # noqa: BLE001 -- durable, but memory no longer shows it
            _log.exception("a recorded batch could not be made visible")
            self._failure = StorageFailed(
                f"the submission is recorded, but memory failed ({error}); reopen the database"
            )
            return [self._failure] * len(batch)
        if plan.head > self._head:
            self._head, self._recorded_at = plan.head, now
            self._after_commit(bool(plan.erased))
        return results

    def paused(self, work: Callable[[], T]) -> T:
        """Do `work` while no batch is being recorded."""
        with self._turn:
            return work()

    @property
    def last_position(self) -> int:
        """`head`, without awaiting."""
        return self._head

    def _failed(self, error: Exception) -> ToprungError:
        """What callers hear of a failed write, and whether another may be tried."""
        if isinstance(error, ToprungError):
            return error
        if isinstance(error, apsw.FullError):
            return StorageFailed("the disk is full; nothing of this submission was recorded")
        if isinstance(error, apsw.ReadOnlyError):
            return StorageFailed(f"database {self.path!r} is read-only; nothing was recorded")
        _log.error("the journal failed and takes no more writes: %s", error)
        self._failure = StorageFailed(
            f"the journal failed ({error}); it takes no more writes until it is reopened"
        )
        return self._failure

    def _write(self, plan: Plan) -> None:
        writer = self._writer
        with self._writing():
            writer.execute("BEGIN IMMEDIATE")
            try:
                self._insert("players (number, id)", 2, _flat(plan.players))
                self._insert("routes", 6, _flat(map(_route_row, plan.routes)))
                self._insert("submissions", len(SUBMISSION_COLUMNS), plan.submissions)
                self._insert("details", 2, _flat(plan.details))
                self._insert("events", 4, _flat(map(_event_row, plan.events)))
                for number, name, avatar_url in plan.profiles:
                    writer.execute(
                        "UPDATE players SET name = ?, avatar_url = ? WHERE number = ?",
                        (name, avatar_url, number),
                    )
                for number in plan.erased:
                    self._erase(number)
                writer.execute("COMMIT")
            except BaseException:
                if not writer.get_autocommit():
                    writer.execute("ROLLBACK")
                raise

    def _writing(self) -> Any:
        """In memory, readers share the writer's connection and must not see half a batch."""
        return self._reading if self._reader is self._writer else _NO_LOCK

    def _insert(self, table: str, width: int, values: Sequence[Any]) -> None:
        """Append rows, many per statement; sizes repeat, so the statements are cached."""
        row = "(" + ",".join("?" * width) + ")"
        start = 0
        for rows in (500, 100, 20, 5, 1):
            size = rows * width
            if size > _PARAMETERS_MAX or len(values) - start < size:
                continue
            statement = f"INSERT INTO {table} VALUES {','.join([row] * rows)}"  # noqa: S608
            while len(values) - start >= size:
                self._writer.execute(statement, values[start : start + size])
                start += size

    def _erase(self, number: int) -> None:
        """Delete what can identify the player; the sequence of positions stays."""
        execute = self._writer.execute
        position = self._fold.last_submission(number)
        while position:
            execute("DELETE FROM details WHERE position = ?", (position,))
            execute("UPDATE submissions SET key = NULL WHERE position = ?", (position,))
            row = execute("SELECT previous FROM submissions WHERE position = ?", (position,))
            position = next(iter(row))[0]
        execute("DELETE FROM players WHERE number = ?", (number,))

    def _recorded_keys(self, positions: Iterable[int]) -> dict[int, RecordedKey]:
        found = self._writer.execute(
            "SELECT position, digest, status, outcome FROM submissions WHERE position IN "
            "(SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(positions)).decode(),),
        )
        return {
            position: RecordedKey(digest, _STATUS[status], outcome)
            for position, digest, status, outcome in found
        }

    # --- the Journal port: reading -------------------------------------------------------------

    async def read(self, after: int = 0, limit: int = 1000) -> AsyncIterator[Event]:
        """The events after a position, in order."""
        for event in self._events_after(after, limit):
            yield event

    async def head(self) -> int:
        """The position of the last event."""
        return self._head

    async def board(self, board_id: str) -> Board:
        """The board as now recorded."""
        return self._fold.board(board_id)

    async def boards(self, after: str = "", limit: int = 100) -> list[Board]:
        """Boards in the order of their ids."""
        ids = sorted(board_id for board_id in list(self._fold.boards) if board_id > after)
        found = (self._fold.boards.get(board_id) for board_id in ids[:limit])
        return [board for board in found if board is not None]

    async def profiles(self, players: Sequence[str]) -> dict[str, PlayerProfile]:
        """The profiles of those players that are known, in one query."""
        numbers = {self._fold.number(player): player for player in players}
        numbers.pop(None, None)
        rows = self._select(
            "SELECT number, name, avatar_url FROM players WHERE number IN "
            "(SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(numbers)).decode(),),
        )
        return {
            numbers[number]: PlayerProfile(
                numbers[number], name, avatar_url, self._fold.attributes(number)
            )
            for number, name, avatar_url in rows
        }

    async def friends(self, player: str) -> Sequence[str]:
        """A player's friends."""
        return self._fold.friends_of(player)

    async def details(self, versions: Sequence[int]) -> dict[int, bytes]:
        """The details submitted at these positions, in one query."""
        return dict(
            self._select(
                "SELECT position, body FROM details WHERE position IN "
                "(SELECT value FROM json_each(?))",
                (msgspec.json.encode(list(versions)).decode(),),
            )
        )

    async def submissions(
        self, board_id: str, player: str, before: int | None, limit: int
    ) -> list[RecordedSubmission]:
        """A player's submissions on the board as it now exists, newest first."""
        board, number = self._fold.board(board_id), self._fold.number(player)
        start = 0 if number is None else self._chain_start(number, before)
        if not start:
            return []
        rows = self._select(
            _PLAYER_SUBMISSIONS,
            {
                "start": start,
                "steps": CHAIN_STEPS_MAX,
                "board": board.id,
                "generation": board.generation,
                "limit": limit,
            },
        )
        return [
            RecordedSubmission(
                position, board_id, player, score, subscore, at, recorded_at, _STATUS[status], body
            )
            for position, score, subscore, at, recorded_at, status, body in rows
        ]

    def _chain_start(self, number: int, before: int | None) -> int:
        if before is None:
            return self._fold.last_submission(number)
        rows = self._select(
            "SELECT previous FROM submissions WHERE position = ? AND player = ?", (before, number)
        )
        return rows[0][0] if rows else 0

    def _select(self, statement: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        with self._reading:
            try:
                return list(self._reader.execute(statement, parameters))
            except apsw.ConnectionClosedError:
                raise Closed from None
            except (apsw.CorruptError, apsw.NotADBError) as error:
                raise DatabaseDamaged(f"{self.path!r} is damaged: {error}") from error

    # --- what recovery reads -------------------------------------------------------------------

    def players_from(self, number: int) -> Iterator[tuple[int, str]]:
        """(number, id) of the players from a number on."""
        yield from self._pages("SELECT number, id FROM players WHERE number > ?", number - 1)

    def routes(self) -> Iterator[tuple[int, str, int, int, str, Route]]:
        """Every route, by number."""
        for *name, route in self._pages("SELECT * FROM routes WHERE number > ?", 0):
            yield (*name, msgspec.json.decode(route, type=Route))

    def submissions_between(self, after: int, until: int) -> Iterator[list[tuple[Any, ...]]]:
        """Submissions at positions in (after, until], in pages: what replay needs of them."""
        statement = (
            "SELECT position, route, player, at, score, subscore FROM submissions "
            "WHERE position > ? AND position <= ? ORDER BY position LIMIT 20000"
        )
        while rows := self._select(statement, (after, until)):
            yield rows
            after = rows[-1][0]

    def events_between(self, after: int, until: int) -> Iterator[Event]:
        """Events besides submissions at positions in (after, until]."""
        rows = self._pages(
            "SELECT position, recorded_at, kind, body FROM events WHERE position > ?", after
        )
        for position, recorded_at, kind, body in rows:
            if position > until:
                return
            yield Event(position, recorded_at, kind, msgspec.json.decode(body))

    def keys_since(self, moment: int) -> Iterator[tuple[int, int, str]]:
        """(position, board generation, key) of the keyed submissions recorded since a moment."""
        rows = self._pages(
            "SELECT s.position, r.generation, s.key FROM submissions AS s "
            "JOIN routes AS r ON r.number = s.route "
            "WHERE s.key IS NOT NULL AND s.position > ?",
            self._position_at(moment),
            "s.position",
        )
        yield from rows

    def fingerprint(self, position: int) -> str:
        """What stands at a position, as text to be hashed; empty when nothing does."""
        for table in ("submissions", "events"):
            columns = "route, player, at, score" if table == "submissions" else "kind, body"
            rows = self._select(
                f"SELECT position, recorded_at, {columns} FROM {table} "  # noqa: S608
                "WHERE position = ?",
                (position,),
            )
            if rows:
                return repr(rows[0])
        return ""

    def copy_to(self, path: str) -> None:
        """Write a consistent copy of the database to a new file."""
        target = apsw.Connection(path)
        try:
            with self._reading, target.backup("main", self._reader, "main") as backup:
                while not backup.done:
                    backup.step(-1)
        finally:
            target.close()

    def _position_at(self, moment: int) -> int:
        """The last position recorded before a moment; recording times never go back."""
        low, high = 0, self._head
        while low < high:
            middle = (low + high + 1) // 2
            rows = self._select(
                "SELECT recorded_at FROM submissions WHERE position >= ? ORDER BY position LIMIT 1",
                (middle,),
            )
            if rows and rows[0][0] < moment:
                low = middle
            else:
                high = middle - 1
        return low

    def _pages(
        self, statement: str, after: int, column: str | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Rows in the order of their first column, a bounded number at a time."""
        order = column or "1"
        while rows := self._select(f"{statement} ORDER BY {order} LIMIT 20000", (after,)):
            yield from rows
            after = rows[-1][0]

    def _events_after(self, after: int, limit: int) -> Iterator[Event]:
        rows = self._select(
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

    # --- opening -------------------------------------------------------------------------------

    def _prepare(self) -> str:
        """Create the tables in a new file; refuse a file that is not ours. Its random id."""
        execute = self._writer.execute
        try:
            known = execute("PRAGMA application_id").get
            if known == 0 and not execute("SELECT count(*) FROM sqlite_schema").get:
                with self._writer:
                    execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                    execute(_SCHEMA)
                    values = ("database", uuid.uuid4().hex, "format", FORMAT)
                    execute("INSERT INTO meta VALUES (?, ?), (?, ?)", values)
            elif known != _APPLICATION_ID:
                raise DatabaseDamaged(f"{self.path!r} is a database, but not one of Toprung's")
            meta: dict[str, str] = dict(execute("SELECT name, value FROM meta"))
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError) as error:
            raise DatabaseDamaged(f"{self.path!r} cannot be read: {error}") from error
        if meta["format"] != FORMAT:
            raise DatabaseDamaged(
                f"{self.path!r} has format {meta['format']}, this version knows {FORMAT}"
            )
        return meta["database"]

    def _last(self) -> tuple[int, int]:
        """The last position and when it was recorded."""
        row: list[Any] = self._writer.execute(
            "SELECT position, recorded_at FROM submissions UNION ALL "
            "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
        ).fetchall()
        return (int(row[0][0]), int(row[0][1])) if row else (0, 0)


def _connect(path: str, synchronous: str) -> tuple[apsw.Connection, apsw.Connection]:
    """The writer's connection and one for readers; in memory they are the same."""
    if path == ":memory:":
        connection = apsw.Connection(path)
        return connection, connection
    try:
        writer = apsw.Connection(path)
        writer.execute("PRAGMA journal_mode = WAL").fetchall()
        writer.execute(f"PRAGMA synchronous = {synchronous}")
        writer.execute("PRAGMA wal_autocheckpoint = 4000")
        writer.execute("PRAGMA secure_delete = ON").fetchall()
        reader = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("PRAGMA cache_size = -16000")
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise DatabaseDamaged(f"{path!r} is not a database: {error}") from error
    except apsw.Error as error:
        raise StorageFailed(f"cannot open {path!r}: {error}") from error
    return writer, reader


def _flat(rows: Iterable[Sequence[Any]]) -> list[Any]:
    return [value for row in rows for value in row]


def _route_row(row: tuple[int, str, int, int, str, Route]) -> Sequence[Any]:
    return (*row[:5], msgspec.json.encode(row[5]).decode())


def _event_row(event: Event) -> Sequence[Any]:
    body = msgspec.json.encode(event.body).decode()
    return (event.position, event.recorded_at, event.kind, body)


class _NoLock:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


_NO_LOCK = _NoLock()
_SCHEMA = files(__package__).joinpath("sql/sqlite_schema.sql").read_text()
_PLAYER_SUBMISSIONS = files(__package__).joinpath("sql/player_submissions.sql").read_text()
_: type[Journal] = SqliteJournal
