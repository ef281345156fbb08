"""Pages of a ladder: from a rank, within a range of scores, and on from a cursor, both ways.

Each page is one slice of the index with one row more at both ends, so that its ranks and its
cursors speak of one moment.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple, Unpack

from toprung.domain.board import Board
from toprung.domain.player import GLOBAL
from toprung.domain.score import parse_score
from toprung.domain.standing import Page, Standing
from toprung.domain.values import bounded
from toprung.errors import CursorGone, Gone, Invalid, NotFound, PeriodGone
from toprung.ports import Slice
from toprung.service.board_access import BoardAccess
from toprung.service.cursor import BEST, WORST, FriendsCursor, PageCursor, parse_cursor
from toprung.service.listing import Lister, ScoreRange
from toprung.service.options import AskedLadder, AskedList, LadderOptions, ListOptions
from toprung.service.view import Indexes, View, view_of

LIMIT_MAX = 1000
RANK_MAX = 2**62

FIRST_AFTER = "\0"
"""Appended to an id it gives the next possible one: no id contains it, and none sorts between."""


class FirstRows(NamedTuple):
    """The first entries of a ladder, before they are made into standings.

    That takes ten times as long, and who keeps the last page need not if the entries are the same.
    """

    lister: Lister
    found: Slice


class BoardPages(BoardAccess):
    """Lists of standings."""

    __slots__ = ()

    async def fingerprint(self, limit: int, **options: Unpack[LadderOptions]) -> bytes | None:
        """The `Slice.fingerprint` of the first `limit` entries, without reading them.

        None where it would take as long as `first_rows`. Options: `toprung.LadderOptions`.
        """
        view = await self._view(AskedLadder(**options))
        return await view.index.fingerprint(view.ladder, limit)

    async def first_rows(self, limit: int, **options: Unpack[ListOptions]) -> FirstRows:
        """The first `limit` entries, for `page_of`. Options: `toprung.ListOptions`."""
        bounded(limit, LIMIT_MAX, "limit")
        lister = await self._lister(AskedList(**options))
        return FirstRows(lister, await lister.view.index.slice(lister.view.ladder, 0, limit))

    async def page_of(self, seen: FirstRows) -> Page:
        """The page that `standings` would have answered then."""
        return await seen.lister.page(seen.found)

    async def movement_mark(self, **options: Unpack[ListOptions]) -> object:
        """While it is the same, and so are the entries, so is the movement of rows."""
        asked = AskedList(**options)
        if not asked.movement:
            return None
        return await self._parts.movements.mark((await self._lister(asked)).view)

    async def movement_since(self, **options: Unpack[LadderOptions]) -> int:
        """When the snapshot was taken that movement is told from (microseconds); 0: there is none.

        Options: `toprung.LadderOptions`.
        """
        return await self._parts.movements.since(await self._view(AskedLadder(**options)))

    async def top(self, n: int = 10, **options: Unpack[ListOptions]) -> list[Standing]:
        """Return the best `n` (at most 1,000), best first. Options: `toprung.ListOptions`."""
        lister = await self._lister(AskedList(**options))
        view, limit = lister.view, bounded(n, LIMIT_MAX, "n")
        found = await view.index.slice(view.ladder, 0, limit)
        return list((await lister.page(found)).standings)

    async def standings(
        self,
        limit: int = 100,
        *,
        cursor: str | None = None,
        from_rank: int | None = None,
        min_score: object = None,
        max_score: object = None,
        **options: Unpack[ListOptions],
    ) -> Page:
        """Return a page of at most `limit` (1 to 1,000) standings, with cursors.

        It starts at the first place, at the place `from_rank`, or at the best score of the
        range `min_score` to `max_score` (both inclusive; ranks remain those of the whole ladder).
        `cursor` is a page's `next` or `prev`. A player who does not move while pages are read
        appears exactly once, whatever others do; ranks are as of each page.
        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        bounded(limit, LIMIT_MAX, "limit")
        check_start(cursor, from_rank, min_score, max_score)
        if cursor is not None:
            board = await self._journal.board(self.id)
            edge = parse_cursor(cursor, PageCursor, board)
            view = cursor_view(board, self._clock.now(), self._indexes, edge, asked)
            view = await self._seen(view, asked.viewer)
            lister = self._lister_of(view, asked)
            try:
                return await self._walk(lister, edge, limit)
            except PeriodGone:
                raise CursorGone from None
        lister = await self._lister(asked)
        view = lister.view
        if min_score is not None or max_score is not None:
            scores = score_range(view.board, min_score, max_score)
            return await self._forward(lister, scores.best, "", limit, scores)
        start = 0 if from_rank is None else from_rank - 1
        return await lister.page(await view.index.slice(view.ladder, start, start + limit))

    async def _walk(self, lister: Lister, edge: PageCursor, limit: int) -> Page:
        scores = ScoreRange(edge.best, edge.worst)
        if edge.backward:
            return await self._backward(lister, edge.key, edge.player, limit, scores)
        return await self._forward(lister, edge.key, edge.player + FIRST_AFTER, limit, scores)

    async def _forward(
        self, lister: Lister, key: bytes, player: str, limit: int, scores: ScoreRange
    ) -> Page:
        ladder, index = lister.view.ladder, lister.view.index
        found = await index.slice_at(ladder, key, player, 1, limit + 1, full=False)
        start = _count_before(found, key, player)
        while start == len(found.records) and _end(found) < found.total:  # erased, all of them
            found = await index.slice(ladder, _end(found) - 1, _end(found) + limit + 1)
            start = max(1, _count_before(found, key, player))
        return await lister.page(found, start, start + limit, scores)

    async def _backward(
        self, lister: Lister, key: bytes, player: str, limit: int, scores: ScoreRange
    ) -> Page:
        ladder, index = lister.view.ladder, lister.view.index
        found = await index.slice_at(ladder, key, player, limit + 1, 1, full=False)
        stop = _count_before(found, key, player)
        while stop == 0 and found.first.offset > 0:
            end = found.first.offset + 1
            found = await index.slice(ladder, max(0, end - limit - 2), end)
            stop = min(len(found.records) - 1, _count_before(found, key, player))
        return await lister.page(found, max(0, stop - limit), stop, scores)


