"""What the fold remembers of every player beside the ladders: attributes and the last submission.

Everything here is per player number, per combination of attributes, or bounded by time.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping

from toprung.domain.trust.restriction import HIDDEN

PAST_MAX = 32
"""Past attributes of a player that are remembered without asking what they are good for."""

_CHANGES_MIN = 1024
_NO_ATTRIBUTES: Mapping[str, str] = {}


class PlayerColumns:
    """Per player number: its attributes and its last submission, in flat arrays."""

    def __init__(self) -> None:
        self.last = array("q")
        """Position of the player's last submission on any board, 0 if none: a chain's head."""
        self._attributes = array("I")
        self._combinations: dict[int, Mapping[str, str]] = {0: _NO_ATTRIBUTES}
        self._numbers: dict[str, int] = {"{}": 0}
        self._next_combination = 1
        self.past: dict[int, dict[int, int]] = {}
        """Combinations that a player had before and until when, for those who changed them."""
        self._changes = 0
        self.restricted: set[int] = set()
        """Players whose entries are hidden on some boards."""

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
        combination = self._attributes[number]  # first: `tidy` keeps all that anybody has now
        return self._combinations.get(combination, _NO_ATTRIBUTES)

    def past_attributes(self, number: int) -> Iterator[Mapping[str, str]]:
        """The attributes the player has, then those it had."""
        yield self.attributes(number)
        for combination in list(self.past.get(number, ())):  # readers have threads of their own
            yield self._combinations[combination]

    def has_moved_since(self, number: int, moment: int) -> bool:
        """Whether the player was given other attributes at the moment, or after it."""
        past = self.past.get(number)
        return past is not None and max(past.values()) >= moment

    def set_attributes(self, number: int, attributes: Mapping[str, str], now: int) -> None:
        """Give the player other attributes, remembering the old ones."""
        text = json.dumps(attributes, sort_keys=True)
        combination = self._numbers.setdefault(text, self._next_combination)
        if combination == self._next_combination:
            self._combinations[combination] = dict(attributes)
            self._next_combination += 1
        old = self._attributes[number]
        self._note_restriction(number, attributes)
        if old != combination:
            self.past.setdefault(number, {})[old] = now
            self._attributes[number] = combination
            self._changes += 1

    def _note_restriction(self, number: int, attributes: Mapping[str, str]) -> None:
        if HIDDEN in attributes:
            self.restricted.add(number)
        else:
            self.restricted.discard(number)

    def is_past_long(self, number: int) -> bool:
        """Whether the player had so many attributes that it is time to look which still matter.

        It is asked whenever another `PAST_MAX` have come together, so looking is paid for.
        """
        past = self.past.get(number)
        return past is not None and len(past) > PAST_MAX and not len(past) % PAST_MAX

    def shorten_past(self, number: int, is_needed: Callable[[Mapping[str, str]], bool]) -> None:
        """Forget the attributes of a player's past that are not needed; the last ones stay."""
        past = self.past[number]
        last = max(past, key=past.__getitem__)
        self.past[number] = {
            each: until
            for each, until in past.items()
            if each == last or is_needed(self._combinations[each])
        }

    def is_untidy(self, boards: int) -> bool:
        """Whether so much changed since `tidy` that looking through everything is paid for.

        That is all players, and all of so many boards.
        """
        players = max(len(self._attributes) // 16, len(self.past) // 2)
        return self._changes >= max(_CHANGES_MIN, players, boards)

    def tidy(self, horizon: int) -> None:
        """Forget attributes that nobody has had since the horizon.

        Numbers of combinations are not given again, for routers remember them.
        """
        self._changes = 0
        recent = (
            (number, {each: until for each, until in past.items() if until >= horizon})
            for number, past in self.past.items()
        )
        self.past = {number: past for number, past in recent if past}
        used = {0, *self._attributes}.union(*self.past.values())
        self._combinations = {n: c for n, c in self._combinations.items() if n in used}
        self._numbers = {text: n for text, n in self._numbers.items() if n in used}

    def erase(self, number: int) -> None:
        """Forget all about the player."""
        self.past.pop(number, None)
        self.restricted.discard(number)
        self._attributes[number] = 0
        self.last[number] = 0

    def dump(self) -> tuple[bytes, bytes, bytes]:
        """Last positions, attributes, and the rest as JSON."""
        rest = {
            "combinations": list(self._combinations.items()),
            "next": self._next_combination,
            "past": [(number, list(past.items())) for number, past in self.past.items()],
        }
        return self.last.tobytes(), self._attributes.tobytes(), json.dumps(rest).encode()

    @classmethod
    def load(cls, last: memoryview, attributes: memoryview, rest: memoryview) -> PlayerColumns:
        """The columns that were dumped."""
        columns = cls()
        columns.last.frombytes(last)
        columns._attributes.frombytes(attributes)
        tables = json.loads(bytes(rest))
        columns._combinations = dict(tables["combinations"])
        columns._numbers = {
            json.dumps(c, sort_keys=True): n for n, c in columns._combinations.items()
        }
        columns._next_combination = tables["next"]
        columns.past = {number: dict(past) for number, past in tables["past"]}
        columns._changes = sum(map(len, columns.past.values()))
        restricting = {n for n, c in columns._combinations.items() if HIDDEN in c}
        if restricting:
            columns.restricted = {
                number for number, n in enumerate(columns._attributes) if n in restricting
            }
        return columns
