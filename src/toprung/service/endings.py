"""Closing and settling periods: by hand, and when it is time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Final, cast

from toprung.domain.archive import PERIOD, SettledPeriod, period_key
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.commands import ClosePeriod, SettlePeriod
from toprung.domain.digest import Digested, Digester
from toprung.domain.ending import (
    EndedPeriod,
    ended_period,
    ended_periods,
    is_closed,
    was_closed_last,
)
from toprung.domain.events import PeriodName
from toprung.domain.player import GLOBAL
from toprung.domain.standing import PeriodEnding
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.act import LIBRARY, By
from toprung.domain.window import Window
from toprung.errors import EntriesChanged, NotYet
from toprung.ports import Journal, PeriodReader
from toprung.ports.records import record_reader
from toprung.service.reviewing import Reviews
from toprung.waiting.pace import next_round

BOARDS_AT_ONCE: Final = 100
ATTEMPTS_MAX: Final = 5
"""To settle a period while its entries are being changed."""


class Endings:
    """Ends periods of boards."""

    def __init__(
        self,
        journal: Journal,
        reader: PeriodReader,
        moment: Callable[[], Moment],
        reviews: Reviews,
    ) -> None:
        self._journal = journal
        self.reviews = reviews
        """What decides submissions that wait in a period which is about to be settled."""
        self._reader = reader
        self._moment = moment

    async def close(
        self, board_id: str, window: str, period: str, *, by: By = LIBRARY, dry_run: bool = False
    ) -> PeriodEnding:
        """Close a period that has ended, without waiting for the end of its grace."""
        board, ended = await self._ended(board_id, window, period)
        if not (dry_run or board.is_closed(*ended.key)):
            for before in await self._before(board, ended):
                if not board.is_closed(*before.key):
                    raise _too_early("closed", before)
            board = await self._close(board, ended.name, by)
        found = await self._found(board, ended)
        return self._ending(board, ended, found, dry_run=dry_run)

    async def settle(
        self, board_id: str, window: str, period: str, *, by: By = LIBRARY, dry_run: bool = False
    ) -> PeriodEnding:
        """Settle a period that is closed, without waiting for the end of its review time."""
        board, ended = await self._ended(board_id, window, period)
        if dry_run or board.is_settled(*ended.key):
            found = await self._found(board, ended)
        else:
            for before in await self._before(board, ended):
                raise _too_early("settled", before)
            board, found = await self._settle(board, ended.name, by)
        return self._ending(board, ended, found, dry_run=dry_run)

    async def waiting(self, board: Board, window: Window, now: int) -> list[Period]:
        """Periods that `retain` would let go of, and that wait to be settled and archived."""
        calendar = board.calendar(window)
        oldest = calendar.previous(calendar.retained(now)[-1])
        if oldest is None or not board.retains(window, oldest, now):
            return []  # most often
        named = await self._reader.periods(board)
        found = (calendar.period(period) for name, period in named if name == window.name)
        return [each for each in found if each is not None and board.retains(window, each, now)]

    async def _ended(self, board_id: str, window: str, period: str) -> tuple[Board, EndedPeriod]:
        board = await self._journal.board(board_id)
        return board, ended_period(board, window, period, self._moment().believed)

    async def _before(self, board: Board, ended: EndedPeriod) -> list[EndedPeriod]:
        """Periods of the same window that are not settled and come first."""
        names = await self._reader.periods(board)
        found = [
            each
            for each in ended_periods(board, names, self._moment().believed)
            if each.window is ended.window and each.ended_at < ended.ended_at
        ]
        occupied = await self._occupied(board, found)
        return [each for each in found if each.name in occupied]

    async def _occupied(self, board: Board, periods: Sequence[EndedPeriod]) -> set[PeriodName]:
        if not periods:
            return set()
        return await self._reader.occupied(board, [each.name for each in periods])

    async def end_all(self) -> int:
        """Close and settle whatever is due, on all boards; how many closings and settlings."""
        done, after = 0, ""
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                done += (await self.end_due(board))[0]
            await next_round()
        return done

    async def end_due(self, board: Board) -> tuple[int, float]:
        """Close and settle what is due on a board, in order.

        Tells how many there were, and when the next is due.
        """
        done, now, due_at = 0, self._moment().believed, inf
        due = []
        for ended in ended_periods(board, await self._reader.periods(board), now):
            at = ended.settles_at if board.is_closed(*ended.key) else ended.closes_at
            if now >= at:
                due.append(ended)
            else:
                due_at = min(due_at, at)
        occupied = await self._occupied(board, due)
        for ended in due:
            if ended.name not in occupied and not was_closed_last(board, ended):
                continue
            if not board.is_closed(*ended.key):
                board = await self._close(board, ended.name)
                done += 1
            if now >= ended.settles_at:
                board, _ = await self._settle(board, ended.name)
                done += 1
            else:
                due_at = min(due_at, ended.settles_at)
        return done, due_at

    async def _found(self, board: Board, ended: EndedPeriod) -> Digested:
        """What a period holds, or held when it was settled, if it is no longer retained."""
        if not board.retains(ended.window, ended.period, self._moment().believed):
            key = period_key(board.generation, *ended.name)
            document = await self._journal.document(PERIOD, key)
            if document is not None and isinstance(document.value, SettledPeriod):
                settled = document.value
                return Digested(0, settled.players, settled.entries, settled.digest)
        return await self._digested(board, ended.name)

    async def _digested(self, board: Board, name: PeriodName) -> Digested:
        """What a period holds; it is read in slices. O(n)."""
        contents = await self._reader.read(board, name)
        digester, players = Digester(record_reader(board.shape).digest_rows), 0
        for scope, size in contents.ladders:
            digester.begin(scope, size)
            players = size if scope == GLOBAL else players
            async for rows in contents.rows(scope):
                digester.add(rows.numbers, rows.records)
        return Digested(contents.position, players, digester.entries, digester.digest)

    async def _close(self, board: Board, name: PeriodName, by: By | None = None) -> Board:
        window, period = name
        command = ClosePeriod(
            board=board.id,
            generation=board.generation,
            window=window,
            period=period,
            by_hand=by is not None,
            by=by,
        )
        return cast(Board, await self._journal.record(command))

    async def _settle(
        self, board: Board, name: PeriodName, by: By | None = None
    ) -> tuple[Board, Digested]:
        """Read what the period holds, and record it; again, if it was changed in between.

        What waits for a verdict and would count there is decided first. Nothing of that kind can be
        added: the period is closed.
        """
        window, period = name
        if is_closed(board, name):
            await self.reviews.decide_before_settling(board, name)
        for attempt in range(1, ATTEMPTS_MAX + 1):
            found = await self._digested(board, name)
            command = SettlePeriod(
                board=board.id,
                generation=board.generation,
                window=window,
                period=period,
                position=found.position,
                players=found.players,
                entries=found.entries,
                digest=found.digest,
                by_hand=by is not None,
                by=by,
            )
            try:
                return cast(Board, await self._journal.record(command)), found
            except EntriesChanged:
                if attempt == ATTEMPTS_MAX:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _ending(
        self, board: Board, ended: EndedPeriod, found: Digested, *, dry_run: bool
    ) -> PeriodEnding:
        window, period = ended.name
        return PeriodEnding(
            board.id,
            window,
            period,
            board.state_of(window, ended.period, self._moment().believed),
            found.players,
            found.entries,
            found.digest,
            dry_run,
        )


def _too_early(what: str, before: EndedPeriod) -> NotYet:
    return NotYet("period", f"cannot be {what} before {before.period.id!r}, which ended earlier")
