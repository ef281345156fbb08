"""How the scores of a ladder are spread: exact counts, in buckets of equal width."""

from __future__ import annotations

from typing import Unpack

from toprung.domain.board import Board
from toprung.domain.score import INT64_MAX, INT64_MIN, score_value
from toprung.domain.standing import Bucket, Distribution
from toprung.domain.values import bounded
from toprung.ports import Slice
from toprung.service.board_access import BoardAccess
from toprung.service.options import AskedLadder, LadderOptions
from toprung.service.view import View

BUCKETS_MAX = 200
TRIES = 5
"""How often ends are looked for anew, because somebody came to lie beyond them."""


class BoardDistribution(BoardAccess):
    """How scores are spread."""

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
        board, tries = view.board, TRIES
        while (ends := await self._ends(view)) is not None:
            scores = [board.shape.entry(found.records[0]).score for found in ends]
            edges = _edges(min(scores), max(scores), buckets)
            below, is_whole = await self._count_below(view, edges, ends[0].total)
            tries -= 1
            if is_whole or not tries:
                return _distribution(board, edges, below)
        return Distribution(0, ())

    async def _ends(self, view: View) -> tuple[Slice, Slice] | None:
        """The first and the last entry; None when there is none."""
        ladder = view.ladder
        while (best := await view.index.slice(ladder, 0, 1)).players:
            worst = await view.index.slice(ladder, best.total - 1, best.total)
            if worst.players:  # else somebody left in between
                return best, worst
        return None

    async def _count_below(
        self, view: View, edges: list[int], total: int
    ) -> tuple[list[int], bool]:
        """For each edge how many entries lie at its lower side; from any common zero.

        All were counted at one moment, but for edges that no score can reach: nobody or everybody
        lies before those, and everybody is `total`, or more if others have come since. That moment
        is later than the one at which the ends were found: the second part tells whether everybody
        lay between the edges all the same.
        """
        # What the index counts lies before a key: the lower scores, or the higher ones.
        board = view.board
        descending = board.order == "desc"
        limits = [edge - descending for edge in edges]
        inside = [limit for limit in limits if INT64_MIN <= limit <= INT64_MAX]
        last = INT64_MIN if descending else INT64_MAX
        *counted, nearly_all = await view.index.count_before(
            view.ladder, [board.shape.prefix(limit) for limit in (*inside, last)]
        )
        before = dict(zip(inside, counted, strict=True))
        everybody = max([total, *counted])
        beyond = {True: 0, False: everybody} if descending else {True: everybody, False: 0}
        counts = [before.get(limit, beyond[limit > INT64_MAX]) for limit in limits]
        is_whole = min(counts) == 0 and nearly_all <= max(counts)
        return ([-count for count in counts] if descending else counts), is_whole


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
