"""The archives of settled periods: which are due, which are kept, who is erased from them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection
from math import inf
from pathlib import Path
from typing import Final

import msgspec

from toprung.domain.archive import (
    PERIOD,
    ArchiveFiles,
    SettledPeriod,
    generation_of,
    keys_end,
    keys_start,
    period_key,
)
from toprung.domain.board import Board
from toprung.domain.commands import ArchivePeriod, SetDocument
from toprung.domain.documents import Document
from toprung.domain.ending import EndedPeriod, may_have_unarchived, unarchived_periods
from toprung.domain.events import PeriodName
from toprung.domain.ladder import named_period
from toprung.domain.player import GLOBAL
from toprung.domain.timekeeping import Moment
from toprung.domain.window import Window
from toprung.errors import (
    ArchiveDamaged,
    ArchiveGone,
    ArchiveUnavailable,
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
PERIODS_PER_TURN: Final = 50
"""That are counted before others have their turn: a millisecond or two."""

_log = logging.getLogger("toprung")


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
        self.moment = moment
        self.store = store
        self._forget = forget

    @property
    def is_on(self) -> bool:
        """Whether there is a place for archives: then new windows keep them."""
        return self.store is not None

    async def adopt(self) -> bool:
        """Have the store belong to this journal; whether it was another one's."""
        if self.store is None:
            raise ArchiveUnavailable("this process was not told where archives are")
        before = await self.store.adopt()
        return before not in (None, await self._journal.identity())

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

    # --- writing ---------------------------------------------------------------------------------

    async def archive_due(self, board: Board) -> tuple[Board, int, int]:
        """Archive what is settled on a board, in order.

        Return the board then, how many were archived, and how many still wait.
        What follows a period that cannot be archived waits, too: see `Board.archived`.
        """
        due = await self._due(board)
        if self.store is None:
            return board, 0, len(due)
        for number, (ended, settled) in enumerate(due):
            try:
                board = await self._archive(self.store, board, ended, settled)
            except (ToprungError, OSError) as error:
                _log.warning(
                    "period %s of board %r waits for its archive: %s",
                    "/".join(ended.name), board.id, error,
                )  # fmt: skip
                return board, number, len(due) - number
        return board, len(due), 0

    async def _due(self, board: Board) -> list[tuple[EndedPeriod, SettledPeriod]]:
        """Settled periods that wait for their archive, in order of their ends.

        Somebody was in them when they were settled; who is left there makes no difference.
        """
        found: dict[PeriodName, SettledPeriod] = {}
        for window in board.windows:
            if not may_have_unarchived(board, window):
                continue
            start = period_key(board.generation, window.name, "")
            mark = board.archived.get(window.name)
            last = None if mark is None else board.calendar(window).period_at(mark - 1)
            # They are catalogued in the order of time, as their names are.
            async for key, document in self.catalogue(start if last is None else start + last.id):
                if not key.startswith(start):
                    break
                if _settled(document).players:
                    found[_settled(document).name] = _settled(document)
        due = unarchived_periods(board, found, self.moment().believed)
        return [(ended, found[ended.name]) for ended in due]

    async def _archive(
        self, store: ArchiveStore, board: Board, ended: EndedPeriod, settled: SettledPeriod
    ) -> Board:
        """Write the files, and record where they are; again, if somebody was erased meanwhile."""
        window, period = ended.name
        for attempt in range(1, ATTEMPTS_MAX + 1):
            contents = await self._reader.read(board, ended.name)
            files = await store.write(board, ended, contents)
            obsolete = await self.obsolete(store, settled, files)
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
                await self.clear(store, obsolete)
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

    async def obsolete(
        self, store: ArchiveStore, period: SettledPeriod, files: ArchiveFiles
    ) -> list[str]:
        """What can be deleted once a period has these files.

        That is those that it had, and others that somebody left who died. It is asked before they
        are recorded: whoever has written files by then and records them later is refused, and
        whoever begins later has files that are not among these.
        """
        return await store.others(msgspec.structs.replace(period, files=files))

    async def clear(
        self, store: ArchiveStore, obsolete: Collection[str], old: ArchiveFiles | None = None
    ) -> None:
        """Delete what the files of a period have replaced."""
        await store.delete(obsolete)
        if old is not None:
            self._forget(old)

    # --- letting go ------------------------------------------------------------------------------

    async def expire(self, board: Board, after: dict[str, str]) -> int:
        """Delete the archives of periods that are older than `keep` says; how many.

        `after` has, by window, the key up to which nothing is left to be deleted; it is moved on.
        It holds as long as the rule `keep` is the same.
        """
        done = 0
        for window in board.windows:
            if window.keep is not None and self.store is not None:
                done += await self._expire(self.store, board, window, after)
        return done

    async def _expire(
        self, store: ArchiveStore, board: Board, window: Window, after: dict[str, str]
    ) -> int:
        done, oldest = 0, None
        # Later ones may still get an archive.
        last = board.archived.get(window.name, 0) if window.keep else inf
        start = period_key(board.generation, window.name, "")
        async for key, document in self.catalogue(after.get(window.name, start)):
            period = _settled(document)
            if not key.startswith(start) or period.closes_at > last:
                break
            if period.files is not None:
                if oldest is None:
                    oldest = await _oldest_kept(
                        board, window, self.moment().cautious, period.closes_at
                    )
                if period.closes_at > oldest:
                    break
                await self._drop(store, key, period)
                done += 1
            after[window.name] = key
        return done

    async def _drop(self, store: ArchiveStore, key: str, period: SettledPeriod) -> None:
        """Delete an archive, then strike it off the catalogue: whoever dies leaves nothing."""
        assert period.files is not None, "it is archived"
        await store.delete(period.files.names)
        await self._journal.record(SetDocument(PERIOD, key, period.with_files(None)))
        self._forget(period.files)

    async def bury(self, generation: int) -> int:
        """Delete the archives of a board that is deleted; how many."""
        done, start = 0, keys_start(generation)
        async for key, document in self.catalogue(start):
            if not key.startswith(start) or self.store is None:
                break
            period = _settled(document)
            if not done:
                await self.store.delete_board(period.board, generation)
            await self._journal.record(SetDocument(PERIOD, key, None))
            if period.files is not None:
                self._forget(period.files)
            done += 1
        return done

    async def generations(self) -> list[int]:
        """Those of the boards in the catalogue, deleted ones included: one look-up for each."""
        found: list[int] = []
        after = ""
        while page := await self._journal.documents(PERIOD, after, 1):
            found.append(generation_of(next(iter(page))))
            after = keys_end(found[-1])
        return found

    async def erase(self, players: Collection[int]) -> int:
        """Take the ids of erased players out of all archives; how many were written again."""
        done = 0
        if self.store is None or not players:
            return done
        damaged: ArchiveDamaged | None = None
        left = _Left(self.store)
        async for key, document in self.catalogue():
            try:
                done += await self._erase_from(left, key, document, players)
            except ArchiveDamaged as error:
                damaged = error
        if damaged is not None:  # the others come first
            raise damaged
        return done

    async def _erase_from(
        self, left: _Left, key: str, document: Document | None, players: Collection[int]
    ) -> bool:
        """Take ids out of an archive; also if it was replaced since it was looked up."""
        store = left.store
        while document is not None and (files := _settled(document).files) is not None:
            period = _settled(document)
            try:
                rewritten = await store.without(period, players)
            except ArchiveGone:
                document = await self._journal.document(PERIOD, key)
                if document is not None and _settled(document).files == files:
                    _log.warning("archive %r is missing", files.entries)
                    return False
            else:
                if rewritten is None:
                    await store.delete(await left.of(period))
                else:
                    await self._replace(store, generation_of(key), period, rewritten)
                return rewritten is not None
        return False

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
        obsolete = await self.obsolete(store, period, files)
        try:
            await self._journal.record(command)
        except UnknownBoard:  # `bury` deletes the old ones
            await store.delete(files.names)
        else:
            await self.clear(store, obsolete, period.files)

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


