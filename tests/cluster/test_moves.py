"""Moving cards leads to the same shard as applying them; scripts read packed cards."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cluster.workbench import ClusterWorkbench
from tests.unit.test_native_cards import boards, entries_of
from toprung._native import pack_card
from toprung.domain.board import Board
from toprung.domain.card import Card, card_entry, entry_width, join_card, number_bytes, scopes_name
from toprung.domain.events import CARDS_FORMAT
from toprung.domain.ladder import Ladder
from toprung.indexes import redis_moves
from toprung.indexes.redis import RedisIndex
from toprung.indexes.redis_client import ScriptClient, connect
from toprung.indexes.redis_shards import RedisShards
from toprung.ports import AskedPlaces, CardChange, CardChanges
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.testing.servers import PostgresServer, RedisServer

PERIODS = {1: "all-time/all", 2: "s1/s1", 3: "s2/s2"}
SCOPES = {7: scopes_name(["global"]), 8: scopes_name(["global", "country:US"])}
SEASON = {"starts": "2020-01-01T00:00:00Z", "ends": "2090-01-01T00:00:00Z"}
SEASONS = ["all-time", *({"name": name, **SEASON} for name in ("s1", "s2"))]


class Shard:
    """A board's shard, whose cards are given by tests."""

    def __init__(self, url: str, generation: int, *, packs: bool = True, **rules: Any) -> None:
        rules = {"windows": SEASONS, "scopes": ["global", "country"], **rules}
        self.board = Board.parse("blitz", rules).recorded(generation, generation)
        self.client = ScriptClient(connect(url), url)
        self.shards = RedisShards(
            self.client, self, SystemClock(), f"moves{generation}:", lambda: packs
        )
        self.index = RedisIndex(
            self.client, self._find, lambda _: None, prefix=f"moves{generation}:"
        )

    async def _find(self, _board: str) -> Board:
        return self.board

    async def all_names(self, _generation: int) -> tuple[dict[int, str], dict[int, str]]:
        return PERIODS, SCOPES

    async def open(self) -> None:
        token = await self.shards.begin_rebuild(self.board)
        assert await self.shards.finish_rebuild(self.board, token)

    async def ladders(self) -> dict[Ladder, tuple[list[str], list[bytes]]]:
        """Players and keys of every ladder, in order."""
        found = {}
        order = 8 * self.board.shape.order
        for ladder, size in await self.index.ladders("blitz"):
            rows = await self.index.slice(ladder, 0, size)
            found[ladder] = rows.players, [record[:order] for record in rows.records]
        return found


@asynccontextmanager
async def shard(url: str, generation: int, **options: Any) -> AsyncIterator[Shard]:
    opened = Shard(url, generation, **options)
    try:
        await opened.open()
        yield opened
    finally:
        await opened.client.close()


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


class World:
    """Cards that change at random, each as the journal would have them."""

    def __init__(self, board: Board, seed: int) -> None:
        print(f"seed {seed}")
        self.board = board
        self.rng = random.Random(seed)
        self.cards: dict[str, Card] = {}
        self.version = 0

    def change(self) -> CardChange:
        rng, shape = self.rng, self.board.shape
        player = f"p{rng.randrange(12)}"
        before = self.cards.get(player, Card(player, 0, b""))
        width = entry_width(shape)
        entries = {
            before.entries[at : at + 4]: before.entries[at : at + width]
            for at in range(0, len(before.entries), width)
        }
        self.version += 1
        for period in rng.sample(sorted(PERIODS), rng.randrange(4)):
            number = number_bytes(period)
            if rng.random() < 0.15:
                entries.pop(number, None)
            else:
                record = shape.pack(rng.randrange(4), None, rng.randrange(3), self.version)
                scopes = number_bytes(rng.choice(list(SCOPES)))
                entries[number] = card_entry(number, scopes, record)
        card = Card(player, self.version, join_card(entries.values()))
        self.cards[player] = card
        return CardChange(card, before)


