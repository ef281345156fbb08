"""How each peer keeps a small board: for questions of who is right, not who is fast.

All recipes have the same few methods; a board is named by the case. `Oracle` is plain Python with
exact integers and says what is right: the better score first, of equal scores the earlier one.
"""

# ruff: noqa: ARG002 -- not every recipe has a use for all that it is told

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, runtime_checkable

import asyncpg
import redis

import toprung
from benchmarks import servers
from benchmarks.peers import leaderboard_package
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer

DAY_SECONDS = 24 * 3600
Row = tuple[int, str, int]  # rank, player, score


class Recipe(Protocol):
    """What every recipe can do."""

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        """A result; the best counts."""

    def all(self, board: str) -> list[Row]:
        """Everybody, best first."""
        ...


@runtime_checkable
class HasSums(Recipe, Protocol):
    """What recipes can do that add."""

    def add(self, board: str, player: str, amount: int, at: datetime, key: str) -> None:
        """An amount to add; a retry carries the same key."""


@runtime_checkable
class HasWindows(HasSums, Protocol):
    """What recipes can do that know weeks."""

    def week(self, board: str, player: str, at: datetime) -> int:
        """What the player has in the week of this moment."""
        ...


@runtime_checkable
class HasEndingWindows(Recipe, Protocol):
    """What recipes can do whose windows end."""

    def hours_extended(self, board: str, at: datetime, hours: int) -> int:
        """How much later a daily window ends after another result `hours` into it."""
        ...


class Oracle:
    """Exact, slow, obvious."""

    def __init__(self) -> None:
        self._best: dict[str, dict[str, tuple[int, datetime]]] = defaultdict(dict)
        self._added: dict[str, dict[str, tuple[str, int, datetime]]] = defaultdict(dict)

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        current = self._best[board].get(player)
        if current is None or score > current[0]:
            self._best[board][player] = score, at

    def add(self, board: str, player: str, amount: int, at: datetime, key: str) -> None:
        self._added[board].setdefault(key, (player, amount, at))

    def all(self, board: str) -> list[Row]:
        entries = dict(self._best[board])
        for player, amount, at in self._added[board].values():
            before, _ = entries.get(player, (0, at))
            entries[player] = before + amount, at
        order = sorted(entries.items(), key=lambda entry: (-entry[1][0], entry[1][1]))
        scores = [score for _, (score, _) in order]
        return [(scores.index(score) + 1, player, score) for player, (score, _) in order]

    def week(self, board: str, player: str, at: datetime) -> int:
        monday = at.date() - timedelta(days=at.weekday())
        week = {monday + timedelta(days=day) for day in range(7)}
        rows = self._added[board].values()
        return sum(amount for who, amount, when in rows if who == player and when.date() in week)

    def hours_extended(self, board: str, at: datetime, hours: int) -> int:
        return 0


class Toprung:
    """Ourselves, with the default rules but for the ranks of tied players."""

    def __init__(self, boards: toprung.Leaderboards, clock: FrozenClock) -> None:
        self._boards = boards
        self._clock = clock

    def _board(self, board: str, policy: str) -> toprung.Leaderboard:
        known = {each.id for each in self._boards.list()}
        if board not in known:
            windows = ["all-time", "daily", "weekly"]
            rules = {"policy": policy, "ranking": "competition", "windows": windows}
            self._boards.create(board, **rules)
        return self._boards[board]

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        self._clock.move_to(at)
        self._board(board, "best").submit(player, score)

    def add(self, board: str, player: str, amount: int, at: datetime, key: str) -> None:
        self._clock.move_to(at)
        self._board(board, "sum").submit(player, amount, key=key)

    def all(self, board: str) -> list[Row]:
        return [(s.rank, s.player, int(s.score)) for s in self._boards[board].top(100)]

    def week(self, board: str, player: str, at: datetime) -> int:
        self._clock.move_to(at)
        return int(self._boards[board].standing(player, window="weekly").score)

    def hours_extended(self, board: str, at: datetime, hours: int) -> int:
        ends = []
        for when in (at, at + timedelta(hours=hours)):
            self.put(board, "amy", 1500, when)
            ends.append(self._boards[board].current_periods()["daily"].closes_at)
        assert ends[0] is not None
        assert ends[1] is not None
        return (ends[1] - ends[0]) // timedelta(hours=1)


