"""What is typical of a board's guard ladder, from its order, at most once a second.

The index selects by place and counts by score, and needs to know nothing else: the median is two
places, and the median of the distances from it is found by counting, for a distance, how many
entries are not further away. Several distances are tried with each question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from toprung.domain.board import Board
from toprung.domain.instant import SECOND
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.domain.player import GLOBAL
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.submission import Submission
from toprung.domain.trust.anomaly import (
    OWN_MAX,
    Guard,
    decile,
    guard_of,
    middle,
    outlier_from,
)
from toprung.domain.trust.review import limits_of, lowest
from toprung.errors import Unavailable
from toprung.ports import Clock, Index, Journal

KNOWN_MAX: Final = 1_000
"""Ladders whose statistics are remembered."""
TRIED_AT_ONCE: Final = 15
"""Distances that are tried with one question."""
ATTEMPTS_MAX: Final = 3
"""To read a ladder that becomes shorter meanwhile."""


class _Known(NamedTuple):
    at: int
    guard: Guard | None


class Guards:
    """The statistics of guard ladders, as they are or were a second ago."""

    def __init__(self, index: Index, journal: Journal, clock: Clock) -> None:
        self._index = index
        self._journal = journal
        self._clock = clock
        self._known: dict[tuple[Ladder, int, int | None], _Known] = {}
        self.skipped = 0
        """How often they could not be found out."""

    async def of(self, board: Board) -> Guard | None:
        """What is typical of the board's guard ladder.

        If the index cannot be reached, what it was last; None if nobody knows.
        """
        assert board.review is not None, "nobody else asks"
        now, top = self._clock.now(), board.review.top
        ladder = _ladder(board, now)
        if ladder is None:
            return None
        name = (ladder, board.generation, top)
        known = self._known.get(name)
        is_recent = known is not None and 0 <= now - known.at < SECOND
        if known is not None and is_recent and known.guard is not None and known.guard.count:
            return known.guard
        last = None if known is None else known.guard
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        if last is not None:
            self._known[name] = _Known(now, last)  # others need not find it out, too
        try:
            found = await self._find(board, ladder, top)
        except Unavailable:
            found = None
        if found is None:
            self.skipped += 1
            found = last
        self._known[name] = _Known(now, found)
        return found

    async def _find(self, board: Board, ladder: Ladder, top: int | None) -> Guard | None:
        for _ in range(ATTEMPTS_MAX):
            found = await _Statistics(self._index, board, ladder).find(top)
            if found is not None:
                return found
        return None

    async def own(
        self, board: Board, guard: Guard | None, submissions: Sequence[Submission]
    ) -> Mapping[int, int]:
        """By index, from which score on a submission is an outlier among its player's own.

        Only of those that are, and that are better than the median of the ladder.
        """
        rule = board.review
        if guard is None or rule is None or rule.anomaly is None or board.policy == "sum":
            return {}
        sign = 1 if board.order == "desc" else -1
        waits = lowest(limits_of(board, guard), board.order)  # what waits anyway needs no look
        scores = [submission.score for submission in submissions]
        if board.order == "desc":
            low, high = guard.median2 // 2, INT64_MAX + 1 if waits is None else waits
        else:
            low, high = INT64_MIN - 1 if waits is None else waits, -(-guard.median2 // 2)
        better = [score for score in scores if low < score < high]
        some = []
        if better:  # of those that are recorded together, the best one is looked at
            some.append(scores.index(max(better) if board.order == "desc" else min(better)))
        found: dict[int, int] = {}
        for at in await self._improving(board, submissions, some):
            merit = sign * submissions[at].score
            past = await self._journal.submissions(board.id, submissions[at].player, None, OWN_MAX)
            scores = [each.score for each in past if each.status != "pending"]
            least = outlier_from(guard_of(scores, board.order), board.order, rule.anomaly)
            if least is not None and merit >= sign * least:
                found[at] = least
        return found

    async def _improving(
        self, board: Board, submissions: Sequence[Submission], some: Sequence[int]
    ) -> list[int]:
        """Those of the submissions, by index, that are better than their players' entries."""
        ladder = _ladder(board, self._clock.now())
        if ladder is None or not some:
            return []
        try:
            places = await self._index.places(ladder, [submissions[at].player for at in some])
        except Unavailable:
            return []
        sign, score = (1 if board.order == "desc" else -1), board.shape.score
        return [
            at
            for at, place in zip(some, places, strict=True)
            if place is not None and sign * (submissions[at].score - score(place.record)) > 0
        ]


