"""The archives of settled periods: which are due, which are kept, who is erased from them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from toprung.domain.archive import (
    PERIOD,
    ArchiveFiles,
    SettledPeriod,
    generation_of,
    keys_start,
    period_key,
)
from toprung.domain.board import Board
from toprung.domain.commands import ArchivePeriod, SetDocument
from toprung.domain.documents import Document
from toprung.domain.ending import EndedPeriod, unarchived_periods
from toprung.domain.events import PeriodName
from toprung.domain.ladder import named_period
from toprung.domain.player import GLOBAL
from toprung.domain.timekeeping import Moment
from toprung.errors import (
    ArchiveDamaged,
    ArchiveGone,
    DocumentChanged,
    EntriesChanged,
    ToprungError,
    UnknownBoard,
)
from toprung.ports import ArchiveStore, Journal, PeriodReader
from toprung.waiting.pace import next_round

ATTEMPTS_MAX: Final = 5
"""To archive a period while players are erased from it."""
LISTED_AT_ONCE: Final = 100
BOARDS_AT_ONCE: Final = 100

_log = logging.getLogger("toprung")


class Done(NamedTuple):
    """What came of a look at all boards."""

    archived: int
    waiting: int
    """Periods that are settled and could not be archived."""
    deleted: int


class Archives:
    """Writes archives, and keeps the catalogue of them."""

    def __init__(
        self,
        journal: Journal,
        reader: PeriodReader,
        moment: Callable[[], Moment],
        store: ArchiveStore | None,
        forget: Callable[[ArchiveFiles], None],
    ) -> None:
        """`forget` is told of files that nobody should read any more."""
        self._journal = journal
        self._reader = reader
        self._moment = moment
        self.store = store
        self._forget = forget

    @property
    def is_on(self) -> bool:
        """Whether there is a place for archives: then new windows keep them."""
        return self.store is not None

    # --- the catalogue ---------------------------------------------------------------------------

    async def catalogue(self, after: str = "") -> AsyncIterator[tuple[str, Document]]:
        """All settled periods after a key, with their keys."""
        while found := await self._journal.documents(PERIOD, after, LISTED_AT_ONCE):
            for key, document in found.items():
                after = key
                yield key, document
            await next_round()

    async def of_board(self, board: Board, window: str = "") -> list[SettledPeriod]:
        """The settled periods of a board, or of one of its windows, in no order."""
        start = period_key(board.generation, window, "") if window else keys_start(board.generation)
        found = []
        async for key, document in self.catalogue(start):
            if not key.startswith(start):
                break
            found.append(_settled(document))
        return found

    async def find(self, board: Board, window: str, period: str) -> SettledPeriod | None:
        """A period, if it is archived."""
        named_period(board, board.window(window), period)
        document = await self._journal.document(
            PERIOD, period_key(board.generation, window, period)
        )
        if document is None or _settled(document).files is None:
            return None
        return _settled(document)

    # --- all of it -------------------------------------------------------------------------------

    async def archive_all(self) -> Done:
        """Archive what is settled, on all boards, and delete archives that are not kept."""
        archived = waiting = deleted = 0
        after, generations = "", set()
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                generations.add(board.generation)
                some, others = await self.archive_due(board)
                archived, waiting = archived + some, waiting + others
                deleted += await self.expire(board)
            await next_round()
        return Done(archived, waiting, deleted + await self.bury(generations))

    # --- writing ---------------------------------------------------------------------------------

    async def archive_due(self, board: Board) -> tuple[int, int]:
        """Archive what is settled on a board, in order; how many, and how many still wait.

        What follows a period that cannot be archived waits, too: see `Board.archived`.
        """
        if all(window.keep == 0 for window in board.windows):
            return 0, 0
        names = await self._reader.periods(board)
        due = [
            ended
            for ended in unarchived_periods(board, names, self._moment().believed)
            if await self._is_catalogued(board, ended)
        ]
        if self.store is None:
            return 0, len(due)
        for number, ended in enumerate(due):
            try:
                board = await self._archive(self.store, board, ended)
            except (ToprungError, OSError) as error:
                _log.warning(
                    "period %s of board %r waits for its archive: %s",
                    "/".join(ended.name), board.id, error,
                )  # fmt: skip
                return number, len(due) - number
        return len(due), 0

    async def _is_catalogued(self, board: Board, ended: EndedPeriod) -> bool:
        """Whether a period was settled itself, and not only passed over: nobody was in it then."""
        key = period_key(board.generation, *ended.name)
        return await self._journal.document(PERIOD, key) is not None

    async def _archive(self, store: ArchiveStore, board: Board, ended: EndedPeriod) -> Board:
        """Write the files, and record where they are; again, if somebody was erased meanwhile."""
        window, period = ended.name
        for attempt in range(1, ATTEMPTS_MAX + 1):
            contents = await self._reader.read(board, ended.name)
            files = await store.write(board, ended, contents)
            command = ArchivePeriod(
                board=board.id,
                generation=board.generation,
                window=window,
                period=period,
                files=files,
                position=contents.position,
                players=dict(contents.ladders).get(GLOBAL, 0),
            )
            try:
                found = await self._journal.record(command)
            except (EntriesChanged, DocumentChanged, UnknownBoard) as error:
                await self.discard(store, board, ended.name, files)
                if attempt == ATTEMPTS_MAX or not isinstance(error, EntriesChanged):
                    raise
            else:
                assert isinstance(found, Board)
                return found
        raise AssertionError("the last attempt returns or raises")

    async def discard(
        self, store: ArchiveStore, board: Board, name: PeriodName, files: ArchiveFiles
    ) -> None:
        """Delete files that were refused, but none that the catalogue names: others wrote them."""
        document = await self._journal.document(PERIOD, period_key(board.generation, *name))
        catalogued = None if document is None else _settled(document).files
        named = () if catalogued is None else catalogued.names
        await store.delete([each for each in files.names if each not in named])

    async def clear(
        self, store: ArchiveStore, newest: SettledPeriod, old: ArchiveFiles | None
    ) -> None:
        """Delete what the files of a period have replaced, and what others left who died."""
        await store.delete(await store.others(newest))
        if old is not None:
            self._forget(old)

    # --- letting go ------------------------------------------------------------------------------

    async def expire(self, board: Board) -> int:
        """Delete the archives of periods that are older than `keep` says; how many."""
        done, now = 0, self._moment().cautious
        for window in board.windows:
            if window.keep is None or self.store is None:
                continue
            archived = [each for each in await self.of_board(board, window.name) if each.files]
            oldest = _oldest_kept(board, window.name, window.keep, now, archived)
            for each in archived:
                if each.closes_at <= oldest:
                    await self._drop(self.store, board.generation, each)
                    done += 1
        return done

    async def _drop(self, store: ArchiveStore, generation: int, period: SettledPeriod) -> None:
        """Strike an archive off the catalogue, then delete its files."""
        key = period_key(generation, *period.name)
        struck = period.with_files(None)
        await self._journal.record(SetDocument(PERIOD, key, struck))
        await self._delete(store, period)

    async def _delete(self, store: ArchiveStore, period: SettledPeriod) -> None:
        if period.files is not None:
            await store.delete(period.files.names)
            self._forget(period.files)

    async def bury(self, generations: Collection[int]) -> int:
        """Delete the archives of boards that are deleted: all but these; how many."""
        done = 0
        async for key, document in self.catalogue():
            if generation_of(key) not in generations and self.store is not None:
                await self._journal.record(SetDocument(PERIOD, key, None))
                await self._delete(self.store, _settled(document))
                done += 1
        return done

    async def erase(self, players: Collection[int]) -> int:
        """Take the ids of erased players out of all archives; how many were written again."""
        done = 0
        if self.store is None or not players:
            return done
        damaged: ArchiveDamaged | None = None
        async for key, document in self.catalogue():
            period = _settled(document)
            if period.files is None:
                continue
            try:
                files = await self.store.without(period, players)
            except ArchiveGone:
                _log.warning("archive %r is missing", period.files.entries)
                continue
            except ArchiveDamaged as error:
                damaged = error
                continue
            if files is not None:
                await self._replace(self.store, generation_of(key), period, files)
                done += 1
        if damaged is not None:  # the others come first
            raise damaged
        return done

    async def _replace(
        self, store: ArchiveStore, generation: int, period: SettledPeriod, files: ArchiveFiles
    ) -> None:
        command = ArchivePeriod(
            board=period.board,
            generation=generation,
            window=period.window,
            period=period.period,
            files=files,
            position=None,
            players=period.players,
            replaces=period.files,
        )
        try:
            await self._journal.record(command)
        except UnknownBoard:  # `bury` deletes the old ones
            await store.delete(files.names)
        else:
            await self.clear(store, msgspec.structs.replace(period, files=files), period.files)

    # --- for people ------------------------------------------------------------------------------

    async def verify(self, period: SettledPeriod | None) -> str | None:
        """Read an archive whole; what is wrong with it."""
        if period is None:
            return "there is no archive of this period"
        if self.store is None:
            return "this process was not told where archives are"
        try:
            await self.store.check(period)
        except ToprungError as error:
            return str(error)
        return None

    async def export(self, period: SettledPeriod, target: Path) -> None:
        """Copy the Parquet file of an archive to a new file."""
        if self.store is not None and period.files is not None:
            await self.store.copy(period.files, target)


def _settled(document: Document) -> SettledPeriod:
    assert isinstance(document.value, SettledPeriod), "documents of the kind are that"
    return document.value


def _oldest_kept(
    board: Board, window: str, keep: int, now: int, archived: Collection[SettledPeriod]
) -> int:
    """When the last period ended whose archive is not kept any more."""
    calendar = board.calendar(board.window(window))
    period = calendar.period_at(now)
    first = min((each.closes_at for each in archived), default=now)
    for _ in range(keep + 1):  # the current one has no archive
        if period is None or period.opens_at is None or period.opens_at < first:
            return 0
        period = calendar.previous(period)
    return 0 if period is None or period.closes_at is None else period.closes_at