class PlainZset:
    """Redis: the score is the score; weeks are named by the year and the ISO week."""

    def __init__(self, client: redis.Redis) -> None:
        self.client: Any = client

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        self.client.zadd(board, {player: score}, gt=True)

    def add(self, board: str, player: str, amount: int, at: datetime, key: str) -> None:
        pipeline = self.client.pipeline(transaction=True)
        pipeline.zincrby(board, amount, player)
        pipeline.zincrby(f"{board}:{at:%Y-W%V}", amount, player)
        pipeline.execute()

    def all(self, board: str) -> list[Row]:
        rows = self.client.zrevrange(board, 0, -1, withscores=True)
        return [(at + 1, player.decode(), int(score)) for at, (player, score) in enumerate(rows)]

    def week(self, board: str, player: str, at: datetime) -> int:
        return int(self.client.zscore(f"{board}:{at:%Y-W%V}", player))

    def hours_extended(self, board: str, at: datetime, hours: int) -> int:
        """EXPIRE with every write, as is often written; time passes by shortening the rest."""
        for passed in (hours, 0):
            self.client.zadd(f"{board}:{at:%Y%m%d}", {"amy": 1500})
            self.client.expire(f"{board}:{at:%Y%m%d}", DAY_SECONDS)
            ttl = self.client.ttl(f"{board}:{at:%Y%m%d}")
            self.client.expire(f"{board}:{at:%Y%m%d}", ttl - passed * 3600)
        left: int = self.client.ttl(f"{board}:{at:%Y%m%d}")
        return round((left - (DAY_SECONDS - hours * 3600)) / 3600)


class CompositeZset:
    """Redis: score and reversed second are packed into one number; it cannot add."""

    BITS = 32
    LATEST = 2**31 - 1

    def __init__(self, client: redis.Redis) -> None:
        self._packed = PlainZset(client)

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        packed = (score << self.BITS) | (self.LATEST - int(at.timestamp()))
        self._packed.put(board, player, packed, at)

    def all(self, board: str) -> list[Row]:
        rows = self._packed.all(board)
        return [(rank, player, packed >> self.BITS) for rank, player, packed in rows]


class Table:
    """PostgreSQL: one row per player; weeks by to_char with the calendar's year."""

    TABLE = (
        "CREATE TABLE scores (board text, player text, score bigint, PRIMARY KEY (board, player))"
    )
    PUT = (
        "INSERT INTO scores VALUES ($1, $2, $3) ON CONFLICT (board, player)"
        " DO UPDATE SET score = greatest(scores.score, excluded.score)"
    )
    ADD = (
        "INSERT INTO scores VALUES ($1, $2, $3) ON CONFLICT (board, player)"
        " DO UPDATE SET score = scores.score + excluded.score"
    )
    ALL = (
        "SELECT rank() OVER (ORDER BY score DESC), player, score FROM scores WHERE board = $1"
        " ORDER BY score DESC"
    )
    WEEK = """SELECT $1 || to_char($2::timestamp, ':YYYY-"W"IW')"""

    def __init__(self, runner: asyncio.Runner, connection: Any) -> None:
        self._runner = runner
        self._connection = connection
        self._run(connection.execute(self.TABLE))

    def _run(self, work: Any) -> Any:
        return self._runner.run(work)

    def _week(self, board: str, at: datetime) -> str:
        naive = at.astimezone(UTC).replace(tzinfo=None)
        return str(self._run(self._connection.fetchval(self.WEEK, board, naive)))

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        self._run(self._connection.execute(self.PUT, board, player, score))

    def add(self, board: str, player: str, amount: int, at: datetime, key: str) -> None:
        for name in (board, self._week(board, at)):
            self._run(self._connection.execute(self.ADD, name, player, amount))

    def all(self, board: str) -> list[Row]:
        rows = self._run(self._connection.fetch(self.ALL, board))
        return [(rank, player, score) for rank, player, score in rows]

    def week(self, board: str, player: str, at: datetime) -> int:
        rows = self.all(self._week(board, at))
        return next(score for _, name, score in rows if name == player)


class Package:
    """The leaderboard package; it knows no windows."""

    def __init__(self, package: leaderboard_package.LeaderboardPackage) -> None:
        self._package = package

    def put(self, board: str, player: str, score: int, at: datetime) -> None:
        current = {name: known for _, name, known in self.all(board)}
        if score > current.get(player, score - 1):
            self._package.ask("put", board, player, score)

    def add(self, board: str, player: str, amount: int, at: datetime, key: str) -> None:
        self._package.ask("add", board, player, amount)

    def all(self, board: str) -> list[Row]:
        return [(rank, name, int(score)) for rank, name, score in self._package.ask("all", board)]


@contextmanager
def opened() -> Iterator[dict[str, Recipe]]:
    """Every recipe on empty servers; the package is left out where it cannot be installed."""
    with ExitStack() as stack:
        client = stack.enter_context(servers.redis_server())
        other = stack.enter_context(servers.redis_server())
        postgres = PostgresServer()
        stack.callback(postgres.close)
        runner = stack.enter_context(asyncio.Runner())
        connection = runner.run(_connect(postgres.url))
        stack.callback(lambda: runner.run(connection.close()))
        clock = FrozenClock()
        boards = stack.enter_context(toprung.open("memory:", clock=clock))
        recipes: dict[str, Recipe] = {
            "right": Oracle(),
            "toprung": Toprung(boards, clock),
            "Redis": PlainZset(client),
            "Redis, composite": CompositeZset(other),
            "PostgreSQL": Table(runner, connection),
        }
        if leaderboard_package.is_installed():
            third = stack.enter_context(servers.redis_server())
            package = leaderboard_package.connected(servers.port_of(third))
            recipes["leaderboard package"] = Package(stack.enter_context(package))
        yield recipes


async def _connect(url: str) -> Any:
    return await asyncpg.connect(url)
