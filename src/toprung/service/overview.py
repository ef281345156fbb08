"""What a board holds: its spread of scores, periods, scopes, and a player's past submissions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from toprung.domain.board import Board
from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.score import INT64_MAX, INT64_MIN, score_value
from toprung.domain.standing import (
    Bucket,
    Distribution,
    PastSubmission,
    PastSubmissions,
    ReadablePeriod,
    ScopeSize,
)
from toprung.domain.values import bounded
from toprung.errors import Invalid
from toprung.ports import RecordedSubmission, Slice
from toprung.service.board_access import BoardAccess
from toprung.service.cursor import SubmissionsCursor, cursor_text, parse_cursor
from toprung.service.listing import ReadDetails
from toprung.service.options import AskedLadder, LadderOptions
from toprung.service.pages import LIMIT_MAX
from toprung.service.view import shown_period
from toprung.waiting.pace import LongWork

BUCKETS_MAX = 200


class BoardOverview(BoardAccess):
    """What there is to read."""

    __slots__ = ()

    async def distribution(
        self, buckets: int = 20, **options: Unpack[LadderOptions]
    ) -> Distribution:
        """Return exact counts in at most `buckets` (up to 200) buckets of equal width.

        The first starts at the lowest score; the last has the highest and may end beyond it.
        Options: `toprung.LadderOptions`.
        """
        asked = AskedLadder(**options)
        bounded(buckets, BUCKETS_MAX, "buckets")
        view = await self._view(asked)
        board, ladder = view.board, view.ladder
        ends = await self._ends(ladder)
        if ends is None:
            return Distribution(0, ())
        scores = [board.shape.entry(found.records[0]).score for found in ends]
        edges = _edges(min(scores), max(scores), buckets)
        below = await self._count_below(board, ladder, edges, ends[0].total)
        return _distribution(board, edges, below)

    async def _ends(self, ladder: Ladder) -> tuple[Slice, Slice] | None:
        """The first and the last entry; None when there is none."""
        while (best := await self._index.slice(ladder, 0, 1)).players:
            worst = await self._index.slice(ladder, best.total - 1, best.total)
            if worst.players:  # else somebody left in between
                return best, worst
        return None

    async def _count_below(
        self, board: Board, ladder: Ladder, edges: list[int], total: int
    ) -> list[int]:
        """For each edge how many entries lie at its lower side; from any common zero.

        All were counted at one moment, but for edges that no score can reach: nobody or everybody
        lies before those, and everybody is `total`, or more if others have come since.
        """
        # What the index counts lies before a key: the lower scores, or the higher ones.
        descending = board.order == "desc"
        limits = [edge - descending for edge in edges]
        inside = [limit for limit in limits if INT64_MIN <= limit <= INT64_MAX]
        counted = await self._index.count_before(
            ladder, [board.shape.prefix(limit) for limit in inside]
        )
        before = dict(zip(inside, counted, strict=True))
        everybody = max([total, *counted])
        beyond = {True: 0, False: everybody} if descending else {True: everybody, False: 0}
        counts = [before.get(limit, beyond[limit > INT64_MAX]) for limit in limits]
        return [-count for count in counts] if descending else counts

    async def periods(self, window: str | None = None) -> list[ReadablePeriod]:
        """Return the available periods of a window, newest first."""
        board = await self._journal.board(self.id)
        now = self._clock.now()
        retained = board.calendar(board.window(window)).retained(now)
        return [shown_period(period, now) for period in retained]

    async def scopes(
        self,
        *,
        window: str | None = None,
        period: str | None = None,
        limit: int = LIMIT_MAX,
        after: str | None = None,
    ) -> list[ScopeSize]:
        """Return the scopes that have players in a period, with their sizes, by name.

        At most 1,000 of them: `after` is the last scope of the page before.
        """
        bounded(limit, LIMIT_MAX, "limit")
        view = await self._view(AskedLadder(window, period, GLOBAL if after is None else after))
        found = await self._index.scopes(view.ladder, after or "", limit)
        return [ScopeSize(scope, total) for scope, total in found]

    async def submissions(
        self, player: str, limit: int = 50, cursor: str | None = None
    ) -> PastSubmissions:
        """Return a player's submissions on this board, newest first, at most 1,000 at a time."""
        bounded(limit, LIMIT_MAX, "limit")
        parse_player(player)
        board = await self._journal.board(self.id)
        before = None if cursor is None else _before(board, player, cursor)
        found = await self._journal.submissions(self.id, player, before, limit + 1)
        more = len(found) > limit
        return PastSubmissions(
            await _past(board, found[:limit], self._read_details),
            _next(board, player, found[limit - 1].position) if more else None,
        )


def _edges(low: int, high: int, buckets: int) -> list[int]:
    """Where buckets begin, and where the last one ends (exclusive).

    >>> _edges(0, 99, 4), _edges(0, 10, 4), _edges(5, 6, 4)
    ([0, 25, 50, 75, 100], [0, 3, 6, 9, 12], [5, 6, 7])
    """
    span = high - low + 1
    width = -(-span // buckets)
    return [low + width * number for number in range(-(-span // width) + 1)]


def _distribution(board: Board, edges: list[int], below: list[int]) -> Distribution:
    buckets = tuple(
        Bucket(
            score_value(edges[at], board.decimals),
            score_value(edges[at + 1] - 1, board.decimals),
            below[at + 1] - below[at],
        )
        for at in range(len(edges) - 1)
    )
    return Distribution(sum(bucket.count for bucket in buckets), buckets)


async def _past(
    board: Board, found: Sequence[RecordedSubmission], read: ReadDetails
) -> tuple[PastSubmission, ...]:
    """Submissions as they are shown; `read` makes something of their details."""
    past: list[PastSubmission] = []
    async with LongWork() as work:
        for recorded in found:
            past.append(_past_submission(board, recorded, read))
            if work.is_due():
                await work.rest()
    return tuple(past)


def _past_submission(
    board: Board, recorded: RecordedSubmission, read: ReadDetails
) -> PastSubmission:
    return PastSubmission(
        recorded.position,
        recorded.player,
        score_value(recorded.score, board.decimals),
        recorded.subscore,
        instant_datetime(recorded.at),
        instant_datetime(recorded.recorded_at),
        recorded.status,
        None if recorded.details is None else read(recorded.details),
    )


def _before(board: Board, player: str, cursor: str) -> int:
    edge = parse_cursor(cursor, SubmissionsCursor, board)
    if edge.owner != player:
        raise Invalid("cursor", f"belongs to the submissions of a player other than {player!r}")
    return edge.before


def _next(board: Board, player: str, before: int) -> str:
    return cursor_text(SubmissionsCursor(board.generation, player, before))
