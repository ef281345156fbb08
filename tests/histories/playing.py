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
from typing import Any

from tests.histories.instants import microsecond
from tests.histories.readers import Reader
from tests.histories.writers import Writer
from toprung.domain.board import Board
from toprung.domain.entry import Entry, decide
from toprung.domain.submission import Submission
from toprung.testing.history import Findings, History, Rules, check
from toprung.testing.history.state import Result

ANSWERS_SECONDS_MAX = 60
SEASON = {"name": "season", "starts": "2020-01-01T00:00:00Z", "ends": "2120-01-01T00:00:00Z"}
"""It has the same entries as all-time, whenever the test runs."""


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
    crowded: bool = False
    """Many ask the same few questions at once, and writers ask right after each acknowledgement."""


PLANS: dict[str, Plan] = {
    "best": Plan({"policy": "best"}, 1000),
    "sum": Plan({"policy": "sum", "order": "asc", "ranking": "ordinal"}, 20),
    "ties": Plan({"policy": "latest", "tie_break": "last"}, 3),
    "dense": Plan({"policy": "latest", "ranking": "dense", "tie_break": "player"}, 4),
    "crowd": Plan({"policy": "latest"}, 6, readers=8, crowded=True),
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
    readers_face: Face | None = None
    """Where all readers ask, if not where writers write."""
    may_be_behind: bool = False
    """Whether there are outages: then calls may fail, and what is acknowledged be seen later."""
    history: History = field(init=False)
    unavailable: int = 0
    stale: int = 0

    def __post_init__(self) -> None:
        self.board = Board.parse(self.board_id, self.rules)
        rules = Rules(self.board.order, self.board.tie_break, self.board.ranking)
        self.history = History(rules)
        self.chance = random.Random(self.seed)
        self._begin = microsecond(datetime.now(UTC) - timedelta(minutes=1))
        self._submitted = 0
        self._over = False
        self._entries: dict[str, Entry | None] = {}
        self.friends: dict[str, tuple[str, ...]] = {}
        self.players = [f"p{number}" for number in range(self.plan.players)]

    @property
    def rules(self) -> dict[str, Any]:
        """Those of the board."""
        return {"windows": ["all-time", SEASON], "scopes": ["country"], **self.plan.rules}

    # --- beginning and end --------------------------------------------------------------------

    async def begin(self) -> None:
        """Create the board, make friends, and let half of the players have an entry."""
        boards = self.faces[0].boards
        await boards.create(self.board_id, **self.rules)
        for player in self.players[::3]:
            strangers = [other for other in self.players if other != player]
            self.friends[player] = tuple(self.chance.sample(strangers, 4))
        for player, others in list(self.friends.items()):
            for other in others:
                await boards.befriend(player, other)
                known = self.friends.get(other)
                if known is not None and player not in known:
                    self.friends[other] = (*known, player)
        writer = Writer(self, 0, self.faces[0], random.Random(self.seed))
        for player in self.players[::2]:
            await writer.submit(player)

    async def run(self, turns: int, meddle: Callable[[], Awaitable[None]] | None = None) -> None:
        """Let everybody play: so many turns of each writer, and reads meanwhile."""
        self._over = False
        plan, faces = self.plan, self.faces
        readers = [
            Reader(
                self,
                number,
                self.readers_face or faces[number % len(faces)],
                random.Random(self.seed + number),
            )
            for number in range(plan.readers)
        ]
        writers = [
            Writer(self, number, faces[number % len(faces)], random.Random(-self.seed - number))
            for number in range(plan.writers)
        ]
        if plan.crowded:
            for number, writer in enumerate(writers):
                where = self.readers_face or writer.face
                writer.look = Reader(self, number, where, writer.chance).read
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
        deadline = time.monotonic() + ANSWERS_SECONDS_MAX
        while len(self.history.reads) < wanted:
            assert time.monotonic() < deadline, "no answers"
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

    # --- what writers and readers share -------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether writers have finished."""
        return self._over

    def submission(self, player: str, chance: random.Random) -> Submission:
        """A submission with a time of its own."""
        self._submitted += 1
        score = chance.randrange(self.plan.scores)
        return Submission(player, score, self._begin + self._submitted)

    def decided(self, submission: Submission) -> Result:
        """What the player has after a submission, by the board's policy."""
        entry = decide(self.board, self._entries.get(submission.player), submission, 0)
        self._entries[submission.player] = entry
        return Result(entry.score, entry.achieved_at)

    def forget(self, player: str) -> None:
        """The player has been removed."""
        self._entries[player] = None
