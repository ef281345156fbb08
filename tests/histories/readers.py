"""A reader of a history: it asks whatever comes to its mind, and notes what it is told."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tests.histories.instants import microsecond
from tests.histories.writers import COUNTRIES
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.standing import Standing
from toprung.errors import NotRanked, Unavailable
from toprung.testing.history import (
    Around,
    AroundScore,
    Friends,
    Lookup,
    PageAfter,
    Question,
    Read,
    ScoreRange,
    Shown,
    Spread,
    StandingOf,
    Top,
    Total,
)

if TYPE_CHECKING:
    from tests.histories.playing import Face, Play

QUESTIONS = (
    "standing",
    "standing",
    "lookup",
    "top",
    "pages",
    "page_from",
    "score_range",
    "around",
    "around_score",
    "friends",
    "total",
    "distribution",
)


class Reader:
    """Asks until the writers have finished."""

    def __init__(self, play: Play, number: int, face: Face, chance: random.Random) -> None:
        self.play, self.face, self.chance = play, face, chance
        self.name = f"reader {number} in {face.name}"

    async def read_until_over(self) -> None:
        while not self.play.is_over:
            try:
                await self.read()
            except Unavailable:
                if not self.play.may_be_behind:
                    raise
                self.play.unavailable += 1
                await asyncio.sleep(0.01)
            await asyncio.sleep(self.chance.random() / 200)

    async def read(self) -> None:
        board = await self.face.boards.board(self.play.board_id)
        name = self.chance.choice(self.play.asks or QUESTIONS)
        await getattr(self, name)(board)

    def player(self) -> str:
        """Somebody to ask about."""
        return self.chance.choice(self.play.players[: 2 if self.play.plan.crowded else None])

    def options(self) -> dict[str, Any]:
        if self.play.plan.crowded:
            return {"scope": "global", "ranking": None}
        scope = self.chance.choice(("global", "global", *COUNTRIES))
        ranking: Ranking | None = self.chance.choice((None, None, *RANKINGS))
        return {"scope": scope, "ranking": ranking}

    def where(self) -> dict[str, Any]:
        """Both windows have the same entries."""
        elsewhere = self.chance.random() < 0.3 and not self.play.plan.crowded
        return {"window": "season"} if elsewhere else {}

    async def note(self, question: Question, call: Callable[[], Awaitable[Any]], lag: float) -> Any:
        """Ask, and note what came of it; the answer itself."""
        called = time.monotonic()
        try:
            found = await call()
        except NotRanked:
            found = None
        span = called, time.monotonic()
        shown = _seen(found)
        self.play.history.reads.append(Read(question, *span, shown, self.name, lag))
        return found

    # --- questions ----------------------------------------------------------------------------

    async def standing(self, board: Any) -> None:
        player, asked = self.player(), self.options()
        question = StandingOf(player, **asked)
        await self.note(question, lambda: board.standing(player, **asked, **self.where()), 0)

    async def lookup(self, board: Any) -> None:
        players, asked = self.chance.sample(self.play.players, 5), self.options()
        question = Lookup(tuple(players), **asked)
        await self.note(question, lambda: board.lookup(players, **asked, **self.where()), 0)

    async def top(self, board: Any) -> None:
        limit, asked = self.chance.choice((3, 100)), self.options()
        await self.note(
            Top(limit, **asked), lambda: board.top(limit, **asked, **self.where()), self.face.lag
        )

    async def pages(self, board: Any) -> None:
        limit, asked, where = self.chance.randrange(2, 6), self.options(), self.where()
        page = await self.note(
            Top(limit, **asked), lambda: board.standings(limit, **asked, **where), self.face.lag
        )
        if page.next is None:
            return
        last = _shown(page.standings[-1])
        question = PageAfter(limit, last.player, last.result, **asked)
        ranking = asked["ranking"]
        await self.note(
            question,
            lambda: board.standings(limit, cursor=page.next, ranking=ranking),
            self.face.lag,
        )

    async def page_from(self, board: Any) -> None:
        start, asked = self.chance.randrange(1, 8), self.options()
        await self.note(
            Top(4, start, **asked),
            lambda: board.standings(4, from_rank=start, **asked, **self.where()),
            self.face.lag,
        )

    async def score_range(self, board: Any) -> None:
        low, high = sorted(self.chance.choices(range(self.play.plan.scores), k=2))
        asked = self.options()
        await self.note(
            ScoreRange(50, low, high, **asked),
            lambda: board.standings(50, min_score=low, max_score=high, **asked, **self.where()),
            self.face.lag,
        )

    async def around(self, board: Any) -> None:
        player, asked = self.player(), self.options()
        await self.note(
            Around(player, 1, 2, **asked),
            lambda: board.around(player, 1, 2, **asked, **self.where()),
            self.face.lag,
        )

    async def around_score(self, board: Any) -> None:
        score, asked = self.chance.randrange(self.play.plan.scores), self.options()
        await self.note(
            AroundScore(score, 2, 2, **asked),
            lambda: board.around_score(score, 2, 2, **asked, **self.where()),
            self.face.lag,
        )

    async def friends(self, board: Any) -> None:
        player = self.chance.choice([*self.play.friends])
        limit, asked = self.chance.choice((2, 20)), self.options()
        question = Friends(player, self.play.friends[player], limit, **asked)
        await self.note(
            question,
            lambda: board.friends(player, limit, **asked, **self.where()),
            self.face.lag,
        )

    async def total(self, board: Any) -> None:
        scope = self.options()["scope"]
        await self.note(
            Total(scope=scope),
            lambda: board.total(scope=scope, **self.where()),
            self.face.lag,  # a service tells it with its lists
        )

    async def distribution(self, board: Any) -> None:
        scope = self.options()["scope"]
        await self.note(
            Spread(4, scope=scope),
            lambda: board.distribution(4, scope=scope, **self.where()),
            self.face.lag,
        )


def _shown(standing: Standing) -> Shown:
    return Shown(
        standing.player,
        int(standing.score),
        microsecond(standing.achieved_at),
        standing.rank,
        standing.total,
        standing.percentile,
        standing.top_percent,
        standing.global_rank,
    )


def _seen(found: Any) -> Any:
    """An answer of the library as histories have it."""
    if found is None or isinstance(found, int):
        return found
    if isinstance(found, Standing):
        return [_shown(found)]
    if hasattr(found, "buckets"):
        assert found.total == sum(bucket.count for bucket in found.buckets)
        return [(int(b.low), int(b.high), b.count) for b in found.buckets]
    rows = found if isinstance(found, list) else found.standings
    assert all(row.total == found.total for row in rows if hasattr(found, "total"))
    return [_shown(row) for row in rows]
