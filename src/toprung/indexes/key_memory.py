"""Idempotency keys in memory: which were used lately, where, and how many by whom."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

from toprung._native import PlayerTable
from toprung.domain.instant import DAY, SECOND
from toprung.domain.quotas import KeyUse


class KeptKey(NamedTuple):
    """A key that was used, as it is remembered."""

    digest: bytes
    """What it is remembered by: see `toprung.domain.idempotency.key_digest`."""
    position: int
    generation: int
    """Of the board that it was used on."""
    owner: str


class _Span:
    """The keys of one day."""

    __slots__ = ("_positions", "_table", "use")

    def __init__(self) -> None:
        self._table, self._positions = PlayerTable(), array("q")
        self.use = KeyUse()

    def __len__(self) -> int:
        return len(self._table)

    def find(self, key: bytes) -> int | None:
        number = self._table.number(key)
        return None if number is None else self._positions[number]

    def add(self, key: KeptKey) -> None:
        number = self._table.intern(key.digest)
        if number == len(self._positions):
            self._positions.append(key.position)
            self.use.note(key.generation, key.owner)
        else:
            self._positions[number] = key.position

    def forget(self, key: bytes) -> None:
        number = self._table.number(key)
        if number is not None:
            self._table.forget(number)


class KeyMemory:
    """Idempotency keys of the last 24 to 48 hours: 16-byte hash -> journal position.

    Two generations of a compact intern table; when the younger is a day old, the older goes. Days
    are those that pass, not those of a clock, which may be set. Quotas are about the younger.
    """

    def __init__(self) -> None:
        self._young, self._old = _Span(), _Span()
        self._since: int | None = None
        """The time that had passed when the younger began."""
        self.has_unowned = False
        """Whether some were recorded before keys had owners: see `toprung.domain.idempotency`."""

    @property
    def use(self) -> KeyUse:
        """What quotas judge by; a key that was forgotten on request still counts."""
        return self._young.use

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def find(self, key: bytes) -> int | None:
        """The position at which the key was used, while it is remembered."""
        found = self._young.find(key)
        return self._old.find(key) if found is None else found

    def remember(self, keys: Iterable[KeptKey]) -> None:
        """Note at which positions keys were used, just now."""
        for key in keys:
            self._young.add(key)

    def recall(self, keys: Iterable[KeptKey], yesterday: int) -> None:
        """Note keys that were used before a start; up to the position `yesterday`, a day ago."""
        for key in keys:
            span = self._old if key.position <= yesterday else self._young
            span.add(key)

    def forget(self, keys: Iterable[bytes]) -> None:
        """Keys that may be used again as if they never were."""
        for key in keys:
            self._young.forget(key)
            self._old.forget(key)

    def let_go(self, elapsed: int) -> int:
        """Let go of what is old enough, now that so much time has passed.

        Returns the seconds until there is room for as many keys again.
        """
        if self._since is None:
            self._since = elapsed
        if elapsed - self._since >= DAY:
            self._old, self._young = self._young, _Span()
            self._since = elapsed
        return max(1, -(-(self._since + DAY - elapsed) // SECOND))
