"""The digest of a settled period: what anybody can compute again who has its entries.

It is SHA-256, as 64 hexadecimal digits, over these bytes; all numbers are big-endian.

* the text ``toprung-period-1\\n``
* for each ladder of the period, in the order of the UTF-8 bytes of its scope: the length of the
  scope in bytes (4 bytes), the scope, the number of entries (8 bytes), and
* for each entry, best first: the player's number, score, subscore (0 if the board has none), time
  in microseconds since 1970, and version (8 bytes each, signed).

Players are numbers there, never ids: so a digest stays true when a player is erased.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from typing_extensions import Buffer

START: Final = b"toprung-period-1\n"

EntryBytes: TypeAlias = Callable[[Buffer, Buffer], Buffer]
"""Makes the bytes of entries, as they are described above, of the players' numbers (packed native
64-bit) and the records (one after the other): `RecordReader.digest_rows` of the native core, which
the domain does not import."""


class Digested(NamedTuple):
    """What a period holds."""

    position: int
    """Of the journal, when its entries were read."""
    players: int
    """On everybody's ladder."""
    entries: int
    """On all ladders."""
    digest: str


class Digester:
    """Takes a period's ladders in, in order.

    >>> digester = Digester(lambda numbers, records: b"")
    >>> digester.digest[:16]
    'f300f60b6689e113'
    """

    def __init__(self, entry_bytes: EntryBytes) -> None:
        self._entry_bytes = entry_bytes
        self._hash = hashlib.sha256(START)
        self.entries = 0

    def begin(self, scope: str, entries: int) -> None:
        """A ladder follows, with so many entries."""
        text = scope.encode()
        self._hash.update(struct.pack(f">I{len(text)}sQ", len(text), text, entries))
        self.entries += entries

    def add(self, numbers: Buffer, records: Buffer) -> None:
        """The next entries of the ladder: packed numbers of players, and their records."""
        self._hash.update(self._entry_bytes(numbers, records))

    @property
    def digest(self) -> str:
        """Of all that was taken in."""
        return self._hash.hexdigest()
