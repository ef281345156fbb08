"""The journal in PostgreSQL, written by any number of processes.

Theory of operation. Within a process callers hand commands to a bounded queue; one task takes
whatever is waiting (a run of submissions, or one other command) and brings it through one
transaction (`postgres_submit`, `postgres_commands`), so a thousand callers share one commit and
commands keep their order. After the commit the changed cards go to the index while the next
transaction is already under way; callers are answered when both have happened, or when the index
turned out to be away.

Failure rules. What deadlocks or loses a race is tried again. When the connection breaks before
COMMIT was sent, nothing happened and it is tried again for a while. When it breaks after, the
batch's id decides: inserting it again waits for a transaction that is still under way, and tells
whether it has committed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID, uuid4

import msgspec

from toprung.domain.board import Board
from toprung.domain.command import Command, Receipts, Submit
from toprung.domain.figures import Commits
from toprung.domain.outcomes import STATUSES
from toprung.errors import (
    Closed,
    OutcomeUnknown,
    Overloaded,
    StorageFailed,
    ToprungError,
    TruthUnavailable,
    UnknownBoard,
)
from toprung.journals.postgres_commands import CommandRun
from toprung.journals.postgres_repeats import Raced
from toprung.journals.postgres_routes import BoardRoutes
from toprung.journals.postgres_store import CONNECT_SECONDS_MAX, PostgresStore
from toprung.journals.postgres_submit import SubmitBatch, read_board
from toprung.pending import end_task
from toprung.ports import (
    CardChanges,
    CardSink,
    Clock,
    Event,
    Journal,
    PlayerProfile,
    RecordedSubmission,
    Shown,
)

QUEUE_ROWS_MAX = 100_000
"""Submissions that may wait; more are refused with Overloaded."""

COMMIT_ROWS_MAX = 500
"""Submissions after which a batch is closed: while it goes to the index, the next is committed."""

APPLYING_MAX = 4
"""Committed batches that may be on their way to the index while more are written."""

RETRY_SECONDS = 10.0
"""How long a batch is tried again before its callers hear that it failed."""

SETTLE_SECONDS = 60.0
"""How long an interrupted commit is asked after."""

CLOSE_SECONDS = 15.0
"""How long closing waits for the database, and then for the index."""

MARK_SECONDS = 2.0

BOARD_SECONDS = 0.5
"""How long a board is believed to be as it was last read."""

PLAYERS_REMEMBERED = 500_000
"""Ids of players that a process remembers to exist, so as not to try to make them again."""

FOREVER = 2**62

_log = logging.getLogger("toprung")
T = TypeVar("T")
Result = Receipts | Board | None


class _Request:
    """A command on its way to the database."""

    __slots__ = ("command", "future", "rows")

    def __init__(self, command: Command, future: asyncio.Future[Result]) -> None:
        self.command = command
        self.future = future
        self.rows = len(command.submissions) if isinstance(command, Submit) else 1


class PostgresJournal:
    """Events, cards and the rest in PostgreSQL."""

    _sink: CardSink

    def __init__(self, store: PostgresStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._queue: deque[_Request] = deque()
        self._queued_rows = 0
        self._wake = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._applying: set[asyncio.Task[None]] = set()
        self._boards: dict[str, tuple[Board | None, float]] = {}
        self._routes: dict[tuple[int, int], BoardRoutes] = {}
        self._applied: list[int] = []
        self._recorded_at = 0
        self._known: set[str] = set()
        self._marking: asyncio.Task[None] | None = None
        self.commits = Commits()
        self.turn = asyncio.Lock()
        """Held while a batch is in the database."""

    def start(self, sink: CardSink) -> None:
        """Begin to accept commands; `sink` is told what was committed."""
        self._sink = sink
        self._task = asyncio.create_task(self._run(), name="toprung-writer")

    # --- the Journal port: writing ---------------------------------------------------------------

    async def record(self, command: Command) -> Result:
        """Record a command; durable when this returns."""
        if self._closing:
            raise Closed
        request = _Request(command, asyncio.get_running_loop().create_future())
        if self._queued_rows + request.rows > QUEUE_ROWS_MAX and self._queue:
            raise Overloaded
        self._queue.append(request)
        self._queued_rows += request.rows
        self._wake.set()
        return await request.future

    async def finish(self) -> None:
        """Accept no more, record what was accepted, and hand it over; not for ever, though.

        What cannot be recorded in time is told to those who wait for it.
        """
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
            await end_task(self._task)
        for request in self._queue:
            _deliver(request, Closed())
        self._queue.clear()
        if self._applying:
            await asyncio.wait(self._applying, timeout=CLOSE_SECONDS)
        for task in list(self._applying):
            await end_task(task)
        if self._marking is not None:  # if it takes long, others will apply once more
            await asyncio.wait([self._marking], timeout=MARK_SECONDS)
            await end_task(self._marking)

    async def close(self) -> None:
        """Finish what was accepted, then close the connections."""
        await self.finish()
        await self._store.close()

    # --- the writing task ------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            if not self._queue:
                if self._closing:
                    return
                self._wake.clear()
                await self._wake.wait()
                continue
            while len(self._applying) >= APPLYING_MAX:
                await asyncio.wait(self._applying, return_when=asyncio.FIRST_COMPLETED)
            async with self.turn:
                batch, begin = self._take(), time.perf_counter()
                await self._commit(batch)
                self.commits.note(sum([r.rows for r in batch]), time.perf_counter() - begin)

    @property
    def queued_rows(self) -> int:
        """How many submissions wait for the writer."""
        return self._queued_rows

    def _take(self) -> list[_Request]:
        """Whatever is waiting: a run of submissions, or one other command."""
        batch: list[_Request] = []
        rows = 0
        while self._queue and rows < COMMIT_ROWS_MAX:
            if batch and not isinstance(self._queue[0].command, Submit):
                break
            request = self._queue.popleft()
            self._queued_rows -= request.rows
            if request.future.done():  # nobody waits any more, and nothing was done yet
                continue
            batch.append(request)
            rows += request.rows
            if not isinstance(request.command, Submit):
                break
        return batch

    async def _commit(self, batch: list[_Request]) -> None:
        if not batch:
            return
        try:
            if isinstance(batch[0].command, Submit):
                await self._commit_submissions(batch)
            else:
                await self._commit_command(batch[0])
        except asyncio.CancelledError:
            for request in batch:
                _deliver(request, OutcomeUnknown())
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is, the callers must hear of it
            if not isinstance(error, ToprungError):
                _log.exception("a batch failed")
            for request in batch:
                _deliver(request, error)

    async def _commit_submissions(self, batch: list[_Request]) -> None:
        commands = [r.command for r in batch if isinstance(r.command, Submit)]

        async def work(connection: Any, batch_id: UUID) -> tuple[SubmitBatch, Sequence[Any]]:
            run = SubmitBatch(
                commands, self._moment(), self._known, self._routes_of, self._sink.before
            )
            return run, await run.run(connection, batch_id)

        if len(self._known) > PLAYERS_REMEMBERED:
            self._known.clear()
        run, results = await self._transact(work)
        for board in run.boards.values():
            self._boards[board.id] = (board, time.monotonic())
        await self._hand_over(run.changes, list(zip(batch, results, strict=True)))

    async def _commit_command(self, request: _Request) -> None:
        async def work(connection: Any, batch_id: UUID) -> CommandRun:
            run = CommandRun(self._store, connection, self._moment(), self._sink)
            await run.run(request.command, batch_id)
            return run

        run = await self._transact(work)
        if run.touched is not None:
            self._boards.pop(run.touched, None)
        while self._applying:  # a rebuild must not run into batches of before
            await asyncio.wait(self._applying)
        if run.follow is not None:
            await run.follow(self._sink)
        await self._hand_over(run.changes, [(request, run.result)])

    def _moment(self) -> int:
        """Now; within a process, times of recording never go back."""
        self._recorded_at = max(self._recorded_at, self._clock.now())
        return self._recorded_at

    def _routes_of(self, board: Board) -> BoardRoutes:
        name = (board.generation, board.version)
        routes = self._routes.get(name)
        if routes is None:
            if len(self._routes) > 1000:
                self._routes.clear()
            routes = self._routes[name] = BoardRoutes(board, self._store)
        return routes

    # --- handing over to the index ---------------------------------------------------------------

    async def _hand_over(
        self, changes: list[CardChanges], results: list[tuple[_Request, Any]]
    ) -> None:
        if not changes:
            for request, result in results:
                _deliver(request, result)
            return

        async def apply() -> None:
            try:
                self._mark_soon(await self._sink.apply(changes))
            except Exception:  # noqa: BLE001 -- it is durable; whatever this is, callers may go on
                _log.exception("committed changes could not be applied; they will be caught up")
            finally:
                for request, result in results:
                    _deliver(request, result)

        task = asyncio.create_task(apply())
        self._applying.add(task)
        task.add_done_callback(self._applying.discard)

    def _mark_soon(self, marks: Sequence[int]) -> None:
        """Mark outbox rows as applied, many at a time; if that is lost they are applied again."""
        self._applied.extend(marks)
        if self._applied and self._marking is None:
            self._marking = asyncio.create_task(self._mark())

    async def _mark(self) -> None:
        try:
            while self._applied:
                if not self._closing:
                    with suppress(TimeoutError):
                        await asyncio.sleep(0.1)
                marks, self._applied = self._applied, []
                with suppress(TruthUnavailable):
                    await self._store.execute(
                        "UPDATE outbox SET marked_at = now() WHERE id = ANY ($1)", marks
                    )
        finally:
            self._marking = None

    # --- transactions ----------------------------------------------------------------------------

    async def _transact(self, work: Callable[[Any, UUID], Awaitable[T]]) -> T:
        """Do `work` in a transaction, again if need be; its result is durable."""
        store = self._store
        again: tuple[type[BaseException], ...] = (*store.collided, Raced, TruthUnavailable)
        deadline = time.monotonic() + RETRY_SECONDS
        attempt = 0
        while True:
            batch, commits = uuid4(), _Commit()
            try:
                return await self._attempt(work, batch, commits)
            except store.lost as error:
                if commits.sent:
                    if await self._has_committed(batch):
                        return commits.result  # type: ignore[no-any-return]
                elif time.monotonic() > deadline:
                    raise StorageFailed(
                        f"PostgreSQL does not answer ({error}); nothing was recorded"
                    ) from error
            except again as error:
                if time.monotonic() > deadline:
                    raise StorageFailed(f"{error}; nothing was recorded") from error
            attempt += 1
            await asyncio.sleep(min(0.01 * 2**attempt, 0.5))

    async def _attempt(
        self, work: Callable[[Any, UUID], Awaitable[T]], batch: UUID, commits: _Commit
    ) -> T:
        async with self._store.pool.acquire(timeout=CONNECT_SECONDS_MAX) as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                result = commits.result = await work(connection, batch)
                commits.sent = True
                await transaction.commit()
            except BaseException:
                if not commits.sent:
                    with suppress(*self._store.lost):
                        await transaction.rollback()
                raise
            return result

    async def _has_committed(self, batch: UUID) -> bool:
        """Settle a commit whose answer was lost."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            try:
                async with self._store.connection() as connection:
                    status = await connection.execute(
                        "INSERT INTO batches (id) VALUES ($1) ON CONFLICT DO NOTHING", batch
                    )
            except TruthUnavailable as error:
                if time.monotonic() > deadline:
                    raise OutcomeUnknown from error
                await asyncio.sleep(0.1)
            else:
                return str(status) == "INSERT 0 0"

    # --- the Journal port: reading -------------------------------------------------------------

    async def read(self, after: int = 0, limit: int = 1000) -> AsyncIterator[Event]:
        """The events after a position, in order, none of which can be joined by one before it."""
        async with self._store.connection() as connection:
            settled = await connection.fetchval("SELECT settled_position()")
        for row in await self._store.select("read_events", after, settled, limit):
            yield _event(row)

    async def head(self) -> int:
        """The position of the last event."""
        async with self._store.connection() as connection:
            settled = await connection.fetchval("SELECT settled_position()")
            found = await connection.fetchval(
                "SELECT max(position) FROM events WHERE position <= $1", settled
            )
        return found or 0

    async def board(self, board_id: str) -> Board:
        """The board as now recorded, or as it was half a second ago by another process."""
        board, read_at = self._boards.get(board_id, (None, 0.0))
        if board is None or time.monotonic() - read_at > BOARD_SECONDS:
            board = await self._read_board(board_id, board)
        if board is None:
            raise UnknownBoard(f"there is no board {board_id!r}")
        return board

    async def _read_board(self, board_id: str, known: Board | None) -> Board | None:
        try:
            async with self._store.connection() as connection:
                row = await connection.fetchrow("SELECT * FROM boards WHERE id = $1", board_id)
        except TruthUnavailable:
            if known is None:
                raise
            return known  # reads go on while PostgreSQL is away
        if row is None:
            self._boards.pop(board_id, None)
            return None
        board = read_board(row)
        self._boards[board_id] = (board, time.monotonic())
        return board

    async def boards(self, after: str = "", limit: int = 100) -> list[Board]:
        """Boards in the order of their ids."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT * FROM boards WHERE id > $1 ORDER BY id LIMIT $2", after, limit
            )
        return [read_board(row) for row in rows]

    async def profiles(self, players: Sequence[str]) -> dict[str, PlayerProfile]:
        """The profiles of those players that are known, in one query."""
        rows = await self._store.select("profiles", list(dict.fromkeys(players)))
        return {
            player: PlayerProfile(player, name, avatar_url, msgspec.json.decode(attributes))
            for player, name, avatar_url, attributes in rows
        }

    async def names(self, players: Sequence[str]) -> dict[str, Shown]:
        """Name and avatar of those players that have one or the other, in one query."""
        rows = await self._store.select("shown", list(dict.fromkeys(players)))
        return {player: (name, avatar_url) for player, name, avatar_url in rows}

    async def friends(self, player: str) -> Sequence[str]:
        """A player's friends."""
        return [row[0] for row in await self._store.select("friends", player)]

    async def details(self, versions: Sequence[int]) -> dict[int, bytes]:
        """The details submitted at these positions, in one query."""
        rows = await self._store.select("details", list(versions))
        return dict(map(tuple, rows))

    async def submissions(
        self, board_id: str, player: str, before: int | None, limit: int
    ) -> list[RecordedSubmission]:
        """A player's submissions on the board as it now exists, newest first."""
        board = await self.board(board_id)
        until = FOREVER if before is None else before
        rows = await self._store.select(
            "player_submissions", player, board.generation, until, limit
        )
        return [
            RecordedSubmission(
                position, board_id, player, score, subscore, at, recorded_at, STATUSES[status], body
            )
            for position, score, subscore, at, recorded_at, status, body in rows
        ]


class _Commit:
    """How far a transaction got."""

    sent = False
    result: Any = None


def _deliver(request: _Request, result: Any) -> None:
    if request.future.done():  # cancelled meanwhile
        return
    if isinstance(result, Exception):
        request.future.set_exception(result)
    else:
        request.future.set_result(result)


def _event(row: Any) -> Event:
    if row["kind"] != "score":
        body = msgspec.json.decode(row["body"])
        return Event(row["position"], row["recorded_at"], row["kind"], body)
    board, version, source, stops = msgspec.json.decode(row["route"])
    body = {
        "board": board,
        "version": version,
        "source": source,
        "route": {"stops": stops},
        "player": row["player"],
        "at": row["at"],
        "score": row["score"],
        "subscore": row["subscore"],
        "status": row["status"],
    }
    return Event(row["position"], row["recorded_at"], "score", body)


_: type[Journal] = PostgresJournal
