"""What the fold remembers beside the ladders, compactly: players, routes and idempotency keys.

Everything here is per player number, per interned combination, or bounded by time.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping

from toprung._native import PlayerTable, RankedSet
from toprung.domain.board import Board
from toprung.domain.ladder import Ladder, Route
from toprung.domain.player import GLOBAL

DAY = 86_400_000_000
"""Microseconds in 24 hours."""


class PlayerSheets:
    """Per player number: its attributes and its last submission, in flat arrays."""

    def __init__(self) -> None:
        self.last = array("q")
        """Position of the player's last submission on any board, 0 if none: a chain's head."""
        self._attributes = array("I")
        self._combinations: list[Mapping[str, str]] = [{}]
        self._numbers: dict[str, int] = {"{}": 0}
        self.past: dict[int, list[int]] = {}
        """Attribute combinations that a player had before, for those who changed them."""

    def extend(self, limit: int) -> None:
        """Make room for every player number below `limit`."""
        missing = limit - len(self.last)
        if missing > 0:
            self.last.frombytes(bytes(8 * missing))
            self._attributes.frombytes(bytes(4 * missing))

    def combination(self, number: int) -> int:
        """Which combination of attributes the player has; 0 is none at all."""
        return self._attributes[number]

    def attributes(self, number: int) -> Mapping[str, str]:
        """The player's attributes."""
        return self._combinations[self._attributes[number]]

    def past_attributes(self, number: int) -> Iterator[Mapping[str, str]]:
        """The attributes the player has, then those it had."""
        yield self.attributes(number)
        for combination in self.past.get(number, ()):
            yield self._combinations[combination]

    def set_attributes(self, number: int, attributes: Mapping[str, str]) -> None:
        """Give the player other attributes, remembering the old ones."""
        text = json.dumps(attributes, sort_keys=True)
        combination = self._numbers.setdefault(text, len(self._combinations))
        if combination == len(self._combinations):
            self._combinations.append(dict(attributes))
        old = self._attributes[number]
        if old != combination:
            past = self.past.setdefault(number, [])
            if old not in past:
                past.append(old)
            self._attributes[number] = combination

    def erase(self, number: int) -> None:
        """Forget all about the player."""
        self.past.pop(number, None)
        self._attributes[number] = 0
        self.last[number] = 0

    def dump(self) -> tuple[bytes, bytes, bytes]:
        """Last positions, attributes, and the rest as JSON."""
        rest = {"combinations": self._combinations, "past": list(self.past.items())}
        return self.last.tobytes(), self._attributes.tobytes(), json.dumps(rest).encode()

    @classmethod
    def load(cls, last: memoryview, attributes: memoryview, rest: memoryview) -> PlayerSheets:
        """The sheets that were dumped."""
        sheets = cls()
        sheets.last.frombytes(last)
        sheets._attributes.frombytes(attributes)
        tables = json.loads(bytes(rest))
        sheets._combinations = tables["combinations"]
        sheets._numbers = {
            json.dumps(c, sort_keys=True): n for n, c in enumerate(sheets._combinations)
        }
        sheets.past = dict(tables["past"])
        return sheets


class Routed:
    """A route in use: its number in the journal and the sets behind its ladders."""

    __slots__ = ("globals", "home", "ladders", "number", "sets", "stops")

    def __init__(self, number: int, board: str, generation: int, route: Route) -> None:
        self.number = number
        self.home = (board, generation)
        self.ladders: list[Ladder] = list(route.ladders(board))
        self.globals = [i for i, ladder in enumerate(self.ladders) if ladder.scope == GLOBAL]
        self.stops = [ladder[1:3] for ladder in self.ladders if ladder.scope == GLOBAL]
        """Window and period of each global ladder."""
        self.sets: list[RankedSet] = []


class RouteBook:
    """Routes by number, so that an event names its board, periods and scopes in one integer."""

    def __init__(self) -> None:
        self._by_number: dict[int, Routed] = {}
        self._numbers: dict[tuple[str, int, int, str, Route], int] = {}
        self.next = 1

    def intern(self, board: Board, source: str, route: Route) -> tuple[Routed, bool]:
        """The route in use, and whether it is new."""
        name = (board.id, board.generation, board.version, source, route)
        number = self._numbers.get(name)
        if number is not None:
            return self._by_number[number], False
        return self.add(self.next, *name), True

    def add(
        self, number: int, board: str, generation: int, version: int, source: str, route: Route
    ) -> Routed:
        """Enter a route under its number."""
        self._numbers[board, generation, version, source, route] = number
        routed = self._by_number[number] = Routed(number, board, generation, route)
        self.next = max(self.next, number + 1)
        return routed

    def take_back(self, limit: int) -> None:
        """Forget every route from number `limit` on: their commit failed."""
        for name in [name for name, number in self._numbers.items() if number >= limit]:
            del self._by_number[self._numbers.pop(name)]
        self.next = limit

    def release(self, board_id: str) -> None:
        """Let go of the sets of a board whose ladders were dropped; the next use finds them."""
        for name, number in self._numbers.items():
            if name[0] == board_id:
                self._by_number[number].sets = []

    def __getitem__(self, number: int) -> Routed:
        return self._by_number[number]


class KeyMemory:
    """Idempotency keys of the last 24 to 48 hours: 16-byte hash -> journal position.

    Two generations of a compact intern table; when the younger is a day old, the older goes.
    """

    def __init__(self, most: int = 16_000_000) -> None:
        self._most = most
        self._young, self._young_positions = PlayerTable(), array("q")
        self._old, self._old_positions = PlayerTable(), array("q")
        self._since = 0

    def find(self, key: bytes) -> int | None:
        """The position at which the key was used, while it is remembered."""
        for table, positions in (
            (self._young, self._young_positions),
            (self._old, self._old_positions),
        ):
            number = table.number(key)
            if number is not None:
                return positions[number]
        return None

    def has_room(self, count: int) -> bool:
        """Whether so many more keys could be remembered as long as promised."""
        return len(self._young_positions) + count <= self._most

    def remember(self, keys: Iterable[tuple[bytes, int]], now: int) -> None:
        """Note at which positions keys were used."""
        self._turn(now)
        for key, position in keys:
            number = self._young.intern(key)
            if number == len(self._young_positions):
                self._young_positions.append(position)
            else:
                self._young_positions[number] = position

    def forget(self, keys: Iterable[bytes]) -> None:
        """Keys that may be used again as if they never were."""
        for key in keys:
            for table in (self._young, self._old):
                number = table.number(key)
                if number is not None:
                    table.forget(number)

    def _turn(self, now: int) -> None:
        self._since = min(self._since, now)  # a clock that was ahead has come back
        if now - self._since >= DAY:
            self._old, self._old_positions = self._young, self._young_positions
            self._young, self._young_positions = PlayerTable(), array("q")
            self._since = now


def key_digest(generation: int, key: str) -> bytes:
    """What an idempotency key is remembered by: the board it was used on, and the key."""
    return hashlib.blake2b(f"{generation}\0{key}".encode(), digest_size=16).digest()
