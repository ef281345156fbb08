"""Writers and readers at work on one board, whose every call and answer goes into a history.

Each writer has players of its own and does one thing after the other; readers ask whatever comes to
their mind. Faces are `Leaderboards` of the library or of its client, one for each process.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

from toprung.domain.board import Board
from toprung.domain.entry import Entry, decide
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.standing import Standing, SubmitResult
from toprung.domain.submission import Submission
from toprung.errors import NotRanked, Unavailable
from toprung.testing.history import (
    Around,
    AroundScore,
    Findings,
    Friends,
    History,
    Lookup,
    PageAfter,
    Question,
    Read,
    Receipt,
    Rules,
    ScoreRange,
    Shown,
    Spread,
    StandingOf,
    Top,
    Total,
    Write,
    check,
)
from toprung.testing.history.state import Result

ANSWERS_SECONDS_MAX = 60
COUNTRIES = ("country:ES", "country:PT")
SEASON = {"name": "season", "starts": "2020-01-01T00:00:00Z", "ends": "2120-01-01T00:00:00Z"}
WINDOWS = ("all-time", "season")
"""Both have the same entries, whenever the test runs."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Plan:
    """A board, how scores are chosen, and how many play."""

    rules: dict[str, Any]
    scores: int
    """How many different ones: few make ties."""
    writers: int = 3
    readers: int = 4
    players: int = 12
    batches: bool = True


PLANS: dict[str, Plan] = {
    "best": Plan({"policy": "best"}, 1000),
    "sum": Plan({"policy": "sum", "order": "asc", "ranking": "ordinal"}, 20),
    "ties": Plan({"policy": "latest", "tie_break": "last"}, 3),
    "dense": Plan({"policy": "latest", "ranking": "dense", "tie_break": "player"}, 4),
    "one writer": Plan({"policy": "latest"}, 6, writers=1, batches=False),
}


@dataclass
class Face:
    """One process, as tests talk to it."""

    name: str
    boards: Any
    lag: float = 0.0
    """How many seconds old its lists may be."""


