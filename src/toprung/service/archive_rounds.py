"""Rounds through all boards: what is settled is archived, what is too old is deleted.

A round costs what is due. It remembers on which boards there was nothing to do, until their rules
or marks change, or until a period ends of a window that keeps only some archives.
"""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

from toprung.domain.board import Board
from toprung.ports import Journal
from toprung.service.archiving import Archives
from toprung.waiting.pace import next_round

BOARDS_AT_ONCE: Final = 100


class Done(NamedTuple):
    """What came of a round."""

    archived: int
    waiting: int
    """Periods that are settled and could not be archived."""
    deleted: int


class _Quiet(NamedTuple):
    """A board on which there is nothing to do."""

    version: int
    until: float


class _Deleted(NamedTuple):
    """Up to where archives of a board are deleted."""

    keeps: dict[str, int | None]
    """By window: the rule by which that is so."""
    until: dict[str, str]


class ArchiveRounds:
    """Looks for periods to archive, and for archives to delete."""

    def __init__(self, journal: Journal, archives: Archives) -> None:
        self._journal = journal
        self._archives = archives
        self._moment = archives.moment
        self._token = ""
        self._quiet: dict[int, _Quiet] = {}
        """By the generation of the board."""
        self._deleted_until: dict[int, _Deleted] = {}
        """By generation: see `Archives.expire`."""
        self._generations: set[int] | None = None
        """Of the boards that may have archives; None: that is not known."""

    def forget(self) -> None:
        """Know nothing: somebody else may have been at work."""
        self._token, self._generations = "", None
        self._quiet.clear()
        self._deleted_until.clear()

    async def go(self) -> Done:
        """Archive what is settled, on all boards, and delete archives that are not kept."""
        token = await self._journal.boards_token()
        if token == self._token and self._moment().cautious < self._due_at():
            return Done(0, 0, 0)
        self._token = ""
        archived = waiting = deleted = 0
        after, generations = "", set()
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            after = boards[-1].id
            for board in boards:
                generations.add(board.generation)
                if not self._is_quiet(board):
                    done = await self._look_at(board)
                    archived, waiting = archived + done.archived, waiting + done.waiting
                    deleted += done.deleted
            await next_round()
        deleted += await self._bury(generations)
        self._token = "" if waiting else token
        return Done(archived, waiting, deleted)

    def _due_at(self) -> float:
        return min((each.until for each in self._quiet.values()), default=inf)

    def _is_quiet(self, board: Board) -> bool:
        known = self._quiet.get(board.generation)
        if known is None or known.version != board.version:
            return False
        return self._moment().cautious < known.until

    async def _look_at(self, board: Board) -> Done:
        self._quiet.pop(board.generation, None)
        until = _next_end(board, self._moment().cautious)
        board, archived, waiting = await self._archives.archive_due(board)
        keeps = {window.name: window.keep for window in board.windows}
        known = self._deleted_until.get(board.generation)
        if known is None or known.keeps != keeps:
            known = self._deleted_until[board.generation] = _Deleted(keeps, {})
        deleted = await self._archives.expire(board, known.until)
        if not (archived or waiting):
            self._quiet[board.generation] = _Quiet(board.version, until)
        return Done(archived, waiting, deleted)

    async def _bury(self, generations: set[int]) -> int:
        """Delete the archives of boards that are gone; how many."""
        if self._generations is None:
            self._generations = set(await self._archives.generations())
        deleted = 0
        for generation in sorted(self._generations - generations):
            deleted += await self._archives.bury(generation)
            self._quiet.pop(generation, None)
            self._deleted_until.pop(generation, None)
        self._generations = generations
        return deleted


def _next_end(board: Board, now: int) -> float:
    """When a period ends of a window that keeps some archives: the oldest is to be deleted then."""
    found = inf
    for window in board.windows:
        if window.keep:
            period = board.calendar(window).period_at(now)
            if period is not None and period.closes_at is not None:
                found = min(found, period.closes_at)
    return found