def _ladder(board: Board, now: int) -> Ladder | None:
    """The guard ladder; the first that submissions of now count on."""
    for window in sorted(board.windows, key=lambda each: each is not board.guard_window):
        period = board.calendar(window).period_at(now)
        if period is not None:
            return UndenseLadder(board.id, window.name, period.id, GLOBAL)
    return None


class _Statistics:
    """Reads one ladder."""

    def __init__(self, index: Index, board: Board, ladder: Ladder) -> None:
        self._index = index
        self._board = board
        self._ladder = ladder
        self._count = 0
        self._scores: dict[int, int] = {}

    async def find(self, top: int | None) -> Guard | None:
        """The statistics; None if the ladder became shorter meanwhile. O(log^2 n)."""
        count = self._count = await self._index.size(self._ladder)
        if not count:
            return Guard(0)
        low, high = middle(count)
        places = {low, high, decile(count, 9), decile(count, 1), 0, count - 1}
        has_top = top is not None and top <= count
        if top is not None and has_top:
            places.add(top - 1)
        for place in places:
            found = await self._index.slice(self._ladder, place, place + 1)
            if not found.records:
                return None
            self._scores[place] = self._board.shape.score(found.records[0])
        scores = self._scores
        median2 = scores[low] + scores[high]
        furthest = max(abs(2 * scores[place] - median2) for place in (0, count - 1))
        near = await self._distance(median2, low + 1, -1, furthest)
        far = near if high == low else await self._distance(median2, high + 1, near - 1, furthest)
        return Guard(
            count,
            median2,
            near + far,
            scores[decile(count, 9)],
            scores[decile(count, 1)],
            scores[0],
            scores[top - 1] if top is not None and has_top else None,
        )

    async def _distance(self, median2: int, wanted: int, below: int, furthest: int) -> int:
        """The least doubled distance within which so many entries are: above one, at most another.

        Entries that come or go meanwhile make it inexact, not endless.
        """
        while furthest - below > 1:
            step = -(-(furthest - below) // (TRIED_AT_ONCE + 1))
            tried = list(range(below + step, furthest, step))
            counts = await self._within(median2, tried)
            for distance, count in zip(tried, counts, strict=True):
                if count >= wanted:
                    furthest = distance
                    break
                below = distance
        return furthest

    async def _within(self, median2: int, distances: Sequence[int]) -> list[int]:
        """For each doubled distance, how many entries are not further from the median."""
        spans = [(-((each - median2) // 2), (median2 + each) // 2) for each in distances]
        is_down = self._board.order == "desc"
        edges = [
            edge
            for low, high in spans
            for edge in ((low - 1, high) if is_down else (high + 1, low))
        ]
        inside = sorted({edge for edge in edges if INT64_MIN <= edge <= INT64_MAX})
        prefix = self._board.shape.prefix
        keys = [prefix(edge) for edge in inside]
        counted = await self._index.count_before(self._ladder, keys) if keys else []
        before = dict(zip(inside, counted, strict=True))

        def count(edge: int) -> int:
            """How many entries are better."""
            if edge in before:
                return before[edge]
            return 0 if (edge > INT64_MAX) is is_down else self._count

        return [count(edges[2 * at]) - count(edges[2 * at + 1]) for at in range(len(distances))]
