"""leader.changed: whatever happens, a webhook knows who leads, and is told nothing twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest

import toprung
from tests.webhooks.receivers import Receiver, Request, receiving
from toprung.domain.board import Board
from toprung.domain.ladder import Ladder
from toprung.errors import ToprungError
from toprung.service.background import following
from toprung.service.leaderboards import Leaderboards
from toprung.service.webhooks import follower, walk
from toprung.service.webhooks.leaders import is_there
from toprung.testing.clock import FrozenClock

HOSTILE = '<script>alert("1")</script>\u202e\u2028💥'
NOON = "2026-11-15T12:00:00Z"
PLAYERS = ["ann", "bob", "cy", "dee"]
BOARDS = ["blitz", "rapid", "other"]
LAYOUTS: list[dict[str, Any]] = [
    {"windows": ["all-time", {"name": "daily", "retain": 2}], "scopes": ["country"]},
    {"windows": ["all-time", {"name": "daily", "retain": 2}], "scopes": []},
    {"windows": [{"name": "daily", "retain": 2}], "scopes": ["country"]},
    {"windows": ["all-time"], "scopes": ["country", "team"]},
]


def told_at(request: Request) -> datetime:
    """The time of a message, which tells the order."""
    return datetime.fromisoformat(request.told["timestamp"])


class World:
    """Boards where things happen, and what their webhook was told of who leads."""

    def __init__(self, boards: Leaderboards, receiver: Receiver, clock: FrozenClock, seed: int):
        self.boards = boards
        self.receiver = receiver
        self.clock = clock
        self.rng = random.Random(seed)
        self.known: dict[Ladder, str] = {}
        self.messages = 0

    async def attempt(self, weights: Sequence[int] = (24, 4, 6, 2, 6, 1, 2, 6)) -> None:
        """Something happens, or is refused."""
        with suppress(ToprungError):
            await self._act(weights)

    async def _act(self, weights: Sequence[int]) -> None:
        boards, rng = self.boards, self.rng
        player, board_id = rng.choice(PLAYERS), rng.choice(BOARDS)
        match rng.choices(range(8), weights)[0]:
            case 0:
                await (await boards.board(board_id)).submit(player, rng.randrange(20))
            case 1:
                await (await boards.board(board_id)).remove(player)
            case 2:
                named = {"country": rng.choice("AB"), "team": rng.choice("XY")}
                some = {name: value for name, value in named.items() if rng.random() < 0.8}
                await boards.set_player(player, name=HOSTILE, attributes=some)
            case 3:
                await boards.erase(player)
            case 4:
                await boards.replace(board_id, **rng.choice(LAYOUTS))
            case 5:
                await boards.delete(board_id)
            case 6:
                self.clock.advance(days=rng.choice((0, 0.5, 1, 3)), seconds=1)
            case 7:
                await self._moderate(player, board_id)

    async def _moderate(self, player: str, board_id: str) -> None:
        boards, rng = self.boards, self.rng
        match rng.randrange(3):
            case 0:
                await boards.restrict(player, kind="shadow", boards=[board_id], reason="a bot")
            case 1:
                await boards.lift(player)
            case 2:
                board = await boards.board(board_id)
                past = (await board.submissions(player, 5)).submissions
                if past:
                    await boards.revoke(rng.choice(past).submission, reason="replayed")

    async def settle(self) -> None:
        """Everything that has happened is told; in a cluster, the index may need a moment."""
        for _ in range(500):
            await self.boards.background.settle()
            if not any(each.lag_events for each in (await self.boards.status()).followers):
                return
            await asyncio.sleep(0.01)
        raise AssertionError(await self.boards.status())

    async def leaders(self) -> dict[Ladder, str]:
        """Who leads each ladder of the boards that the webhook is for."""
        found: dict[Ladder, str] = {}
        for board in (await self._rules()).values():
            for ladder, _ in await self.boards._parts.index.ladders(board.id):
                first = await self.boards._parts.index.slice(ladder, 0, 1)
                if first.players and is_there(board, ladder, self.clock.now()):
                    found[ladder] = first.players[0]
        return found

    async def _step_and_act(self) -> None:
        """Things go on happening while the webhook is told, but boards stay as they are laid out.

        Time passes, too: it tells the order of messages about a ladder.
        """
        for _ in range(self.rng.randrange(12)):
            await self.boards.background.step()
            for _ in range(self.rng.randrange(3)):
                self.clock.advance(microseconds=1000)
                await self.attempt((24, 8, 6, 2, 0, 0, 0, 6))

    async def round(self, *, is_restless: bool = False) -> None:
        """Some things happen, the webhook is told, and what it is told is right."""
        before = await self._rules()
        for _ in range(self.rng.randrange(1, 6)):
            await self.attempt()
        self.receiver.requests.clear()
        if is_restless:
            await self._step_and_act()
        await self.settle()
        now = await self._rules()
        same = {each for each in now if each in before}
        same = {each for each in same if now[each].generation == before[each].generation}
        self.known = {ladder: who for ladder, who in self.known.items() if ladder.board in same}
        self._hear(is_restless=is_restless)
        # Ladders that are gone with their board, window, scope or period are not told of.
        self.known = {
            ladder: who
            for ladder, who in self.known.items()
            if ladder.board in now and is_there(now[ladder.board], ladder, self.clock.now())
        }
        assert self.known == await self.leaders()

    async def _rules(self) -> dict[str, Board]:
        found = await self.boards._journal.boards()
        return {each.id: each for each in found if each.id != "other"}

    def _hear(self, *, is_restless: bool) -> None:
        """What is told is news, and what it says of before is what was told before."""
        met: set[Ladder] = set()
        ids = [request.headers["webhook-id"] for request in self.receiver.requests]
        assert len(set(ids)) == len(ids)
        for request in sorted(self.receiver.requests, key=told_at):
            data = request.told["data"]
            ladder = Ladder(*(data[name] for name in Ladder._fields))
            assert ladder.board in ("blitz", "rapid")
            assert is_restless or ladder not in met, "changes in between are one"
            met.add(ladder)
            leader, previous = data["leader"], data["previous"]
            before = self.known.get(ladder)
            if previous is None:
                assert before is None
            elif previous["player"] is not None:  # else it was erased
                assert previous["player"] == before
                assert leader is None or leader["player"] != before
            if leader is None:
                self.known.pop(ladder, None)
            else:
                self.known[ladder] = leader["player"]
                assert leader["name"] in (None, HOSTILE)
        self.messages += len(met)


@pytest.mark.parametrize("is_restless", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_last_told_leader_is_the_present_one(
    seed: int, is_restless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts of a step are small here, so that every one of them ends somewhere in between."""
    monkeypatch.setattr(follower, "LADDERS_MAX", 1 + seed % 4)
    monkeypatch.setattr(follower, "BOARDS_AT_ONCE", 1)
    monkeypatch.setattr(walk, "LADDERS_AT_ONCE", 1 + seed % 3)
    if is_restless:
        monkeypatch.setattr(following, "STEPS_MAX", 1)
    print(f"seed {seed}")
    clock = FrozenClock(NOON)

    async def main() -> None:
        async with receiving() as receiver, toprung.open_async("memory:", clock=clock) as boards:
            boards.webhooks.allow_private_addresses()
            world = World(boards, receiver, clock, seed)
            for board_id in BOARDS:
                await boards.create(board_id, **LAYOUTS[0])
            for _ in range(20):
                await world.attempt()
            await boards.webhooks.put("x", receiver.url, ["leader.changed"], ["bl*", "rapid"])
            await world.settle()
            assert not receiver.requests, "who leads already is no news"
            world.known = await world.leaders()
            for _ in range(40):
                await world.round(is_restless=is_restless)
            assert world.messages > 0
            assert not (await boards.webhooks.deliveries("x", "dead")).deliveries
            assert not (await boards.background.status()).faults

    asyncio.run(main())


