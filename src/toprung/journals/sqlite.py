"""The journal in one SQLite file: one writer thread, one commit for whatever is waiting.

Theory of operation. Callers hand commands to a bounded queue and await a `Pending`. The writer
thread takes all that is waiting and can share a commit (see `commands.sharing`), has the fold
decide it, appends the rows, commits once, makes the batch visible, and wakes the callers. So a
lone caller pays one fsync, and a thousand callers share one.

Failure rules. A batch that cannot be written is discarded whole and its callers get
StorageFailed. After an I/O error nobody knows what the disk holds, so the journal refuses
writes until it is opened again; a full disk, or a file that another process has locked, may be
tried again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import apsw

from toprung.domain.commands import Command, CommandResult, Submit
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.sharing import Sharing
from toprung.domain.figures import Commits
from toprung.domain.timekeeping import Moment
from toprung.errors import Closed, OutcomeUnknown, Overloaded, StorageFailed, ToprungError
from toprung.journals.besides import Beside, Execute
from toprung.journals.sqlite_faults import FILE_LOST, FileLostError, passing_reason, refused
from toprung.journals.sqlite_reads import SqliteReads
from toprung.journals.sqlite_store import SqliteStore
from toprung.journals.sqlite_time import SqliteTime
from toprung.ports import (
    Clock,
    Fold,
    Journal,
    Plan,
)
from toprung.waiting.blocking import running_loop
from toprung.waiting.pending import Pending, resolve_all

QUEUE_ROWS_MAX = 200_000
"""Submissions that may wait; more are refused with Overloaded."""

COMMIT_WEIGHT_MAX = 10_000
"""Submissions after which a batch is closed (`Submit.weight`): others wait until it is recorded."""

TRY_SECONDS_MAX = 0.5
"""How long somebody who asks whether writing is possible waits for the writer."""

_FORKED = (
    "this process was forked from the one that opened the database, and only that one may use it; "
    "open databases after forking"
)
_log = logging.getLogger("toprung")
T = TypeVar("T")


class _Request:
    """A command, or something to be written beside, on its way to the writer."""

    __slots__ = ("command", "pending", "rows", "weight")

    def __init__(self, command: Command | Beside[Any]) -> None:
        self.command = command
        self.pending: Pending[Any] = Pending()
        if isinstance(command, Submit):  # so many are
            self.rows, self.weight = len(command.submissions), command.weight
        elif isinstance(command, Beside):
            self.rows, self.weight = 0, command.weight
        else:
            submits = [each for each in parts_of(command) if isinstance(each, Submit)]
            self.rows = sum([len(each.submissions) for each in submits]) or 1
            self.weight = sum([each.weight for each in submits]) or 1


class SqliteJournal(SqliteReads):
    """Append-only events in SQLite, written by one thread."""

    _prepare: Callable[[Moment], Moment]
    _after_commit: Callable[[bool], None]

    def __init__(self, store: SqliteStore, clock: Clock) -> None:
        super().__init__(store)
        self._position, self._recorded_at = self.recorded.last()
        self.time = SqliteTime(store, clock, self.recorded)
        """What time it is."""
        self._queue: deque[_Request] = deque()
        self._queued_rows = 0
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._committing = threading.Lock()
        self._telling: asyncio.AbstractEventLoop | None = None
        """The event loop that is going to wake the writer, after all that is ready in it now."""
        self._closing = False
        self._failure: str | None = None
        """Why no more writes are taken until the database is opened again."""
        self._trouble: str | None = None
        """Why the last write was refused, if the next may succeed."""
        self._thread: threading.Thread | None = None
        self.commits = Commits()
        self.is_shown = True
        """Whether the fold shows what is recorded: false when memory failed after a commit."""
        self.is_orphan = False
        """Whether this is a forked process's copy, which has no writer thread and owns no file."""
        _living.add(self)

    def start(
        self,
        fold: Fold,
        prepare: Callable[[Moment], Moment],
        after_commit: Callable[[bool], None],
    ) -> None:
        """Begin to accept commands, deciding them against `fold`, which is complete by now.

        Both are called in the writer thread: `prepare` before a batch is decided, with the moment
        at which that happens; it makes sure that the fold has what is needed then. `after_commit`
        is told whether a player was erased.
        """
        self._fold = fold
        self._prepare = prepare
        self._after_commit = after_commit
        self._thread = threading.Thread(target=self._run, name="toprung-writer", daemon=True)
        self._thread.start()

    # --- the Journal port: writing ---------------------------------------------------------------

    async def record(self, command: Command) -> CommandResult:
        """Record a command; durable when this returns."""
        result: CommandResult = await self._enqueue(command)
        return result

    async def write_beside(self, write: Callable[[Execute], T], weight: int = 1) -> T:
        """Have something written in the next commit, beside the events; durable when this returns.

        `write` runs in the writer thread. What it raises undoes what it did, and nothing else.
        """
        result: T = await self._enqueue(Beside(write, weight))
        return result

    def _enqueue(self, command: Command | Beside[Any]) -> Pending[Any]:
        request = _Request(command)
        with self._lock:
            if self._closing:
                raise Closed
            if self._failure is not None:
                raise StorageFailed(self._failure)
            if self._queued_rows + request.rows > QUEUE_ROWS_MAX and self._queue:
                raise Overloaded
            self._queue.append(request)
            self._queued_rows += request.rows
            loop = running_loop()
            if loop is None:
                self._wake.notify()
            elif loop is not self._telling:  # whoever else is ready there joins the same commit
                self._telling = loop
                loop.call_soon(self._tell)
        return request.pending

    def _tell(self) -> None:
        """Wake the writer."""
        with self._wake:
            self._telling = None
            self._wake.notify()

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
        self._store.close()

    def orphan(self) -> None:
        """Refuse everything: this process is a fork of the one that opened the database.

        Threads that held locks when it was forked are not here to let go of them, so reads do not
        get as far as the fold, the index or the file.
        """
        self.is_orphan = True
        elsewhere: Any = _Elsewhere()
        self._fold = self._store = self._profiles = self.recorded = elsewhere
        self._lock = self._wake = self._committing = elsewhere

    def require_owner(self) -> None:
        """Raise StorageFailed in a forked process, to which nothing of this belongs."""
        if self.is_orphan:
            raise StorageFailed(_FORKED)

    # --- the writer thread -----------------------------------------------------------------------

    def _run(self) -> None:
        while batch := self._take():
            outcomes: Sequence[Any]
            begin = time.perf_counter()
            try:
                with self._committing:
                    outcomes = self._commit(batch)
            except Exception as error:  # noqa: BLE001 -- a caller must never wait in vain
                outcomes = [self._failed(error) for _ in batch]
            if rows := sum([request.rows for request in batch]):
                self.commits.note(rows, time.perf_counter() - begin)
            resolve_all(zip((request.pending for request in batch), outcomes, strict=True))

    def _take(self) -> list[_Request]:
        """Whatever is waiting and can share a commit, in the order in which it came."""
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            batch: list[_Request] = []
            sharing: Sharing | None = None
            weight = 0
            while self._queue and weight < COMMIT_WEIGHT_MAX:
                command = self._queue[0].command
                if not isinstance(command, Beside):  # nothing else touches what those write
                    if sharing is None and not isinstance(command, Submit):  # those always share
                        sharing = Sharing(_commands(batch))
                    if sharing is not None and not sharing.takes(command):
                        break
                request = self._queue.popleft()
                batch.append(request)
                weight += request.weight
                self._queued_rows -= request.rows
            return batch

    def _commit(self, batch: list[_Request]) -> Sequence[Any]:
        """Record a batch; what each of its requests is told."""
        if self._failure is not None:
            return [StorageFailed(self._failure) for _ in batch]
        commands = _commands(batch)
        besides = [each.command for each in batch if isinstance(each.command, Beside)]
        if not commands:
            return self._commit_besides(besides)
        moment = self.time.moment()
        recorded_at = max(moment.recorded_at, self._recorded_at)
        moment = self._prepare(moment._replace(recorded_at=recorded_at))
        try:
            plan = self._fold.plan(commands, self._position, moment, self._store)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the callers must hear of it
            if isinstance(error, apsw.Error):  # it could not be found out what was recorded
                error = self._failed(error)
            return [error] * len(batch)
        forgotten: list[tuple[int, str]] = []
        told: list[Any] = []
        try:
            # Routes are remembered even when the rows that needed them are refused.
            if plan.last_position > self._position or plan.routes or plan.players or besides:
                forgotten, told = self._write(plan, besides)
        except Exception as error:  # noqa: BLE001
            plan.discard()
            return [self._failed(error) for _ in batch]
        try:
            results = plan.apply()
            self._fold.forget_keys(forgotten)
        except Exception as error:  # noqa: BLE001 -- durable, but memory no longer shows it
            _log.exception("a recorded batch could not be made visible")
            self.is_shown = False
            self._failure = f"it is recorded, but memory failed ({error}); reopen the database"
            return [StorageFailed(self._failure) for _ in batch]
        if plan.last_position > self._position:
            self._note(plan, moment)
        return results if not besides else _in_order(batch, results, told)

    def _note(self, plan: Plan, moment: Moment) -> None:
        """A plan is recorded and visible: tell whoever has to know."""
        self._position, self._recorded_at = plan.last_position, moment.recorded_at
        self.time.position = plan.last_position
        if plan.profiles or plan.erased:
            self._profiles.tell([*(number for number, _ in plan.profiles), *plan.erased])
        try:
            self._after_commit(bool(plan.erased))
        except Exception:  # noqa: BLE001 -- what is recorded stays recorded all the same
            _log.exception("the checkpoint could not be looked after")
        self.time.keep_now_and_then(moment)

    def _commit_besides(self, besides: Sequence[Beside[Any]]) -> Sequence[Any]:
        try:
            return self._write(None, besides)[1]
        except Exception as error:  # noqa: BLE001
            return [self._failed(error) for _ in besides]

    def _write(
        self, plan: Plan | None, besides: Sequence[Beside[Any]]
    ) -> tuple[list[tuple[int, str]], list[Any]]:
        """Make a plan and what is beside it durable.

        Answers the (board generation, key) pairs that erased players had used, and what each of
        the others made of it.
        """
        self._store.check_place()
        forgotten, told = self._store.write(plan, self._fold.last_submission, besides)
        self._trouble = None
        if not self._store.is_in_place():  # it went into a file that is gone, or is about to be
            raise OutcomeUnknown
        return forgotten, told

    def paused(self, work: Callable[[], T]) -> T:
        """Do `work` while no batch is being recorded."""
        with self._committing:
            return work()

    @property
    def queued_rows(self) -> int:
        """How many submissions wait for the writer."""
        return self._queued_rows

    @property
    def last(self) -> tuple[int, int]:
        """The position of the last event, and when it was recorded."""
        return self._position, self._recorded_at

    @property
    def position(self) -> int:
        """`last_position`, without awaiting."""
        return self._position

    def _failed(self, error: Exception) -> ToprungError:
        """What callers hear of a failed write, and whether another may be tried."""
        if isinstance(error, ToprungError):
            return error
        if isinstance(error, FileLostError):
            return self._lost()
        reason = passing_reason(error)
        if reason is not None:
            self._trouble = reason
            return refused(reason)
        if not isinstance(error, apsw.Error):  # not the disk's: the next batch may be fine
            _log.error("a batch could not be written: %r", error)
            return StorageFailed(f"it could not be written ({error}); nothing was recorded")
        _log.error("the journal failed and takes no more writes: %s", error)
        self._failure = (
            f"the journal failed ({error}); it takes no more writes until it is reopened"
        )
        return StorageFailed(self._failure)

    def _lost(self) -> StorageFailed:
        if self._failure is None:
            _log.critical("database %s was deleted or replaced under us", self._store.path)
            self._failure = FILE_LOST
        return StorageFailed(self._failure)

    def find_fault(self) -> str | None:
        """Why nothing can be recorded at the moment; None when all is well.

        Not on an event loop: it looks at the disk, and after a refused write it tries another.
        """
        if self.is_orphan:
            return _FORKED
        if self._closing:
            return "the leaderboards have been closed"
        try:
            self._store.check_place()
        except FileLostError:
            self._lost()
        if self._failure is None and self._trouble is not None:
            self._try_write()
        if self._failure is None and self._thread is not None and not self._thread.is_alive():
            return "the thread that writes has ended; restart"
        if self._failure is None and self._queued_rows >= QUEUE_ROWS_MAX:
            return "too many submissions are waiting"
        return self._failure or self._trouble

    def _try_write(self) -> None:
        """See whether writing is possible again, unless the writer is at it itself."""
        if not self._committing.acquire(timeout=TRY_SECONDS_MAX):
            return
        try:
            self._store.try_write()
        except (apsw.Error, OSError) as error:
            self._trouble = passing_reason(error) or "the disk reports an error"
        else:
            self._trouble = None
        finally:
            self._committing.release()


def _commands(batch: Sequence[_Request]) -> list[Command]:
    """The commands of a batch."""
    return [each.command for each in batch if not isinstance(each.command, Beside)]


def _in_order(
    batch: Sequence[_Request], results: Sequence[Any], told: Sequence[Any]
) -> Sequence[Any]:
    """What each request is told: the results of commands, and of what was written beside."""
    of_commands, of_besides = iter(results), iter(told)
    return [next(of_besides if isinstance(each.command, Beside) else of_commands) for each in batch]


class _Elsewhere:
    """What a forked process has instead of everything that belongs to another process."""

    def __getattr__(self, name: str) -> NoReturn:
        raise StorageFailed(_FORKED)

    def __enter__(self) -> NoReturn:
        self.__getattr__("acquire")

    def __exit__(self, *_: object) -> None: ...


def _orphan_all() -> None:
    for journal in list(_living):
        journal.orphan()


_living: weakref.WeakSet[SqliteJournal] = weakref.WeakSet()
os.register_at_fork(after_in_child=_orphan_all)

_: type[Journal] = SqliteJournal
