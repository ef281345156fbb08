"""Followers with much to do let others have their turn on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

import toprung
from toprung.domain.events import Event, Scored
from toprung.domain.ladder import Route
from toprung.ports import FollowerState, Step, Stretch
from toprung.service.background.activity import ActivityFollower
from toprung.service.background.following import STRETCH_MAX
from toprung.service.leaderboards import Leaderboards
from toprung.service.webhooks import follower
from toprung.service.webhooks.follower import PREFIX
from toprung.waiting import pace

EVENTS = 100


class Turns:
    """Counts how often others have had their turn."""

    def __init__(self) -> None:
        self.count = 0
        self._task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.count += 1

    def end(self) -> int:
        self._task.cancel()
        return self.count


def test_activity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SLICE_SECONDS", 0.0)  # a turn after each event

    async def play(boards: Leaderboards) -> None:
        store = boards.background.stores.followers
        events = [
            Event(at, 0, Scored("blitz", 1, "", Route(()), 1, 0, at, None, 1))
            for at in range(1, EVENTS + 1)
        ]
        turns = Turns()
        stretch = Stretch(0, EVENTS, events)
        step = await ActivityFollower(store).derive(stretch, FollowerState(0))
        assert len(step.rows) == EVENTS
        assert turns.end() >= 2 * EVENTS  # once to see it, once to make a row of it

    asyncio.run(_open(play))


def test_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "COMPARED_AT_ONCE", 2)

    async def play(boards: Leaderboards) -> None:
        wide = await boards.create("wide", windows=["all-time"], scopes=["country"])
        for at in range(EVENTS):
            await boards.set_player(f"p{at}", attributes={"country": f"c{at}"})
        await boards.webhooks.put("w", "http://example.org/", ["leader.changed"])
        await boards.background.settle()
        await wide.submit_many([(f"p{at}", at) for at in range(EVENTS)])
        background = boards.background
        (source,) = (each for each in background.following._sources if each.prefix == PREFIX)
        (of_webhook,) = await source.followers()
        store = background.stores.followers
        state = (await store.states())[of_webhook.name]
        stretch = await store.read(state.position, STRETCH_MAX, of_webhook.selection)
        turns = Turns()
        step = await of_webhook.derive(stretch, state)
        assert isinstance(step, Step)
        assert len(step.effects) == EVENTS + 1  # everybody leads at home, one of them everywhere
        assert turns.end() >= EVENTS // 2

    asyncio.run(_open(play))


async def _open(play: Callable[[Leaderboards], Awaitable[None]]) -> None:
    async with toprung.open_async("memory:") as boards:
        await play(boards)
