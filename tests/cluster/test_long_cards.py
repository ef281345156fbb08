"""Cards with hundreds of entries: entries stay on a card for a day after their period is over."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from toprung.domain.board import Board
from toprung.domain.card import (
    Card,
    card_entry,
    join_card,
    number_bytes,
    period_ladder,
    period_name,
    scopes_name,
)
from toprung.indexes import redis, redis_shards
from toprung.indexes.redis import CARD_BYTES_PER_READ, RedisIndex
from toprung.indexes.redis_client import ScriptClient, connect
from toprung.indexes.redis_shards import CARD_BYTES_PER_SCRIPT, RedisShards
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import RedisServer

WINDOWS = 64
HOURS = 27
PLAYERS = 60
LONGEST_MS = 100
"""Far more than a script may take, for machines that do other things; it was 400 and more."""


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer("--slowlog-log-slower-than", "1000", "--slowlog-max-len", "100000")
    yield server
    server.close()


class LongCards:
    """A board with 64 windows by the hour, each of which keeps one hour, and 27 on cards."""

    def __init__(self, server: RedisServer, tie_break: str = "first") -> None:
        windows = [{"name": f"h{n}", "cron": "0 * * * *", "retain": 1} for n in range(WINDOWS)]
        rules = {"windows": windows, "tie_break": tie_break}
        self.board = Board.parse("long", rules).recorded(1, 1)
        self.clock = FrozenClock("2026-11-16T12:30:00Z")
        self.client = ScriptClient(connect(server.url), server.url)
        self.shards = RedisShards(self.client, self, self.clock)
        self.index = RedisIndex(self.client, self._find, lambda _: None)
        self.names: list[str] = []
        for hours_ago in reversed(range(HOURS)):
            at = self.clock.now() - hours_ago * 3_600_000_000
            for window in self.board.windows:
                period = self.board.calendar(window).period_at(at)
                assert period is not None
                self.names.append(period_name(window.name, period.id))
        self.ladder = period_ladder("long", self.names[-1])
        self.told: list[tuple[str, int, int]] = []
        """Of every script: its name, bytes that it was sent, and parts of its answer."""

    async def _find(self, board_id: str) -> Board:
        assert board_id == "long"
        return self.board

    async def all_names(self, generation: int) -> tuple[dict[int, str], dict[int, str]]:
        assert generation == 1
        return dict(enumerate(self.names, 1)), {1: scopes_name(["global"])}

    def cards(self, version: int) -> list[Card]:
        """Cards that differ from those of the version before by the last of their entries."""
        return [
            Card(
                f"p{n:02}",
                version,
                join_card(
                    self._entry(period, n, version if period == len(self.names) else 1)
                    for period in range(1, len(self.names) + 1)
                ),
            )
            for n in range(PLAYERS)
        ]

    def _entry(self, period: int, place: int, version: int) -> bytes:
        record = struct.pack(">3Q", (1 << 63) + place + version * PLAYERS, 1 << 63, version)
        return card_entry(number_bytes(period), number_bytes(1), record)

    async def fill(self) -> None:
        token = await self.shards.begin_rebuild(self.board)
        await self.shards.expire(self.board, self.clock.now(), anew=True)
        await self.shards.put(self.board, 1, self.cards(1))
        assert await self.shards.finish_rebuild(self.board, token)
        run, read = self.client.run, self.client.read

        async def run_and_note(name: str, key: str, *arguments: object) -> object:
            answer = await run(name, key, *arguments)
            sent = sum(len(each) for each in arguments if isinstance(each, bytes))
            self.told.append((name, sent, len(answer)))
            return answer

        async def read_and_note(name: str, key: str, *arguments: object) -> object:
            changes, *answers = await read(name, key, *arguments)
            self.told.append((str(arguments[11]), 0, len(answers[0])))
            return [changes, *answers]

        self.client.run = run_and_note  # type: ignore[method-assign]
        self.client.read = read_and_note  # type: ignore[method-assign]

    async def longest_ms(self, work: Callable[[], Awaitable[object]]) -> float:
        """The longest script of some work."""
        await self.client.client.slowlog_reset()
        await work()
        entries = await self.client.client.slowlog_get(1_000)
        return max((entry["duration"] / 1_000 for entry in entries), default=0.0)


def test_a_script_reads_and_gets_no_more_than_so_many_bytes_of_cards(
    own_redis: RedisServer,
) -> None:
    async def main() -> None:
        long = LongCards(own_redis)
        await long.fill()
        cards = long.cards(2)
        length = len(cards[0].entries)
        assert PLAYERS * length > 3 * CARD_BYTES_PER_READ
        most = CARD_BYTES_PER_READ // length + 1
        players = [card.player for card in cards]
        found = await long.index.slice(long.ladder, 0, PLAYERS)
        assert found.players == players
        places = await long.index.places(long.ladder, players)
        assert [place and place.distinct_before for place in places] == [*range(PLAYERS)]
        around = await long.index.slice_around(long.ladder, "p30", 20, 20)
        assert around is not None
        assert around.players == players[10:51]
        others = [player for player in players if player != "p30"]
        with pytest.MonkeyPatch.context() as patch:  # so that they are too many for one question
            patch.setattr(redis, "PLAYERS_PER_QUESTION", PLAYERS // 2)
            total, _, ordered = await long.index.among(long.ladder, "p30", others, PLAYERS)
        assert (total, [player for player, _ in ordered]) == (PLAYERS, players)
        assert await long.shards.ghosts(long.board, long.ladder, remove=False) == []
        answers = {
            "range": 10,  # keys tell all that rows show, so no cards are read
            "player": 10,
            "places": 3 + most,
            "records": most,
            "ghosts": 2,
            "distinct": 3 + PLAYERS,  # reads no cards
        }
        assert {name for name, *_ in long.told} == set(answers)
        for name, _, parts in long.told:
            assert parts <= answers[name], name
        found_players = [p async for some in long.shards.players(long.board) for p in some]
        assert sorted(found_players) == players
        long.told.clear()
        await long.shards.put(long.board, 2, cards)
        assert await long.shards.differing(long.board, cards) == []
        assert {name for name, *_ in long.told} == {"apply", "differing"}
        assert max(sent for _, sent, _ in long.told) <= CARD_BYTES_PER_SCRIPT + 2 * length
        after = await long.index.slice(long.ladder, 0, PLAYERS)
        assert [place.record[:-8] for _, place in ordered] != [r[:-8] for r in after.records]
        await long.client.close()

    asyncio.run(main())


def test_rows_whose_keys_have_no_time_are_read_from_cards_within_the_same_bytes(
    own_redis: RedisServer,
) -> None:
    async def main() -> None:
        long = LongCards(own_redis, tie_break="player")
        await long.fill()
        cards = long.cards(1)
        most = CARD_BYTES_PER_READ // len(cards[0].entries) + 1
        found = await long.index.slice(long.ladder, 0, PLAYERS)
        assert found.players == [card.player for card in cards]
        assert {record[8:16] for record in found.records} == {struct.pack(">Q", 1 << 63)}
        assert [name for name, *_ in long.told] == ["range"] + ["rows"] * (PLAYERS // most)
        around = await long.index.slice_around(long.ladder, "p30", 20, 20)
        assert around is not None
        assert around.players == found.players[10:51]
        assert around.records == found.records[10:51]
        await long.client.close()

    asyncio.run(main())


def test_a_score_costs_what_it_changes_rather_than_what_the_card_keeps(
    own_redis: RedisServer,
) -> None:
    """A hundred such cards took a script of 0.6 s, though each changed in one entry."""

    async def main() -> None:
        long = LongCards(own_redis)
        await long.fill()
        rounds = []
        for version in (2, 3, 4):
            cards = long.cards(version)
            rounds.append(
                await long.longest_ms(lambda v=version, c=cards: long.shards.put(long.board, v, c))  # type: ignore[misc]
            )
            assert await long.shards.differing(long.board, cards) == []
        assert min(rounds) < LONGEST_MS
        await long.client.close()

    asyncio.run(main())


def test_a_newer_card_between_the_parts_of_one_that_is_put_again_leaves_no_ghosts(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are cut: the newer one before it is done, the other goes on where it was."""
    monkeypatch.setattr(redis_shards, "UNITS_PER_APPLY", 10)

    async def main() -> None:
        long = LongCards(own_redis)
        await long.fill()
        run, card = long.client.run, long.cards(1)[0]
        count = len(long.names)
        current = count - WINDOWS + 1
        newer = Card(
            "p00",
            9,
            join_card(long._entry(at, 0, 9 if at >= current else 1) for at in range(1, count + 1)),
        )
        halves: list[int] = []

        async def interrupt(name: str, key: str, *arguments: object) -> Any:
            answer: Any = await run(name, key, *arguments)
            if name == "apply" and not halves and answer[3] > count - WINDOWS // 2:
                fixed = (0, *arguments[1:4], 0, arguments[5], 0, 1)
                part: Any = await run(
                    name, key, *fixed, "p00", newer.version.to_bytes(8) + newer.entries, b""
                )
                halves.append(part[3])
            return answer

        long.client.run = interrupt  # type: ignore[method-assign]
        await long.shards.put(long.board, 0, [card], force=True)
        for number, _ in enumerate(long.names[-WINDOWS:], 1):
            ladder = period_ladder("long", long.names[-number])
            assert await long.shards.ghosts(long.board, ladder, remove=False) == []
        await long.shards.put(long.board, 0, [newer])
        assert await long.shards.differing(long.board, [newer]) == []
        assert current < halves[0] < count - WINDOWS // 2
        await long.client.close()

    asyncio.run(main())
