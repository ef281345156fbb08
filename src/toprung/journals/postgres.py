"""The journal in PostgreSQL, written by any number of processes.

Theory of operation. Within a process callers hand commands to a bounded queue (`postgres_queue`);
one task takes whatever is waiting (submissions, or other commands that touch different things) and
brings it through one transaction (`postgres_submit`, `postgres_commands`), so a thousand callers
share one commit. Submissions of different players may be in two transactions at a time
(`postgres_flights`); commands about one player keep their order. A transaction that was interrupted
is settled by its batch's id (`postgres_transaction`). After the commit the changed cards go to the
index (`postgres_hand_over`) while the next transaction is already under way; callers are answered
when both have happened, or when the index turned out to be away.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands import Bundle, Command, SingleCommand, Submit
from toprung.domain.commands.outcomes import STATUSES
from toprung.domain.documents import Document, read_document
from toprung.domain.events import CARDS_FORMAT, Event, PeriodName, Scored
from toprung.domain.figures import Commits
from toprung.domain.ladder import Ladder
from toprung.domain.layout import Entries
from toprung.domain.player import name_range
from toprung.domain.quotas import Refusals
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.names import NameReview
from toprung.domain.trust.restriction import Restriction, restriction_in, shown_attributes
from toprung.domain.trust.review import FIRST, Order, WaitingSubmission
from toprung.errors import OutcomeUnknown, ToprungError, TruthUnavailable, UnknownBoard
from toprung.journals.own_writes import OwnWrites, players_named_by
from toprung.journals.postgres_cards import CardNames
from toprung.journals.postgres_commands import CommandsRun, Surroundings
from toprung.journals.postgres_details import details_of
from toprung.journals.postgres_flights import Flights
from toprung.journals.postgres_formats import PostgresFormats
from toprung.journals.postgres_hand_over import HandOver
from toprung.journals.postgres_key_counts import PostgresKeyCounts
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_names import PostgresNames
from toprung.journals.postgres_queue import QUEUE_ROWS_MAX, CommandQueue, Request, Result
from toprung.journals.postgres_review import waiting
from toprung.journals.postgres_revoked import remaining, submission_at
from toprung.journals.postgres_routes import BoardRoutes
from toprung.journals.postgres_rows import event_of, read_board
from toprung.journals.postgres_store import PostgresStore
from toprung.journals.postgres_submit import Limits, SubmitBatch
from toprung.journals.postgres_time import PostgresTime
from toprung.journals.postgres_transaction import transact
from toprung.ports import (
    Applied,
    CardChanges,
    CardSink,
    FoundSubmission,
    Journal,
    NameAndAvatar,
    PlayerProfile,
    RecordedSubmission,
    RemainingHistory,
)
from toprung.waiting.tasks import end_task

CLOSE_SECONDS = 15.0
"""How long closing waits for the database, and then for the index."""

BOARD_SECONDS = 0.5
"""How long a board is believed to be as it was last read."""

FOREVER = 2**62

_log = logging.getLogger("toprung")


class PostgresJournal:
    """Events, cards and the rest in PostgreSQL."""

    _sink: CardSink

    def __init__(
        self,
        store: PostgresStore,
        time: PostgresTime,
        key_counts: PostgresKeyCounts,
        ladders: PostgresLadders,
        formats: PostgresFormats,
    ) -> None:
        self._store = store
        self._formats = formats
        self._key_counts = key_counts
        self._ladders = ladders
        self.time = time
        """What time it is."""
        self.shown = PostgresNames(store)
        """Names and avatars, as far as they are remembered."""
        self.own_writes = OwnWrites()
        self.tell_names: Callable[[Collection[str]], None] = lambda _: None
        """Tells other processes of players whose names are others now."""
        self._queue = CommandQueue()
        self._hand_over = HandOver(store)
        self._task: asyncio.Task[None] | None = None
        self._boards: dict[str, tuple[Board | None, float]] = {}
        self._board_changes = 0
        """How many boards this process has changed: what was read across a change is not kept."""
        self._board_reads: dict[str, asyncio.Task[Board | None]] = {}
        """Reads under way, which whoever asks meanwhile waits for, too."""
        self._routes: dict[tuple[int, int], BoardRoutes] = {}
        self._recorded_at = 0
        store.line.on_move(self._forget)
        self.commits = Commits()
        self._flights = Flights()
        self.taking = asyncio.Lock()
        """Held while a batch is taken from the queue."""

    def _forget(self) -> None:
        """The line is another one: what was read before may not be true there."""
        self._boards.clear()
        self._board_reads.clear()
        self._board_changes += 1
        self._routes.clear()
        self.shown.drop(None)

    def start(self, sink: CardSink) -> None:
        """Begin to accept commands; `sink` is told what was committed."""
        self._sink = sink
        self._task = asyncio.create_task(self._run(), name="toprung-writer")

    # --- the Journal port: writing ---------------------------------------------------------------

    async def record(self, command: Command) -> Result:
        """Record a command; durable when this returns."""
        try:
            return await self._queue.put(command)
        finally:
            self.own_writes.note(command)

    async def finish(self) -> None:
        """Accept no more, record what was accepted, and hand it over; not for ever, though.

        What cannot be recorded in time is told to those who wait for it.
        """
        self._queue.close()
        self._hand_over.hurry()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
            await end_task(self._task)
        self._queue.refuse()
        await self._hand_over.finish(CLOSE_SECONDS)

    async def close(self) -> None:
        """Finish what was accepted, then close the connections."""
        await self.finish()
        await self._store.close()

    # --- the writing task ------------------------------------------------------------------------

    async def _run(self) -> None:
        flights = self._flights
        try:
            while await self._queue.has_more():
                await self._hand_over.wait_for_room()
                await flights.wait_for_room()
                async with self.taking:
                    batch = self._queue.take(flights.players)
                if not batch:  # all that wait are busy, or nobody waits any more
                    await flights.wait_for_one()
                elif isinstance(batch[0].command, Submit):
                    flights.begin(batch, self._commit)
                else:
                    await flights.wait_for_all()
                    await self._commit(batch)
            await flights.wait_for_all()
        finally:
            await flights.end()

    @property
    def queued_rows(self) -> int:
        """How many submissions wait for the writer."""
        return self._queue.rows

    @property
    def refusals(self) -> Refusals:
        """How often quotas made somebody hear no."""
        return self._key_counts.refusals

    @property
    def is_full(self) -> bool:
        """Whether submissions are refused until some of those that wait are recorded."""
        return self._queue.rows >= QUEUE_ROWS_MAX

    async def _commit(self, batch: Sequence[Request]) -> None:
        begin = time.perf_counter()
        await self._try_commit(batch)
        self.commits.note(sum([r.rows for r in batch]), time.perf_counter() - begin)

    async def _try_commit(self, batch: Sequence[Request]) -> None:
        submits = [r.command for r in batch if isinstance(r.command, Submit)]
        others = [r.command for r in batch if not isinstance(r.command, Submit)]
        try:
            if submits:
                await self._commit_submissions(batch, submits)
            else:
                await self._commit_commands(batch, others)
        except asyncio.CancelledError:
            for request in batch:
                request.answer(OutcomeUnknown())
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is, the callers must hear of it
            if not isinstance(error, ToprungError):
                _log.exception("a batch failed")
            for request in batch:
                request.answer(error)

    async def _commit_submissions(
        self, batch: Sequence[Request], commands: Sequence[Submit]
    ) -> None:
        async def work(connection: Any, batch_id: UUID) -> SubmitBatch:
            run = self._new_submit_batch(commands)
            await run.run(connection, batch_id)
            return run

        await self._formats.permit(Scored)
        await self._formats.seek(CARDS_FORMAT)
        run, line = await transact(self._store, work)
        self._note(run.boards, run.new_keys)
        self._answer(line, batch, run.changes, run.results)

    def _new_submit_batch(self, commands: Sequence[Submit]) -> SubmitBatch:
        return SubmitBatch(
            commands,
            self._moment(),
            self.time,
            self._routes_of,
            Limits(self._key_counts.refusal, self._ladders),
            has_unowned_keys=self._store.has_unowned_keys,
            locks_players=not self._formats.has(CARDS_FORMAT),
        )

    def _note(self, boards: Mapping[str, Board], new_keys: dict[tuple[int, str], int]) -> None:
        """Remember what a transaction has found and used."""
        self._key_counts.note(new_keys)
        for board in boards.values():
            self._boards[board.id] = (board, time.monotonic())

    async def _commit_commands(
        self, batch: Sequence[Request], commands: Sequence[SingleCommand | Bundle]
    ) -> None:
        async def work(connection: Any, batch_id: UUID) -> CommandsRun:
            surroundings = Surroundings(
                self._store,
                self._moment(),
                self._sink,
                self._ladders,
                self._formats,
                self._new_submit_batch,
            )
            run = CommandsRun(connection, surroundings)
            await run.run(commands, batch_id)
            return run

        named = players_named_by(commands)
        try:
            run, line = await transact(self._store, work)
        finally:
            if named:  # even if nobody knows what became of it
                self.shown.drop(named)
                self.tell_names(named)
        self._note(run.boards, run.new_keys)
        if run.touched is not None:
            self._board_changes += 1
            self._boards.pop(run.touched, None)
            self._board_reads.pop(run.touched, None)  # it may have begun before the change
        await self._hand_over.wait_for_all()  # a rebuild must not run into batches of before
        if run.follow is not None:
            with self._store.line.held(line):
                await run.follow(self._sink)
        self._answer(line, batch, run.changes, lambda _: run.results)

    def _answer(
        self,
        line: str,
        batch: Sequence[Request],
        changes: Sequence[CardChanges],
        results: Callable[[Sequence[Applied]], Sequence[Any]],
    ) -> None:
        """Tell the callers their results as soon as the index has had its chance."""

        def deliver(applied: Sequence[Applied]) -> None:
            for request, result in zip(batch, results(applied), strict=True):
                request.answer(result)

        if changes:
            self._hand_over.begin(line, changes, self._sink, deliver)
        else:
            deliver(())

    def _moment(self) -> Moment:
        """What time it is; within a process, times of recording never go back."""
        moment = self.time.moment()
        self._recorded_at = max(self._recorded_at, moment.recorded_at)
        return moment._replace(recorded_at=self._recorded_at)

    def _routes_of(self, board: Board) -> BoardRoutes:
        name = (board.generation, board.version)
        routes = self._routes.get(name)
        if routes is None:
            if len(self._routes) > 1000:
                self._routes.clear()
            routes = self._routes[name] = BoardRoutes(board, self._store)
        return routes

    # --- the Journal port: reading -------------------------------------------------------------

    async def read(self, after: int = 0, limit: int = 1000) -> AsyncIterator[Event]:
        """The events after a position, in order, none of which can be joined by one before it."""
        async with self._store.connection() as connection:
            settled = await connection.fetchval("SELECT settled_position()")
        for row in await self._store.select("read_events", after, settled, limit):
            yield event_of(row)

    async def identity(self) -> str:
        """The server, the database and the schema: a dump may be restored elsewhere."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT system_identifier, current_database(), current_schema()"
                " FROM pg_control_system()"
            )
        return "/".join(map(str, row))

    async def last_position(self) -> int:
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
        age = time.monotonic() - read_at
        if board is None or age > BOARD_SECONDS:
            board = await self._read_board_together(board_id, board)
        elif age > BOARD_SECONDS / 2 and board_id not in self._board_reads:
            self._begin_reading(board_id, board)  # so that nobody has to wait for it
        if board is None:
            raise UnknownBoard(f"there is no board {board_id!r}")
        return board

    async def _read_board_together(self, board_id: str, known: Board | None) -> Board | None:
        """One query for all who ask at once; who gives up does not end it for the others."""
        reading = self._board_reads.get(board_id) or self._begin_reading(board_id, known)
        return await asyncio.shield(reading)

    def _begin_reading(self, board_id: str, known: Board | None) -> asyncio.Task[Board | None]:
        reads = self._board_reads
        reading = reads[board_id] = asyncio.create_task(self._read_board(board_id, known))

        def end(task: asyncio.Task[Board | None]) -> None:
            if reads.get(board_id) is task:
                del reads[board_id]
            if not task.cancelled():
                task.exception()  # all who asked may have given up: then nobody hears of it

        reading.add_done_callback(end)
        return reading

    async def _read_board(self, board_id: str, known: Board | None) -> Board | None:
        changes, begin = self._board_changes, time.monotonic()
        try:
            async with self._store.connection() as connection:
                row = await connection.fetchrow("SELECT * FROM boards WHERE id = $1", board_id)
        except TruthUnavailable:
            if known is None:
                raise
            if changes == self._board_changes:
                self._boards[board_id] = (known, time.monotonic())
            return known  # reads go on while PostgreSQL is away
        if row is None:
            self._boards.pop(board_id, None)
            return None
        is_same = known is not None and (known.version, known.generation) == row[1:3]
        board = known if is_same else read_board(row)
        if changes == self._board_changes:
            self._boards[board_id] = (board, begin)
        return board

    async def boards(self, after: str = "", limit: int = 100) -> list[Board]:
        """Boards in the order of their ids."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT * FROM boards WHERE id > $1 ORDER BY id LIMIT $2", after, limit
            )
        return [read_board(row) for row in rows]

    async def boards_token(self) -> str:
        """What tells whether boards have changed: the same in every process."""
        return await self._store.boards_token()

    async def profiles(self, players: Sequence[str]) -> dict[str, PlayerProfile]:
        """The profiles of those players that are known, in one query."""
        rows = await self._store.select("profiles", list(dict.fromkeys(players)))
        return {
            player: PlayerProfile(
                player, name, avatar_url, shown_attributes(msgspec.json.decode(attributes))
            )
            for player, name, avatar_url, attributes in rows
        }

    async def names(self, players: Sequence[str]) -> dict[str, NameAndAvatar]:
        """Name and avatar of those players that have one or the other, in at most one query.

        As now recorded, or as it was a second ago by another process.
        """
        return await self.shown.find(players)

    async def named(self, prefix: str, limit: int) -> Sequence[str]:
        """Players whose names begin like this, in the order of their names."""
        rows = await self._store.select("named", *name_range(prefix), limit)
        return [row[0] for row in rows]

    async def pending_name(self, player: str) -> str | None:
        """The name of a player that waits for a moderator, if one does."""
        rows = await self._store.select("pending_name", player)
        return rows[0][0] if rows else None

    async def pending_names(self, after: str, limit: int) -> list[NameReview]:
        """Names that wait for a moderator, in the order of players' ids."""
        rows = await self._store.select("pending_names", after, limit)
        return [NameReview(*row) for row in rows]

    async def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of players by their numbers, in one query."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT number, id FROM players WHERE number = ANY ($1)", list(numbers)
            )
        return dict(map(tuple, rows))

    async def numbers(self, players: Sequence[str]) -> dict[str, int]:
        """What events name these players by, where they are known, in one query."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT id, number FROM players WHERE id = ANY ($1)", list(players)
            )
        return dict(map(tuple, rows))

    async def document(self, kind: str, key: str) -> Document | None:
        """A document, if there is one."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT version, value FROM documents WHERE kind = $1 AND key = $2", kind, key
            )
        return None if row is None else read_document(kind, row[0], row[1])

    async def documents(self, kind: str, after: str = "", limit: int = 100) -> dict[str, Document]:
        """Documents of a kind by key, in the order of keys."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT key, version, value FROM documents WHERE kind = $1 AND key > $2"
                " ORDER BY key LIMIT $3",
                kind,
                after,
                limit,
            )
        return {key: read_document(kind, version, value) for key, version, value in rows}

    async def waiting(
        self,
        generation: int | None,
        order: Order = "oldest",
        after: tuple[int, str] = FIRST,
        limit: int = 100,
    ) -> list[WaitingSubmission]:
        """Submissions that wait for a verdict."""
        return await waiting(self._store, generation, order, after, limit)

    async def friends(self, player: str) -> Sequence[str]:
        """A player's friends."""
        return [row[0] for row in await self._store.select("friends", player)]

    async def details(
        self, board: Board, ladder: Ladder, entries: Sequence[tuple[str, bytes]]
    ) -> dict[str, bytes]:
        """The details that were submitted with entries, as the players' cards have them."""
        return await details_of(self._store, board, ladder, entries)

    async def details_at(self, positions: Sequence[int]) -> dict[int, bytes]:
        """The details of submissions, in one query."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT position, details FROM events WHERE position = ANY ($1::bigint[])"
                " AND details IS NOT NULL",
                list(positions),
            )
        return dict(map(tuple, rows))

    async def entries_of(self, board: Board, player: str) -> Entries[bytes]:
        """A player's entries on a board, with their scopes, as the player's card has them."""
        rows = await self._store.select("cards_by_id", board.generation, [player])
        found = await CardNames(self._store).read(board, [entries for _, _, entries in rows])
        return found[0] if found else {}

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
                position, board_id, player, score, subscore, at, recorded_at, STATUSES[status],
                body, *revoked,
            )
            for position, score, subscore, at, recorded_at, status, body, *revoked in rows
        ]  # fmt: skip

    async def submission(self, position: int) -> FoundSubmission | None:
        """The submission at a position, if there is one."""
        return await submission_at(self._store, position)

    async def remaining(
        self, board: Board, player: str, periods: Sequence[PeriodName]
    ) -> RemainingHistory:
        """What a player's entries in some periods are to be folded from."""
        return await remaining(self._store, board, player, periods)

    async def restrictions(self, players: Sequence[str]) -> dict[str, Restriction]:
        """The restrictions of those of the players that have one, in one query."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(_RESTRICTED, list(players))
        found = {player: restriction_in(msgspec.json.decode(text)) for player, text in rows}
        return {player: each for player, each in found.items() if each is not None}


_RESTRICTED = "SELECT id, attributes FROM players WHERE id = ANY ($1) AND is_restricted(attributes)"


_: type[Journal] = PostgresJournal
