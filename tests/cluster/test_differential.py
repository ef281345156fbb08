"""The same random history on both profiles: every read answers the same.

Allowed to differ, and taken out before comparing: ids of submissions (positions have gaps in a
cluster), and with them cursors, which contain a board's generation.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cluster.workbench import ClusterWorkbench
from tests.workbenches import EmbeddedWorkbench
from toprung.domain.ranking import RANKINGS
from toprung.errors import ToprungError
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

SEEDS = range(4)
STEPS = 60
PLAYERS = [f"player-{number}" for number in range(12)] + ["\u00e9", "\U0001f3c6"]
DIFFERENT = {"submission", "next", "prev", "version", "generation"}
BOARDS: dict[str, dict[str, Any]] = {
    "best": {"scopes": ["country"], "subscore": "asc", "ranking": "competition"},
    "sum": {"policy": "sum", "decimals": 2, "ranking": "dense", "windows": ["daily", "hourly"]},
    "latest": {"policy": "latest", "order": "asc", "tie_break": "player", "timezone": "Asia/Tokyo"},
}


class History:
    """Random steps; the same seed takes the same steps."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def step(self, clock: FrozenClock) -> tuple[str, Any]:
        pick = self.random.random()
        board = self.random.choice(list(BOARDS))
        player = self.random.choice(PLAYERS)
        if pick < 0.55:
            rows = [self._row(board, clock) for _ in range(self.random.randrange(1, 30))]
            return "submit_many", (board, rows)
        if pick < 0.75:
            return "submit", (board, self._row(board, clock))
        if pick < 0.85:
            attributes = {"country": self.random.choice(["DE", "US", "JP"])}
            return "set_player", (player, attributes)
        if pick < 0.88:
            return "erase", (player,)
        if pick < 0.91:
            return "remove", (board, player)
        if pick < 0.95:
            return "befriend", (player, self.random.choice(PLAYERS))
        return "advance", self.random.choice([1, 3600, 40_000, 90_000])

    def _row(self, board: str, clock: FrozenClock) -> dict[str, Any]:
        row: dict[str, Any] = {
            "player": self.random.choice(PLAYERS),
            "score": self.random.choice([self.random.randrange(20), self.random.randrange(2**62)]),
        }
        if board == "sum":
            row["score"] = self.random.randrange(1000)
        if self.random.random() < 0.2:
            row["key"] = f"key-{self.random.randrange(30)}"
        if self.random.random() < 0.2:
            row["details"] = {"level": self.random.randrange(5)}
        return row


async def take(boards: Leaderboards, step: tuple[str, Any]) -> Any:
    name, values = step
    try:
        if name in ("submit", "submit_many", "remove"):
            board = await boards.board(values[0])
            if name == "submit":
                row = dict(values[1])
                return await board.submit(row.pop("player"), row.pop("score"), **row)
            return await getattr(board, name)(values[1])
        if name == "set_player":
            return await boards.set_player(values[0], attributes=values[1])
        return await getattr(boards, name)(*values)
    except ToprungError as error:
        return type(error).__name__, getattr(error, "field", None)


async def answers(boards: Leaderboards) -> dict[str, Any]:
    """Every read of every ladder."""
    found: dict[str, Any] = {}
    for board_id in BOARDS:
        board = await boards.board(board_id)
        rules = await board.rules()
        for name in rules.window_names:
            for scope in await board.scopes(window=name):
                for ranking in RANKINGS:
                    options: dict[str, Any] = {
                        "window": name, "scope": scope.scope, "ranking": ranking
                    }  # fmt: skip
                    label = f"{board_id} {name} {scope.scope} {ranking}"
                    found[label] = await board.standings(100, details=True, **options)
                    found[f"{label} lookup"] = await board.lookup(PLAYERS, **options)
                    found[f"{label} friends"] = await board.friends(PLAYERS[0], **options)
                    found[f"{label} score"] = await board.around_score(10, 3, 3, **options)
            found[f"{board_id} {name} spread"] = await board.distribution(7, window=name)
            found[f"{board_id} {name} periods"] = await board.periods(name)
        for player in PLAYERS[:4]:
            found[f"{board_id} {player}"] = await board.submissions(player, 100)
    for player in PLAYERS:
        found[f"everywhere {player}"] = await boards.standings(player)
        found[f"friends {player}"] = await boards.friends(player)
    return found


def comparable(value: Any) -> Any:
    """The value without what is allowed to differ."""
    plain = msgspec.to_builtins(value)
    return _without(plain)


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(each) for name, each in value.items() if name not in DIFFERENT}
    if isinstance(value, list | tuple):
        return [_without(each) for each in value]
    return value


@pytest.mark.parametrize("seed", SEEDS)
def test_profiles_agree(
    seed: int, postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    async def main() -> None:
        clock = FrozenClock("2026-11-15T12:30:00Z")
        embedded = (await EmbeddedWorkbench(tmp_path).open(clock)).boards
        cluster = (await ClusterWorkbench(postgres.url, redis_server.url).open(clock)).boards
        try:
            for board_id, rules in BOARDS.items():
                await embedded.create(board_id, **rules)
                await cluster.create(board_id, **rules)
            history = History(seed)
            for _ in range(STEPS):
                step = history.step(clock)
                if step[0] == "advance":
                    clock.advance(seconds=step[1])
                    continue
                ours, theirs = [await take(boards, step) for boards in (embedded, cluster)]
                assert comparable(theirs) == comparable(ours), step
            ours, theirs = comparable(await answers(embedded)), comparable(await answers(cluster))
            assert theirs.keys() == ours.keys()
            for name, answer in ours.items():
                assert theirs[name] == answer, name
        finally:
            await embedded.close()
            await cluster.close()

    asyncio.run(main())