@pytest.mark.parametrize("ranking", ["ordinal", "competition", "dense"])
@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("tie_break", ["first", "player"])
@pytest.mark.parametrize("small", [False, True])
def test_moved_cards_lead_to_the_same_ladders_as_applied_ones(
    own_redis: RedisServer,
    ranking: str,
    packs: bool,
    tie_break: str,
    small: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With changes that are lost on the way, come twice, or come late."""
    if small:
        monkeypatch.setattr(redis_moves, "UNITS_PER_MOVE", 14)

    async def main() -> None:
        rules = {"ranking": ranking, "tie_break": tie_break}
        async with (
            shard(own_redis.url, 1, packs=packs, **rules) as moved,
            shard(own_redis.url, 2, packs=packs, **rules) as applied,
        ):
            world = World(moved.board, 5)
            late: list[CardChange] = []
            for outbox_id in range(1, 60):
                changes: dict[str, list[CardChange]] = {}
                for _ in range(world.rng.randrange(1, 5)):
                    change = world.change()
                    changes.setdefault(change.card.player, []).append(change)
                batch = [CardChange(each[-1].card, each[0].before) for each in changes.values()]
                kept = [each for each in batch if world.rng.random() > 0.1]
                late += [each for each in batch if each not in kept]
                late = list({each.card.player: each for each in late}.values())  # the newest
                await moved.shards.move(CardChanges(outbox_id, moved.board, kept))
                if late and world.rng.random() < 0.3:
                    await moved.shards.move(CardChanges(outbox_id, moved.board, late))
                    late.clear()
            await moved.shards.move(CardChanges(99, moved.board, late))
            cards = list(world.cards.values())
            await applied.shards.put(applied.board, 99, cards)
            assert await moved.ladders() == await applied.ladders()
            for each in (moved, applied):
                assert await each.shards.differing(each.board, cards) == []
                for ladder, _ in await each.index.ladders("blitz"):
                    assert await each.shards.ghosts(each.board, ladder, remove=False) == []

    asyncio.run(main())


@pytest.mark.parametrize(
    ("ranking", "before", "after"),
    [("ordinal", (2, 0), (0, 1)), ("competition", (1, 0), (0, 0)), ("dense", (1, 0), (0, 0))],
)
def test_places_are_those_just_before_and_just_after(
    own_redis: RedisServer, ranking: str, before: tuple[int, int], after: tuple[int, int]
) -> None:
    """Ann has 30, bob and cat have 20; cat gets 30 as well, later than ann."""

    async def main() -> None:
        async with shard(own_redis.url, 1, ranking=ranking, scopes=["global"]) as board:
            shape, period = board.board.shape, number_bytes(1)

            def card(player: str, version: int, score: int, at: int) -> Card:
                record = shape.pack(score, None, at, version)
                return Card(player, version, card_entry(period, number_bytes(7), record))

            none = [Card(player, 0, b"") for player in ("ann", "bob", "cat")]
            first = [card("ann", 1, 30, 5), card("bob", 2, 20, 6), card("cat", 3, 20, 7)]
            changes = list(map(CardChange, first, none))
            await board.shards.move(CardChanges(1, board.board, changes))
            new = card("cat", 4, 30, 1)
            asked = [
                AskedPlaces("cat", (period,), first[2].entries, new.entries),
                AskedPlaces("ann", (period,), first[0].entries, first[0].entries),
                AskedPlaces("dan", (period,), b"", b""),
            ]
            change = CardChange(new, first[2])
            told = await board.shards.move(CardChanges(2, board.board, [change], asked))
            assert told == {
                ("cat", (period,)): [(before[0], after[0], 3)],
                ("ann", (period,)): [(before[1], after[1], 3)],
                ("dan", (period,)): [(-1, -1, 3)],
            }
            late = CardChange(card("cat", 5, 40, 1), first[2])
            places = [AskedPlaces("cat", (period,), first[2].entries, late.card.entries), asked[1]]
            told = await board.shards.move(CardChanges(3, board.board, [late], places))
            assert ("cat", (period,)) not in told, "the shard had a newer card than it begins from"
            assert ("ann", (period,)) in told
            found = await board.index.slice(Ladder("blitz", "all-time", "all", "global"), 0, 9)
            assert found.players == ["cat", "ann", "bob"], "and yet it counts"

    asyncio.run(main())


def test_a_card_that_no_longer_fits_is_applied(own_redis: RedisServer) -> None:
    """It fitted beside another one with the same stops, and that one turned out to be stale."""

    async def main() -> None:
        windows = [{"name": f"w{n}", **SEASON} for n in range(64)]
        async with shard(own_redis.url, 1, windows=windows, scopes=["global"]) as board:
            names = {n + 1: f"w{n}/w{n}" for n in range(64)}
            shape = board.board.shape

            async def all_names(_: int) -> tuple[dict[int, str], dict[int, str]]:
                return names, SCOPES

            board.all_names = all_names  # type: ignore[assignment, method-assign]

            def card(player: str, version: int, periods: int) -> Card:
                record = shape.pack(version, None, 1, version)
                entries = [
                    card_entry(number_bytes(n), number_bytes(7), record)
                    for n in range(1, periods + 1)
                ]
                return Card(player, version, b"".join(entries))

            await board.shards.put(board.board, 1, [card("ann", 2, 30)])
            nobody = [Card(player, 0, b"") for player in ("ann", "bob")]
            changes = [card("ann", 1, 30), card("bob", 3, 60)]
            moved = CardChanges(2, board.board, list(map(CardChange, changes, nobody)))
            await board.shards.move(moved)
            assert await board.shards.differing(board.board, [card("ann", 2, 30), changes[1]]) == []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis_moves, "UNITS_PER_MOVE", 30 + 60 + 120 + 32)
        asyncio.run(main())


def test_a_card_that_was_not_moved_does_not_look_like_a_shard_that_went_back(
    own_redis: RedisServer,
) -> None:
    async def main() -> None:
        async with shard(own_redis.url, 1, scopes=["global"]) as board:
            record = board.board.shape.pack(5, None, 1, 3)
            entry = card_entry(number_bytes(1), number_bytes(7), record)
            await board.shards.put(board.board, 1, [Card("ann", 2, entry)])
            changes = [CardChange(Card("ann", 3, entry), Card("ann", 1, entry))]
            await board.shards.move(CardChanges(9, board.board, changes))
            await board.shards.move(CardChanges(10, board.board, [], []))
            await board.shards.put(board.board, 11, [Card("bob", 4, entry)])
            assert (await board.shards.state(1)).reached == 11

    asyncio.run(main())


def test_no_place_is_told_of_a_shard_that_is_being_rebuilt(own_redis: RedisServer) -> None:
    """Cards are taken in, but most of the others are not there yet."""

    async def main() -> None:
        async with shard(own_redis.url, 1, scopes=["global"]) as board:
            period = number_bytes(1)
            record = board.board.shape.pack(5, None, 1, 3)
            card = Card("ann", 3, card_entry(period, number_bytes(7), record))
            asked = [AskedPlaces("ann", (period,), b"", card.entries)]
            changes = [CardChange(card, Card("ann", 0, b""))]
            token = await board.shards.begin_rebuild(board.board)
            assert await board.shards.move(CardChanges(9, board.board, changes, asked)) == {}
            assert await board.shards.finish_rebuild(board.board, token)
            told = await board.shards.move(CardChanges(10, board.board, [], asked))
            assert told == {("ann", (period,)): [(-1, 0, 1)]}

    asyncio.run(main())


PLAIN = """
return plain_card(ARGV[1], tonumber(ARGV[2]))
"""
FIND = """
local answer = {}
for at = 3, #ARGV do
  answer[#answer + 1] = find_entry(ARGV[1], ARGV[at], tonumber(ARGV[2])) or ''
end
return answer
"""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), board=boards, version=st.integers(0, 2**56 - 1))
def test_scripts_read_packed_cards(
    redis_server: RedisServer, data: st.DataObject, board: Board, version: int
) -> None:
    """Every entry comes back as it was, but for its version."""
    common = files("toprung.indexes").joinpath("lua/common.lua").read_text()
    entries = data.draw(entries_of(board, st.integers(1, 9)))
    plain = version.to_bytes(8) + join_card(entries.values())
    packed = pack_card(plain[8:], board.shape.words, version)
    width = entry_width(board.shape)
    others = [number_bytes(n) for n in data.draw(st.lists(st.integers(1, 2**31 - 1), max_size=3))]
    periods = [*entries, *others]
    client = ScriptClient(connect(redis_server.url), redis_server.url)

    async def main() -> tuple[bytes, list[bytes]]:
        try:
            key = "{1.0}:epoch"
            text = await client.client.eval(common + PLAIN, 1, key, packed, width)
            found = await client.client.eval(common + FIND, 1, key, packed, width, *periods)
            return text, found
        finally:
            await client.close()

    unpacked, found = asyncio.run(main())
    card_version = version.to_bytes(8)
    expected = [entry[:-8] + card_version for entry in sorted(entries.values())]
    assert unpacked == card_version + b"".join(expected)
    for period, entry in zip(periods, found, strict=True):
        known = entries.get(period)
        assert entry == (b"" if known is None else known[4:-8] + card_version)


def test_packed_cards_and_locks_of_cards_wait_for_older_processes(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)

    async def tags(profile: ClusterProfile) -> set[int]:
        """The first bytes of all cards in the index."""
        prefix = workbench.settings.prefix
        keys = await profile.client.client.keys(f"{prefix}*cards")
        cards = [card for key in keys for card in await profile.client.client.hvals(key)]
        return {card[0] for card in cards}

    async def main() -> None:
        opened = await workbench.open(SystemClock())
        await opened.boards.close()
        await workbench._execute(
            f"INSERT INTO {workbench.settings.schema}.clocks"
            " VALUES (gen_random_uuid(), 'older:1', 1, 1, clock_timestamp(), true, 2);"
            f" UPDATE {workbench.settings.schema}.event_formats SET written = 2"
        )
        opened = await workbench.open(SystemClock())
        profile = opened.maintenance
        assert isinstance(profile, ClusterProfile)
        board = await opened.boards.create("blitz")
        await board.submit("ann", 10)
        assert await tags(profile) == {0}
        assert not profile.formats.has(CARDS_FORMAT)
        await workbench._execute(
            f"DELETE FROM {workbench.settings.schema}.clocks WHERE name = 'older:1'"
        )
        profile.formats._asked_at.clear()
        await board.submit("bob", 20)
        assert profile.formats.has(CARDS_FORMAT)
        assert await tags(profile) == {0, 1}, "what is there stays readable"
        assert [s.player for s in (await board.standings(10)).standings] == ["bob", "ann"]
        await board.submit("ann", 30)
        assert await tags(profile) == {1}
        assert (await board.standing("ann")).rank == 1
        assert await opened.boards.verify() == []
        await opened.boards.close()

    asyncio.run(main())