class _Left:
    """Finds files that were replaced and are still there: somebody died before they were deleted.

    Periods of a window follow each other in the catalogue; its files are listed once.
    """

    def __init__(self, store: ArchiveStore) -> None:
        self.store = store
        self._window: tuple[str, str] | None = None
        self._names: set[str] = set()

    async def of(self, period: SettledPeriod) -> list[str]:
        """Names of such files of a period."""
        if not period.replaced or period.files is None:
            return []
        window = period.board, period.window
        if self._window != window:
            self._names, self._window = await self.store.beside(period.files), window
        return [name for name in period.replaced if name in self._names]


def _settled(document: Document) -> SettledPeriod:
    assert isinstance(document.value, SettledPeriod), "documents of the kind are that"
    return document.value


async def _oldest_kept(board: Board, window: Window, now: int, first: int) -> int:
    """When the last period ended whose archive is not kept; 0 if none has ended since `first`."""
    calendar = board.calendar(window)
    period = calendar.period_at(now)
    if period is None:  # a season that is over has no other period
        return 0 if window.keep else now
    for number in range((window.keep or 0) + 1):  # the current one has no archive
        if period is None or period.opens_at is None or period.opens_at < first:
            return 0
        period = calendar.previous(period)
        if number % PERIODS_PER_TURN == 0:
            await next_round()
    return 0 if period is None or period.closes_at is None else period.closes_at
