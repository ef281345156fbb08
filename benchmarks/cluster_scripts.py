"""How long does a script block Redis at most, with the largest input it can get?

Redis does nothing else while a script runs, so its longest run is what everybody else may have to
wait for. Four boards are loaded: a large one, one whose cards are on 512 ladders each (the most
that rules allow at a time), one with thousands of ladders, and one whose cards have 1,728 entries
(64 windows by the hour: entries stay on cards for a day after retention). Durations are those of
SLOWLOG, Redis' own measure, which counts the time in which the server did not get a processor, too.

Each question is asked once per round. The bar goes by the median over the rounds of a script's
longest run: it says what the scripts cost, not what the machine did meanwhile. What was asked for
is that no run at all takes more than 20 ms, so the longest run of all rounds is printed as well,
for each script and in the end. Among thousands of runs there is always one that was interrupted:
both figures mean something on an idle machine only.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import struct
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from msgspec.structs import replace
from redis.asyncio import Redis

from benchmarks import harness
from toprung.domain.board import Board
from toprung.domain.calendar import Calendar, Period
from toprung.domain.card import Card, card_entry, join_card, number_bytes, period_name, scopes_name
from toprung.domain.instant import DAY
from toprung.domain.ladder import Ladder, UndenseLadder, periods_of
from toprung.domain.trust.rates import Rate
from toprung.indexes.redis import RedisIndex
from toprung.indexes.redis_client import ScriptClient, connect, script, script_names
from toprung.indexes.redis_rates import RedisRates
from toprung.indexes.redis_shards import RedisShards
from toprung.ports import AskedPlaces, CardChange, CardChanges
from toprung.profiles.embedded import SystemClock
from toprung.testing.servers import RedisServer

TIED = 10
"""Players with the same score: too many to be read one after the other, too few to be skipped."""

WIDE = harness.amount(200, smoke=20)
SCATTERED = harness.amount(5_000, smoke=500)
CARDS = harness.amount(1_000, smoke=100)
ENTRIES = harness.amount(50_000, smoke=5_000)
"""Cards that a question changes, and entries on them that it changes all of, at most."""

TOGETHER = harness.amount(2_000, smoke=200)
"""Questions for a place at the same time; of the longer questions, fewer."""

FRIENDS = 5_000
LONG = harness.amount(60, smoke=6)
HOURS = 27
"""Periods by the hour that a card keeps when one is retained: a day, until that is certain."""

LOADED_AT_ONCE = 2_000
LOGGED_US = "5"
"""Runs that take longer are logged: every script, but not most of the commands that it calls."""

_SEASON = {"starts": "2020-01-01T00:00:00Z", "ends": "2090-01-01T00:00:00Z"}

Longest = dict[str, float]
"""The longest run of each script, in milliseconds."""


class LoadedBoard:
    """A board, the names that its cards use, and cards of its players.

    Cards have entries of the present period of each window and of those before it.
    """

    def __init__(
        self, generation: int, players: int, tuples: list[str], periods: int = 1, **rules: Any
    ) -> None:
        self.board = Board.parse(f"board-{generation}", rules).recorded(generation, generation)
        self.players = players
        self.tuples = tuples
        now = SystemClock().now()
        found = [
            (window.name, period.id)
            for window, period in periods_of(self.board, now, now)[0]
            for period in _backwards(self.board.calendar(window), period, periods)
        ]
        self.periods = [period_name(*each) for each in reversed(found)]
        self.ladder = Ladder(self.board.id, *found[0], "global")
        self.cards: dict[int, Card] = {}
        """Those that are not as they were loaded."""

    def card(self, number: int, version: int, rng: random.Random | None = None) -> Card:
        """A player's card: by its number, or with a score of chance."""
        place = number if rng is None else rng.randrange(self.players)
        entries = [
            self._entry(number, period, place, version)
            for period in range(1, len(self.periods) + 1)
        ]
        return Card(self.player(number), version, join_card(entries))

    def after_score(self, number: int, version: int, rng: random.Random) -> Card:
        """A player's card with another score in the present period of one window."""
        entries = (self.cards.get(number) or self.card(number, 1)).entries
        place = rng.randrange(self.players)
        last = self._entry(number, len(self.periods), place, version)
        return Card(self.player(number), version, entries[: -len(last)] + last)

    def _entry(self, number: int, period: int, place: int, version: int) -> bytes:
        record = struct.pack(">3Q", (1 << 63) + place // TIED, (1 << 63) + place, version)
        scopes = number_bytes(1 + number % len(self.tuples))
        return card_entry(number_bytes(period), scopes, record)

    def player(self, number: int) -> str:
        """A player's id."""
        return f"player-{number:09}"


class Bench:
    """The boards in one server, and what it has measured."""

    def __init__(self, server: RedisServer, boards: list[LoadedBoard]) -> None:
        self.boards = {each.board.generation: each for each in boards}
        by_id = {each.board.id: each.board for each in boards}

        async def find(board_id: str) -> Board:
            return by_id[board_id]

        self.client = ScriptClient(connect(server.url), server.url)
        self._log = Redis.from_url(server.url)  # the other one does not wait for long answers
        self.shards = RedisShards(self.client, self, SystemClock())
        self.index = RedisIndex(self.client, find, lambda _: None)
        self.rates = RedisRates(self.client)
        self.rng = random.Random(harness.SEED)
        self.version = 1
        self._names = {script(name)[1].encode(): name for name in script_names()}

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()
        await self._log.aclose()

    async def all_names(self, generation: int) -> tuple[dict[int, str], dict[int, str]]:
        """What numbers in cards stand for."""
        loaded = self.boards[generation]
        return dict(enumerate(loaded.periods, 1)), dict(enumerate(loaded.tuples, 1))

    async def load_scripts(self) -> None:
        """Have the server know all scripts, so that it logs every run by the script's hash."""
        for name in script_names():
            await self.client.client.script_load(script(name)[0])

    async def load(self, loaded: LoadedBoard) -> None:
        """Rebuild the board's shard, as a process would."""
        loaded.cards.clear()
        token = await self.shards.begin_rebuild(loaded.board)
        numbers = list(range(loaded.players))
        self.rng.shuffle(numbers)
        for at in range(0, len(numbers), LOADED_AT_ONCE):
            cards = [loaded.card(number, 1) for number in numbers[at : at + LOADED_AT_ONCE]]
            await self.shards.put(loaded.board, 1, cards)
        assert await self.shards.finish_rebuild(loaded.board, token)

    async def measure(self, work: Callable[[], Awaitable[object]]) -> Longest:
        """The longest runs of the scripts that some work takes."""
        await self._log.slowlog_reset()
        await work()
        longest: Longest = {}
        for entry in await self._log.slowlog_get(-1):
            words = entry["command"].split(b" ", 2)
            name = self._names.get(words[1]) if words[0] == b"EVALSHA" else None
            if name is not None:
                longest[name] = max(longest.get(name, 0.0), entry["duration"] / 1000)
        return longest

    # --- questions -----------------------------------------------------------------------------

    def some(self, loaded: LoadedBoard, count: int) -> list[int]:
        """Numbers of players, each once."""
        return self.rng.sample(range(loaded.players), min(count, loaded.players))

    async def read(self, loaded: LoadedBoard) -> None:
        """The longest lists that can be asked for, from anywhere on the ladder."""
        ladder = UndenseLadder(*loaded.ladder)
        start = self.rng.randrange(max(1, loaded.players - 1_000))
        await self.index.slice(ladder, start, start + 1_000)
        names = [loaded.player(number) for number in self.some(loaded, FRIENDS)]
        await self.index.places(ladder, names[:1_000])
        await self.index.among(ladder, names[0], names[1:], 1_000)
        await self.index.slice_around(ladder, names[0], 100, 100)
        keys = [
            struct.pack(">Q", (1 << 63) + self.rng.randrange(loaded.players)) for _ in range(201)
        ]
        await self.index.count_before(ladder, keys)
        await self.index.version(ladder)
        await self.index.ladders(loaded.board.id)
        await self.index.scopes(loaded.ladder, "", 1_000)

    async def read_together(self, loaded: LoadedBoard) -> None:
        """Thousands of questions of all kinds at the same time, which share calls."""
        ladder = UndenseLadder(*loaded.ladder)
        names = [loaded.player(self.rng.randrange(loaded.players)) for _ in range(TOGETHER)]
        keys = [struct.pack(">Q", (1 << 63) + number) for number in range(201)]
        await asyncio.gather(
            *(self.index.place(ladder, name) for name in names),
            *(self.index.slice_around(ladder, name, 100, 100) for name in names[: TOGETHER // 10]),
            *(self.index.slice(ladder, 0, 400) for _ in range(TOGETHER // 40)),
            *(self.index.places(ladder, names[:150]) for _ in range(TOGETHER // 100)),
            *(self.index.count_before(ladder, keys) for _ in range(TOGETHER // 100)),
            *(self.index.place(loaded.ladder, name) for name in names[:20]),
        )

    async def count(self, loaded: LoadedBoard) -> None:
        """Dense ranks of a thousand players, the last of them beyond the limit."""
        last = loaded.player(loaded.players - 1)
        names = [loaded.player(number) for number in self.some(loaded, 999)]
        await self.index.places(loaded.ladder, [*names, last])
        await self.index.slice_around(loaded.ladder, last, 100, 0)

    async def write(self, loaded: LoadedBoard) -> None:
        """New scores everywhere on the cards, the same by force; then one on each, with places."""
        self.version += 2
        numbers = self.some(loaded, CARDS)
        some = numbers[: ENTRIES // len(loaded.periods)]
        loaded.cards |= {n: loaded.card(n, self.version - 1, self.rng) for n in some}
        cards = [loaded.cards[n] for n in some]
        await self.shards.put(loaded.board, self.version, cards)
        await self.shards.put(loaded.board, self.version, cards, force=True)
        before = {n: loaded.cards.get(n) or loaded.card(n, 1) for n in numbers}
        loaded.cards |= {n: loaded.after_score(n, self.version, self.rng) for n in numbers}
        cards = [loaded.cards[n] for n in numbers]
        periods = (number_bytes(len(loaded.periods)),)
        changes = [CardChange(loaded.cards[n], before[n]) for n in numbers]
        asked = [
            AskedPlaces(new.player, periods, old.entries, new.entries)
            for new, old in changes
            if old is not None
        ]
        await self.shards.move(CardChanges(self.version, loaded.board, changes, asked))
        assert await self.shards.differing(loaded.board, cards) == []
        await self.shards.forget(loaded.board, [card.player for card in cards])
        # Looks at all, drops none.
        await self.shards.expire(archived(loaded.board), 1_000 * self.version)
        await self.shards.state(loaded.board.generation)
        await self.shards.servers()
        names = [card.player for card in cards]
        await self.rates.take(loaded.board.id, Rate(10, 60), names, SystemClock().now())

    async def sift(self, loaded: LoadedBoard) -> None:
        """Look for members of a ladder that are on nobody's card."""
        assert await self.shards.ghosts(loaded.board, loaded.ladder, remove=False) == []

    async def rebuild(self, loaded: LoadedBoard) -> None:
        """Drop the ladders of periods that are over, forget the board, and load it again."""
        if loaded.board.windows[0].kind not in ("all-time", "season"):
            assert await self.shards.expire(loaded.board, SystemClock().now() + 2 * DAY)
        await self.shards.remove(loaded.board.generation)
        await self.load(loaded)


def archived(board: Board) -> Board:
    """The board, with every period in an archive: the shard is told when each may go."""
    return replace(board, archived={window.name: 1 << 62 for window in board.windows})


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_scripts")
    harness.print_header("Longest runs of the cluster's scripts", players=options.size)
    server = RedisServer("--slowlog-log-slower-than", LOGGED_US, "--slowlog-max-len", "1000000")
    try:
        rounds = asyncio.run(_measure(server, options))
    finally:
        server.close()
    medians, longest = {}, {}
    for name in sorted({name for _, name in rounds}):
        runs = [taken for (_, script_name), taken in rounds.items() if script_name == name]
        medians[name] = max(map(statistics.median, runs))
        longest[name] = max(map(max, runs))
    for name, median in medians.items():
        report.add_figure(name, median, "ms", "median of rounds")
        report.add_figure(name, longest[name], "ms", "longest")
    unmeasured = set(script_names()) - set(medians)
    assert not unmeasured, f"not measured: {sorted(unmeasured)}"
    report.add_figure("longest run of all", max(longest.values()), "ms")
    report.add_bar("cluster-scripts", max(medians.values()))
    return report


async def _measure(
    server: RedisServer, options: argparse.Namespace
) -> dict[tuple[str, str], list[float]]:
    """By question and script: the longest run of each round."""
    seasons = [{"name": f"s{number}", **_SEASON} for number in range(64)]
    scopes = [f"a{number}" for number in range(7)]
    large = LoadedBoard(1, options.size, [scopes_name(["global"])])
    wide = LoadedBoard(
        2, WIDE, [scopes_name(["global", *(f"{scope}:x" for scope in scopes)])],
        windows=seasons, scopes=["global", *scopes], ranking="dense",
    )  # fmt: skip
    scattered = LoadedBoard(
        3, SCATTERED, [scopes_name(["global", f"country:{n}"]) for n in range(SCATTERED)],
        windows=["hourly"], scopes=["global", "country"],
    )  # fmt: skip
    hourly = [{"name": f"h{number}", "cron": "0 * * * *", "retain": 1} for number in range(64)]
    long = LoadedBoard(4, LONG, [scopes_name(["global"])], periods=HOURS, windows=hourly)
    bench = Bench(server, [large, wide, scattered, long])
    await bench.load_scripts()
    for loaded in bench.boards.values():
        await bench.load(loaded)
    questions: list[tuple[Callable[[LoadedBoard], Awaitable[None]], LoadedBoard]] = [
        *(
            (ask, loaded)
            for ask in (bench.read, bench.read_together, bench.write)
            for loaded in bench.boards.values()
        ),
        *((bench.rebuild, loaded) for loaded in (wide, scattered, long)),
        (bench.count, large),
        *((bench.sift, loaded) for loaded in bench.boards.values()),
    ]
    taken: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(options.rounds):
        for ask, loaded in questions:
            found = await bench.measure(lambda ask=ask, loaded=loaded: ask(loaded))  # type: ignore[misc]
            for name, milliseconds in found.items():
                taken[f"{ask.__name__} {loaded.board.id}", name].append(milliseconds)
    await bench.close()
    return taken


def _backwards(calendar: Calendar, period: Period | None, count: int) -> Iterator[Period]:
    """A period and those before it."""
    for _ in range(count):
        if period is None:
            return
        yield period
        period = calendar.previous(period)


if __name__ == "__main__":
    harness.main(run)