def test_a_newer_message_about_a_ladder_has_a_later_timestamp_whatever_the_clock_does() -> None:
    clock = FrozenClock(NOON)

    async def main() -> None:
        async with receiving() as receiver, toprung.open_async("memory:", clock=clock) as boards:
            boards.webhooks.allow_private_addresses()
            await boards.webhooks.put("x", receiver.url, ["leader.changed"])
            await boards.background.settle()
            blitz = await boards.create("blitz", windows=["all-time"])
            for score, player in enumerate(PLAYERS):
                await blitz.submit(player, score)
                await boards.background.settle()
                clock.jump(seconds=-600)
            await boards.set_player("dee", attributes={"country": "PT"})
            await boards.patch("blitz", scopes=["country"])
            await boards.background.settle()
            timestamps = [told["timestamp"] for told in receiver.told]
            assert len(timestamps) == len(PLAYERS) + 1
            moments = [datetime.fromisoformat(each) for each in timestamps]
            assert moments == sorted(set(moments))

    asyncio.run(main())


def test_a_walk_that_meets_a_ladder_twice_tells_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that is laid out anew: first its ladders are looked at, then what was told."""
    monkeypatch.setattr(following, "STEPS_MAX", 1)

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with receiving() as receiver, toprung.open_async("memory:", clock=clock) as boards:
            boards.webhooks.allow_private_addresses()
            blitz = await boards.create("blitz", windows=["all-time"])
            for player in ("ann", "bob"):
                await boards.set_player(player, attributes={"team": "X"})
            await blitz.submit("ann", 5)
            await boards.webhooks.put("x", receiver.url, ["leader.changed"])
            await boards.background.settle()
            await boards.patch("blitz", scopes=["team"])
            for _ in range(20):
                await boards.background.step()
                states = await boards.background.stores.followers.states()
                (note,) = [state.note for name, state in states.items() if "webhook" in name]
                found = follower._unpack(note).walk
                if found is not None and found.before is not None:
                    break
            await blitz.submit("bob", 50)
            await boards.background.settle()
            told = [each["data"] for each in receiver.told if each["data"]["scope"] == "team:X"]
            assert {each["leader"]["player"] for each in told} == {"ann", "bob"}

    asyncio.run(main())


def test_a_leader_whom_the_journal_does_not_know_holds_up_its_own_webhook_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        clock = FrozenClock(NOON)
        async with receiving() as receiver, toprung.open_async("memory:", clock=clock) as boards:
            boards.webhooks.allow_private_addresses()
            one = await boards.create("one", windows=["all-time"])
            two = await boards.create("two", windows=["all-time"])
            await boards.webhooks.put("a", receiver.url, ["leader.changed"], ["one"])
            await boards.webhooks.put("b", receiver.url, ["leader.changed"], ["two"])
            await boards.background.settle()
            numbers = boards._journal.numbers

            async def without_ghost(players: Sequence[str]) -> dict[str, int]:
                return await numbers([player for player in players if player != "ghost"])

            monkeypatch.setattr(boards._journal, "numbers", without_ghost)
            await one.submit("ghost", 5)
            await two.submit("bob", 5)
            await boards.background.settle()
            assert [told["data"]["board"] for told in receiver.told] == ["two"]
            held, well = [
                each for each in (await boards.status()).followers if "webhook" in each.name
            ]
            assert (held.state, well.state) == ("held", "following")
            assert "'one'" in str(held.fault)
            assert "ghost" not in str(held.fault)
            monkeypatch.undo()
            await boards.background.settle()
            assert [told["data"]["board"] for told in receiver.told] == ["two", "one"]

    asyncio.run(main())


def test_a_clock_that_jumps_changes_neither_the_order_of_messages_nor_what_is_known() -> None:
    """A receiver goes by the timestamps; and whoever leads all along is no news."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with receiving() as receiver, toprung.open_async("memory:", clock=clock) as boards:
            boards.webhooks.allow_private_addresses()
            windows: list[Any] = ["all-time", {"name": "daily", "retain": 2}]
            board = await boards.create("one", windows=windows)
            for player in ("ann", "bob"):
                await boards.set_player(player, attributes={"team": "X"})
            await board.submit("ann", 5)
            await boards.webhooks.put("x", receiver.url, ["leader.changed"])
            await boards.background.settle()
            clock.jump(days=10)
            await boards.patch("one", scopes=["team"])
            await boards.background.settle()
            await board.submit("zoe", 1)
            await boards.background.settle()
            clock.jump(days=-10)
            clock.advance(seconds=5)
            receiver_knew = len(receiver.requests)
            await board.submit("ann", 6)
            await boards.background.settle()
            assert receiver.told[receiver_knew:] == [], "ann leads as before"
            clock.advance(seconds=5)
            await board.submit("bob", 50)
            await boards.background.settle()
            last: dict[tuple[str, ...], tuple[str, str]] = {}
            for told in receiver.told:
                data = told["data"]
                where = tuple(str(data[name]) for name in Ladder._fields)
                said = (str(told["timestamp"]), str(data["leader"]["player"]))
                last[where] = max(last.get(where, said), said)
            today = {where: who for where, (_, who) in last.items() if where[2] != "2026-11-25"}
            assert len(today) == 4
            assert set(today.values()) == {"bob"}

    asyncio.run(main())
