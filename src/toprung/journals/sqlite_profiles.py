"""Names and avatars of players, kept in memory as far as they are read.

Most players have none, and one bit per player says so without asking the database. Of the others
the ones read lately are kept. The writer thread tells what it changed; a reader that was asking
the database meanwhile may have an old row, and therefore does not keep it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

import msgspec

from toprung.domain.player import name_range
from toprung.domain.trust.names import NameReview
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import NAMELESS, NameAndAvatar

KEPT_MAX: Final = 100_000


class ProfileCache:
    """What lists show of players besides their ids."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._named = bytearray()
        self._kept: dict[int, NameAndAvatar] = {}
        self._lock = threading.Lock()
        self._changes = 0
        rows = store.select(
            "SELECT number FROM players WHERE name IS NOT NULL OR avatar_url IS NOT NULL"
        )
        for (number,) in rows:
            self._note_named(number)

    def has(self, number: int | None) -> bool:
        """Whether the player has, or once had, a name or an avatar; nobody has not."""
        if number is None:
            return False
        byte = number >> 3
        return byte < len(self._named) and self._named[byte] >> (number & 7) & 1 == 1

    def named_of(self, numbers: Iterable[int]) -> list[int]:
        """Those of the players for whom `has` is true."""
        named, end = self._named, 8 * len(self._named)
        return [
            number for number in numbers if number < end and named[number >> 3] >> (number & 7) & 1
        ]

    def find(self, numbers: Iterable[int]) -> dict[int, NameAndAvatar]:
        """Name and avatar of those of the players who have one or the other."""
        found: dict[int, NameAndAvatar] = {}
        unknown: list[int] = []
        for number in self.named_of(numbers):
            shown = self._kept.get(number)
            if shown is None:
                unknown.append(number)
            elif shown != NAMELESS:
                found[number] = shown
        if unknown:
            read = self._read(unknown)
            found |= {number: shown for number, shown in read.items() if shown != NAMELESS}
        return found

    def named(self, prefix: str, limit: int) -> list[str]:
        """Ids of the players whose names begin with `prefix`, by name, namesakes by id.

        Names are folded once, when they are set, so that an index finds them by how they begin.
        """
        rows = self._store.select(
            "SELECT id FROM players WHERE folded >= ? AND folded < ? ORDER BY folded, id LIMIT ?",
            (*name_range(prefix), limit),
        )
        return [row[0] for row in rows]

    def pending_name(self, number: int | None) -> str | None:
        """The name of a player that waits for a moderator, if one does."""
        rows = self._store.select("SELECT pending_name FROM players WHERE number = ?", (number,))
        return rows[0][0] if rows else None

    def pending_names(self, after: str, limit: int) -> list[NameReview]:
        """Names that wait for a moderator, in the order of players' ids."""
        rows = self._store.select(
            "SELECT id, name, pending_name FROM players"
            " WHERE pending_name IS NOT NULL AND id > ? ORDER BY id LIMIT ?",
            (after, limit),
        )
        return [NameReview(*row) for row in rows]

    def tell(self, numbers: Iterable[int]) -> None:
        """In the writer thread, after a commit: these players' profiles are other ones now."""
        with self._lock:
            self._changes += 1
            for number in numbers:
                self._note_named(number)
                self._kept.pop(number, None)

    def _read(self, numbers: list[int]) -> dict[int, NameAndAvatar]:
        changes = self._changes
        rows = self._store.select(
            "SELECT number, name, avatar_url FROM players WHERE number IN "
            "(SELECT value FROM json_each(?))",
            (msgspec.json.encode(numbers).decode(),),
        )
        found = {number: (name, avatar_url) for number, name, avatar_url in rows}
        with self._lock:
            if changes == self._changes:
                if len(self._kept) + len(found) > KEPT_MAX:
                    self._kept.clear()
                self._kept.update(found)
        return found

    def _note_named(self, number: int) -> None:
        byte = number >> 3
        if byte >= len(self._named):
            self._named.extend(bytes(byte + 1 - len(self._named) + 4096))
        self._named[byte] |= 1 << (number & 7)
