"""Everybody counts for the same players: whoever submits adds 1, and nobody knows who was first.

All results of a player are a chain nevertheless: the n-th 1 took effect not before the n-th call
and not after the n-th answer, in the order of calls and of answers.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from tests.histories.instants import microsecond, moment
from tests.histories.playing import Face, Plan, Play
from toprung.domain.standing import SubmitResult
from toprung.testing.history import Findings, Receipt, Write
from toprung.testing.history.state import Result

PLAN = Plan({"policy": "sum", "tie_break": "player"}, scores=30, players=5)


class Counted(NamedTuple):
    """One submission and what it was told."""

    player: str
    called: float
    answered: float
    told: SubmitResult
    by: str


class Counting(Play):
    """A history in which writers share their players."""

    def __init__(self, seed: int, faces: Sequence[Face], *, may_forget: bool) -> None:
        asks = ["standing", "lookup", "top", "page_from", "around", "around_score", "total"]
        super().__init__(PLAN, seed, faces, may_forget=may_forget, asks=asks)
        self.at = microsecond(datetime.now(UTC) - timedelta(minutes=1))
        self.counted: list[Counted] = []

    async def begin(self) -> None:
        """Create the board; nobody is on it."""
        await self.faces[0].boards.create(self.board_id, **self.rules)

    async def count(self, turns: int, writers: int) -> None:
        """Let everybody submit and read."""

        async def write(number: int) -> None:
            face, chance = self.faces[number % len(self.faces)], random.Random(self.seed + number)
            board = await face.boards.board(self.board_id)
            for _ in range(turns):
                await self._submit(board, chance.choice(self.players), face.name)

        async def everybody() -> None:
            await asyncio.gather(*(write(number) for number in range(writers)))

        await self.run(0, everybody)

    async def _submit(self, board: Any, player: str, by: str) -> None:
        called = time.monotonic()
        told = await board.submit(player, 1, at=moment(self.at))
        self.counted.append(Counted(player, called, time.monotonic(), told, by))

    def check(self) -> Findings:
        """Make chains of what was counted, then hold all answers against them."""
        for player in self.players:
            own = [each for each in self.counted if each.player == player]
            calls, answers = sorted(e.called for e in own), sorted(e.answered for e in own)
            self.history.chains[player] = [
                Write(Result(number, self.at), frozenset(), called, answered)
                for number, (called, answered) in enumerate(zip(calls, answers, strict=True), 1)
            ]
            scores = sorted(int(each.told.standings["all-time"].score) for each in own)
            assert scores == list(range(1, len(own) + 1)), "each 1 counts once"
        for each in self.counted:
            self._note_receipts(each)
        return super().check()

    def _note_receipts(self, each: Counted) -> None:
        assert not each.told.stale
        for standing in each.told.standings.values():
            score, previous = int(standing.score), standing.previous_score
            receipt = Receipt(
                standing.rank,
                standing.previous_rank,
                standing.total,
                score,
                None if previous is None else int(previous),
            )
            self.history.receipt(
                each.player,
                (score - 1, score),
                receipt,
                (each.called, each.answered),
                by=f"a writer in {each.by}",
                may_forget=self.may_forget,
                is_loose=True,
            )