def check_start(cursor: object, from_rank: object, min_score: object, max_score: object) -> None:
    """Refuse a page that is to start at several places."""
    filtered = min_score is not None or max_score is not None
    if (cursor is not None) + (from_rank is not None) + filtered > 1:
        raise Invalid(
            "cursor" if cursor is not None else "from_rank",
            "a cursor, a rank to start from and a range of scores cannot be combined",
        )
    if from_rank is not None:
        bounded(from_rank, RANK_MAX, "from_rank")


def score_range(board: Board, min_score: object, max_score: object) -> ScoreRange:
    """The range of scores, as people gave it, in the order of the board's ladders."""
    low = None if min_score is None else parse_score(min_score, board.decimals, "min_score")
    high = None if max_score is None else parse_score(max_score, board.decimals, "max_score")
    if low is not None and high is not None and low > high:
        raise Invalid("min_score", "must not be greater than max_score")
    best, worst = (high, low) if board.order == "desc" else (low, high)
    return ScoreRange(
        BEST if best is None else board.shape.prefix(best),
        WORST if worst is None else board.shape.prefix(worst),
    )


def cursor_view(
    board: Board,
    now: int,
    indexes: Indexes,
    cursor: PageCursor | FriendsCursor,
    asked: AskedList,
) -> View:
    """The view that a cursor goes on in; options given beside it must name the same ladder."""
    walked = (cursor.window, cursor.period, cursor.scope)
    given = (asked.window or cursor.window, asked.period or cursor.period, asked.scope)
    if given not in (walked, (*walked[:2], GLOBAL)):  # the default scope is no claim
        raise Invalid("cursor", f"belongs to {' '.join(walked)}; other options were given")
    try:
        return view_of(board, now, indexes, *walked, asked.ranking)
    except (Gone, NotFound):
        raise CursorGone from None


def _end(found: Slice) -> int:
    """The offset after the last entry of a slice."""
    return found.first.offset + len(found.records)


def _count_before(found: Slice, key: bytes, player: str) -> int:
    """How many of the entries lie before a point of the order; a short key is a prefix."""
    keys = [record[: len(key)] for record in found.records]
    return bisect_left(list(zip(keys, found.players, strict=True)), (key, player))
