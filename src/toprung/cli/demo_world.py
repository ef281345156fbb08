"""The demo's world: players, boards and plays, all drawn from one seed.

Everybody here is invented: handles are made of words, in several scripts. Nothing in this module
asks the clock or the system for chance, so a seed always makes the same world.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final

HISTORY_DAYS: Final = 70
SEASON_BEFORE: Final = timedelta(hours=1)
SEASON_AFTER: Final = timedelta(minutes=5)
"""When the season ends: while you watch."""
PLAYS_PER_BOARD: Final = 12
"""How often a player has played a board in the past, on average."""

_FIRST: Final = (
    "velvet",
    "quiet",
    "neon",
    "lunar",
    "cosmic",
    "brave",
    "mellow",
    "rusty",
    "swift",
    "amber",
    "hollow",
    "golden",
    "misty",
    "tiny",
    "atomic",
    "frosty",
    "lucky",
    "salty",
    "electric",
    "paper",
    "wild",
    "silver",
    "sleepy",
    "turbo",
    "crimson",
    "northern",
)
_SECOND: Final = (
    "otter",
    "mango",
    "comet",
    "badger",
    "lantern",
    "falcon",
    "pixel",
    "walrus",
    "ember",
    "cactus",
    "rocket",
    "heron",
    "puffin",
    "waffle",
    "tundra",
    "marble",
    "panther",
    "kettle",
    "acorn",
    "typhoon",
    "lynx",
    "anchor",
    "biscuit",
    "meteor",
    "moth",
    "dune",
)
_OTHER_SCRIPTS: Final = (
    ("JP", "そらとぶクジラ"), ("JP", "夜行列車"), ("JP", "ねこまる"), ("JP", "三日月うさぎ"),
    ("KR", "달빛여우"), ("KR", "번개토끼"), ("KR", "은하수고래"), ("CN", "月下狐"),
    ("CN", "北海冰山"), ("UA", "НічнийВогник"), ("BG", "СевернаЛисица"), ("GR", "ΑστρικόΚύμα"),
    ("GR", "ΜπλεΓλάρος"),
    ("EG", "نجم البحر"), ("MA", "صقر الليل"), ("IL", "ארנב מהיר"), ("IN", "तेज़ चीता"),
    ("IN", "चाँद का घोड़ा"), ("TH", "แมวบิน"), ("GE", "მთვარის მელა"), ("TR", "İnciÇiçeği"),
    ("VN", "Gió Biển"), ("AM", "Լուսնի Աղվես"), ("IS", "Ísbjörninn"), ("PL", "ŻółtaŻaba"),
    ("BR", "CaféCósmico"), ("MX", "ÑanduVeloz"), ("US", "🦊 foxglove"), ("SE", "Ångbåten"),
)  # fmt: skip
_COUNTRIES: Final = ("US", "BR", "DE", "FR", "IN", "JP", "KR", "PT", "GB", "MX", "PL", "TR")
_WEIGHTS: Final = (22, 14, 12, 9, 9, 8, 6, 5, 5, 4, 3, 3)


@dataclass(frozen=True)
class DemoPlayer:
    """Somebody who does not exist."""

    id: str
    name: str
    country: str
    skill: float
    """Where most of the player's results lie, around 1."""


@dataclass(frozen=True)
class DemoBoard:
    """A board and how its scores come about."""

    id: str
    rules: dict[str, Any]
    score: Callable[[Random, float], Any]


def _points(random: Random, skill: float) -> int:
    return round(9_000 * skill * random.lognormvariate(0, 0.35))


def _lap_seconds(random: Random, skill: float) -> Decimal:
    return Decimal(round(1000 * (48 + 34 * math.exp(-skill) + random.expovariate(0.25)))) / 1000


def _steps(random: Random, skill: float) -> int:
    return round(400 + 2_600 * skill * random.random())


