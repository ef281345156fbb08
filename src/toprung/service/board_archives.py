"""The archives of one board, for people."""

from __future__ import annotations

from pathlib import Path

from toprung.domain.archive import SettledPeriod
from toprung.domain.board import Board
from toprung.domain.instant import instant_datetime
from toprung.domain.standing import ArchiveCheck, ArchivedPeriod, ReadablePeriod
from toprung.domain.values import parse_text
from toprung.errors import PeriodGone
from toprung.service.board_access import BoardAccess
from toprung.service.pages import LIMIT_MAX
from toprung.service.view import shown_period


class BoardArchives(BoardAccess):
    """What is archived of a board."""

    __slots__ = ()

    async def periods(self, window: str | None = None) -> list[ReadablePeriod]:
        """Return the periods of a window that can be read, newest first: at most 1,000.

        These are the periods that are retained, those that wait for their archive, and those that
        are archived.
        """
        board = await self._journal.board(self.id)
        now = self._clock.now()
        chosen = board.window(window)
        calendar = board.calendar(chosen)
        waiting = await self._parts.endings.waiting(board, chosen, now)
        known = (*calendar.retained(now), *waiting)
        found = {each.id: each for each in known if not board.has_left(chosen.name, each)}
        archived = await self._archived(board, chosen.name)
        newest = sorted(archived, key=lambda each: each.closes_at, reverse=True)
        for each in newest[:LIMIT_MAX]:
            period = calendar.period(each.period)
            if period is not None:
                found.setdefault(period.id, period)
        shown = sorted(found.values(), key=lambda each: each.opens_at or 0, reverse=True)
        return [shown_period(board, chosen, period, now) for period in shown[:LIMIT_MAX]]

    async def archives(self, window: str | None = None) -> list[ArchivedPeriod]:
        """Return the archives of a board, or of one of its windows, newest first: at most 1,000."""
        board = await self._journal.board(self.id)
        name = "" if window is None else board.window(window).name
        found = await self._archived(board, name)
        newest = sorted(found, key=lambda each: (each.closes_at, each.window), reverse=True)
        return [_shown(each) for each in newest[:LIMIT_MAX]]

    async def verify_archive(self, window: str, period: str) -> ArchiveCheck:
        """Read the archive of a period whole, and return what is wrong with it, if anything is.

        Its files must be those that were written, and its entries must have the recorded digest.
        """
        found = await self._find(window, period)
        return ArchiveCheck(self.id, window, period, await self._parts.archives.verify(found))

    async def export_archive(self, window: str, period: str, path: str) -> None:
        """Copy the Parquet file of a period to a new file of this machine."""
        found = await self._find(window, period)
        if found is None:
            raise PeriodGone(f"period {period!r} of window {window!r} has no archive")
        await self._parts.archives.export(found, Path(path))

    async def _find(self, window: str, period: str) -> SettledPeriod | None:
        board = await self._journal.board(self.id)
        names = parse_text(window, "window"), parse_text(period, "period")
        return await self._parts.archives.find(board, *names)

    async def _archived(self, board: Board, window: str) -> list[SettledPeriod]:
        found = await self._parts.archives.of_board(board, window)
        windows = {each.name for each in board.windows}
        return [each for each in found if each.files is not None and each.window in windows]


def _shown(period: SettledPeriod) -> ArchivedPeriod:
    files = period.files
    assert files is not None, "only what is archived is shown"
    return ArchivedPeriod(
        period.board,
        *period.name,
        None if period.opens_at is None else instant_datetime(period.opens_at),
        instant_datetime(period.closes_at),
        period.players,
        period.entries,
        period.digest,
        files.entries,
        files.entries_bytes + files.index_bytes,
    )
