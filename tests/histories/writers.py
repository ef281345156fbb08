"""A writer of a history: it submits, removes and moves players of its own, one after the other."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from math import inf
from typing import TYPE_CHECKING, Any

from tests.histories.instants import moment
from toprung.domain.standing import SubmitResult
from toprung.errors import Unavailable
from toprung.testing.history import Receipt, Write

if TYPE_CHECKING:
    from tests.histories.playing import Face, Play

COUNTRIES = ("country:ES", "country:PT")
WINDOWS = ("all-time", "season")


class Writer:
    """Does one thing after the other."""

    def __init__(self, play: Play, number: int, face: Face, chance: random.Random) -> None:
        self.play, self.face, self.chance = play, face, chance
        self.name = f"writer {number} in {face.name}"
        self.own = play.players[number :: play.plan.writers]
        self.look: Callable[[], Awaitable[None]] | None = None
        """What it does after each turn."""

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
            if self.look is not None:
                await self.look()
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
            lambda: board.submit(player, submission.score, at=moment(submission.at), key=key)
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
                player,
                versions,
                receipt,
                span,
                by=self.name,
                may_forget=self.play.may_forget,
            )

    async def submit_some(self) -> None:
        play, history = self.play, self.play.history
        players = self.chance.sample(self.own, min(3, len(self.own)))
        submissions = [play.submission(player, self.chance) for player in players]
        rows = [
            {
                "player": each.player,
                "score": each.score,
                "at": moment(each.at),
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