def _words(random: Random, skill: float) -> int:
    return max(0, round(random.gauss(22 + 9 * skill, 6)))


_WINDOWS: Final = ["all-time", "daily", "weekly", "monthly"]
BOARDS: Final = (
    DemoBoard(
        "blitz",
        {
            "title": "Blitz",
            "windows": _WINDOWS,
            "scopes": ["country"],
            "public": True,
            "history": {"every": "day"},
        },
        _points,
    ),
    DemoBoard(
        "time-trial",
        {
            "title": "Time trial, seconds",
            "order": "asc",
            "decimals": 3,
            "windows": _WINDOWS,
            "scopes": ["country"],
            "public": True,
        },
        _lap_seconds,
    ),
    DemoBoard(
        "steps",
        {
            "title": "Steps",
            "policy": "sum",
            "windows": _WINDOWS,
            "scopes": ["country"],
            "public": True,
        },
        _steps,
    ),
    DemoBoard(
        "word-quest",
        {
            "title": "Word quest",
            "ranking": "competition",
            "windows": ["all-time", "hourly", "daily"],
            "public": True,
        },
        _words,
    ),
)


def rules_of(board: DemoBoard, now: datetime) -> dict[str, Any]:
    """The rules of a board that is made now: a board with history has a season, too."""
    if "history" not in board.rules:
        return board.rules
    season = {
        "name": "season",
        "starts": (now - SEASON_BEFORE).isoformat(),
        "ends": (now + SEASON_AFTER).isoformat(),
        "grace": 10,
        "review_time": 10,
    }
    return {**board.rules, "windows": [*board.rules["windows"], season]}


class DemoWorld:
    """Everything that a seed leads to."""

    def __init__(self, seed: int, player_count: int) -> None:
        self._random = Random(seed)  # noqa: S311 -- a game, not a secret
        self.players = [self._player(number) for number in range(player_count)]
        self._activity = [self._random.paretovariate(1.3) for _ in self.players]

    def _player(self, number: int) -> DemoPlayer:
        random = self._random
        handle = f"{random.choice(_FIRST)}-{random.choice(_SECOND)}-{number + 1}"
        skill = random.lognormvariate(0, 0.45)
        if random.random() < 0.3:
            country, name = random.choice(_OTHER_SCRIPTS)
            return DemoPlayer(handle, name, country, skill)
        [country] = random.choices(_COUNTRIES, _WEIGHTS)
        first, second, _ = handle.split("-")
        name = random.choice((f"{first.title()}{second.title()}", f"{first}_{second}", second))
        return DemoPlayer(handle, name, country, skill)

    def friendships(self) -> list[tuple[str, str]]:
        """Pairs of friends, no pair twice."""
        ids = [player.id for player in self.players]
        if len(ids) < 2:
            return []
        pairs = {tuple(sorted(self._random.sample(ids, 2))) for _ in ids}
        return [(one, other) for one, other in sorted(pairs)]

    def history(self, board: DemoBoard, now: datetime) -> Iterator[dict[str, Any]]:
        """Past submissions of one board: more of them lately, and more by some than by others."""
        plays = PLAYS_PER_BOARD * len(self.players)
        for player in self._random.choices(self.players, self._activity, k=plays):
            ago = timedelta(days=HISTORY_DAYS * self._random.random() ** 2.5, seconds=1)
            score = board.score(self._random, player.skill)
            yield {"player": player.id, "score": score, "at": now - ago}

    def plays(self) -> Iterator[tuple[DemoBoard, str, Any]]:
        """Submissions of now, without an end: board, player and score."""
        while True:
            board = self._random.choices(BOARDS, (5, 3, 3, 2))[0]
            [player] = self._random.choices(self.players, self._activity)
            yield board, player.id, board.score(self._random, player.skill)

    def pause(self, per_second: float) -> float:
        """Seconds until the next submission, so that they come unevenly, as people do."""
        return self._random.expovariate(per_second)