@dataclass
class Play:
    """A history in the making."""

    plan: Plan
    seed: int
    faces: Sequence[Face]
    may_forget: bool
    """Whether a receipt may be without a previous rank, as in a cluster."""
    board_id: str = "played"
    asks: Sequence[str] = ()
    """The names of questions that are asked; none means all."""
    may_be_behind: bool = False
    """Whether there are outages: then calls may fail, and what is acknowledged be seen later."""
    history: History = field(init=False)
    unavailable: int = 0
    stale: int = 0

    def __post_init__(self) -> None:
        self.board = Board.parse(self.board_id, self._rules)
        rules = Rules(self.board.order, self.board.tie_break, self.board.ranking)
        self.history = History(rules)
        self.chance = random.Random(self.seed)
        self._begin = datetime.now(UTC) - timedelta(minutes=1)
        self._submitted = 0
        self._over = False
        self._entries: dict[str, Entry | None] = {}
        self.friends: dict[str, tuple[str, ...]] = {}
        self.players = [f"p{number}" for number in range(self.plan.players)]

    @property
    def _rules(self) -> dict[str, Any]:
        return {"windows": ["all-time", SEASON], "scopes": ["country"], **self.plan.rules}

    # --- beginning and end ------------------------------------------------------------------------

    async def begin(self) -> None:
        """Create the board, make friends, and let half of the players have an entry."""
        boards = self.faces[0].boards
        await boards.create(self.board_id, **self._rules)
        for player in self.players[::3]:
            others = self.chance.sample([p for p in self.players if p != player], 4)
            self.friends[player] = tuple(others)
        for player, others in [*self.friends.items()]:
            for other in others:
                await boards.befriend(player, other)
                known = self.friends.get(other)
                if known is not None and player not in known:
                    self.friends[other] = (*known, player)
        writer = _Writer(self, 0, self.faces[0], random.Random(self.seed))
        for player in self.players[::2]:
            await writer.submit(player)

    async def run(self, turns: int, meddle: Callable[[], Awaitable[None]] | None = None) -> None:
        """Let everybody play: so many turns of each writer, and reads meanwhile."""
        self._over = False
        plan, faces = self.plan, self.faces
        readers = [
            _Reader(self, number, faces[number % len(faces)], random.Random(self.seed + number))
            for number in range(plan.readers)
        ]
        writers = [
            _Writer(self, number, faces[number % len(faces)], random.Random(-self.seed - number))
            for number in range(plan.writers)
        ]
        async with asyncio.TaskGroup() as group:
            for reader in readers:
                group.create_task(reader.read_until_over())
            await asyncio.gather(
                *(writer.take_turns(turns) for writer in writers), *([meddle()] if meddle else [])
            )
            self._over = True

    async def answers(self, more: int) -> None:
        """Wait until so many more questions were answered."""
        wanted = len(self.history.reads) + more
        async with asyncio.timeout(ANSWERS_SECONDS_MAX):
            while len(self.history.reads) < wanted:
                await asyncio.sleep(0.005)

    def check(self) -> Findings:
        """Hold all answers against the writes."""
        begin = time.perf_counter()
        findings = check(self.history)
        writes = sum(map(len, self.history.chains.values()))
        print(
            f"seed {self.seed}, {self.plan.rules}: {writes} writes,"
            f" {findings.explained} answers explained, {findings.undecided} undecided,"
            f" {len(findings.violations)} wrong, {self.unavailable} unavailable,"
            f" {self.stale} stale; checked in {time.perf_counter() - begin:.1f} s"
        )
        assert findings.violations == [], "\n".join(findings.violations[:3])
        return findings

    # --- what writers and readers share -------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether writers have finished."""
        return self._over

    def submission(self, player: str, chance: random.Random) -> Submission:
        """A submission with a time of its own."""
        self._submitted += 1
        at = self._begin + self._submitted * _MICROSECOND
        return Submission(player, chance.randrange(self.plan.scores), (at - _EPOCH) // _MICROSECOND)

    def decided(self, submission: Submission) -> Result:
        """What the player has after a submission, by the board's policy."""
        entry = decide(self.board, self._entries.get(submission.player), submission, 0)
        self._entries[submission.player] = entry
        return Result(entry.score, entry.achieved_at)

    def forget(self, player: str) -> None:
        """The player has been removed."""
        self._entries[player] = None


class _Writer:
    def __init__(self, play: Play, number: int, face: Face, chance: random.Random) -> None:
        self.play, self.face, self.chance = play, face, chance
        self.name = f"writer {number} in {face.name}"
        self.own = play.players[number :: play.plan.writers]

    async def take_turn(self) -> None:
        dice, player = self.chance.random(), self.chance.choice(self.own)
        if dice < 0.7:
            await self.submit(player)
        elif dice < 0.8 and self.play.plan.batches:
            await self.submit_some()
        elif dice < 0.9:
            await self.remove(player)
        else:
            await self.move(player)

    async def take_turns(self, turns: int) -> None:
        for _ in range(turns):
            await self.take_turn()
            if self.chance.random() < 0.2:  # a writer that never rests leaves nothing certain
                await asyncio.sleep(self.chance.random() / 200)

    async def _surely(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """What was called, as often as it takes: a key makes sure that it counts once."""
        while True:
            try:
                return await call()
            except Unavailable:
                if not self.play.may_be_behind:
                    raise
                self.play.unavailable += 1
                await asyncio.sleep(0.02)

    async def submit(self, player: str) -> None:
        play, history = self.play, self.play.history
        submission = play.submission(player, self.chance)
        key = f"key {submission.at}"
        board = await self._surely(lambda: self.face.boards.board(play.board_id))
        before, scopes = history.version(player), history.newest(player).scopes
        called = time.monotonic()
        write = history.write(player, play.decided(submission), scopes, called)
        told = await self._surely(
            lambda: board.submit(player, submission.score, at=_when(submission.at), key=key)
        )
        answered = time.monotonic()
        if told.stale:
            play.stale += 1
            return
        write.answered = min(write.answered, answered)
        self._note_receipts(player, (before, history.version(player)), told, (called, answered))

    def _note_receipts(
        self, player: str, versions: tuple[int, int], told: SubmitResult, span: tuple[float, float]
    ) -> None:
        assert told.standings.keys() == set(WINDOWS)
        for standing in told.standings.values():
            receipt = Receipt(
                standing.rank,
                standing.previous_rank,
                standing.total,
                int(standing.score),
                None if standing.previous_score is None else int(standing.previous_score),
            )
            self.play.history.receipt(
                player, versions, receipt, span, by=self.name, may_forget=self.play.may_forget
            )

    async def submit_some(self) -> None:
        play, history = self.play, self.play.history
        players = self.chance.sample(self.own, min(3, len(self.own)))
        submissions = [play.submission(player, self.chance) for player in players]
        rows = [
            {
                "player": each.player,
                "score": each.score,
                "at": _when(each.at),
                "key": f"key {each.at}",
            }
            for each in submissions
        ]
        board = await self._surely(lambda: self.face.boards.board(play.board_id))
        called = time.monotonic()
        writes = [
            history.write(
                each.player, play.decided(each), history.newest(each.player).scopes, called
            )
            for each in submissions
        ]
        told = await self._surely(lambda: board.submit_many(rows))
        assert told.rejected == ()
        self._answered(writes)

    async def remove(self, player: str) -> None:
        play, newest = self.play, self.play.history.newest(player)
        if newest.result is None:
            return
        board = await self._surely(lambda: self.face.boards.board(play.board_id))
        called = time.monotonic()
        write = play.history.write(player, None, newest.scopes, called)
        play.forget(player)
        await self._surely(lambda: board.remove(player))
        self._answered([write])

    async def move(self, player: str) -> None:
        """Another country: the entry leaves one ladder and appears on another."""
        history = self.play.history
        newest = history.newest(player)
        scope = self.chance.choice([s for s in COUNTRIES if s not in newest.scopes])
        name, _, value = scope.partition(":")
        called = time.monotonic()
        write = history.write(player, newest.result, frozenset({scope}), called)
        await self._surely(lambda: self.face.boards.patch_player(player, attributes={name: value}))
        self._answered([write])

    def _answered(self, writes: list[Write]) -> None:
        """These answers do not tell whether the index has it; without outages it has."""
        now = inf if self.play.may_be_behind else time.monotonic()
        for write in writes:
            write.answered = min(write.answered, now)


class _Reader:
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

    def options(self) -> dict[str, Any]:
        scope = self.chance.choice(("global", "global", *COUNTRIES))
        ranking: Ranking | None = self.chance.choice((None, None, *RANKINGS))
        return {"scope": scope, "ranking": ranking}

    def where(self) -> dict[str, Any]:
        """Both windows have the same entries."""
        return {} if self.chance.random() < 0.7 else {"window": "season"}

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

    # --- questions ----------------------------------------------------------------------------------

    async def standing(self, board: Any) -> None:
        player, asked = self.chance.choice(self.play.players), self.options()
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
        player, asked = self.chance.choice(self.play.players), self.options()
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


def _when(at: int) -> datetime:
    return _EPOCH + at * _MICROSECOND


def _shown(standing: Standing) -> Shown:
    return Shown(
        standing.player,
        int(standing.score),
        (standing.achieved_at - _EPOCH) // _MICROSECOND,
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
