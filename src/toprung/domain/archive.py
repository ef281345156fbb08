"""The catalogue: what is recorded of every settled period, and where its archive is.

It is a document of the journal for each period (see `documents`), so backups and `migrate` take it
along. An *archive* is a file with all entries of a period; its rows name players by number and by
id. Numbers are those of the database that wrote it: in a copy of the database, where players have
other numbers, `SettledPeriod.zero` says by how much they differ.
"""

from __future__ import annotations

from typing import Final

import msgspec

from toprung.domain.documents import declare
from toprung.domain.player_numbers import PlayerNumber

PERIOD: Final = "period"
"""The kind of these documents."""

AMENDMENTS_MAX: Final = 20
"""That are remembered of a period; the journal has them all."""

REPLACED_MAX: Final = 20
"""Names of old files that are remembered of a period."""

SETTLED_ANEW: Final = "settled anew: its window was removed, and added with other periods"


class ArchiveFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The files of one archive, as they were written."""

    entries: str
    """The name of the file of entries in the store."""
    entries_bytes: int
    entries_sha256: str
    index: str
    """The name of the file that says in which rows a player is."""
    index_bytes: int
    index_sha256: str
    footers_sha256: str
    """Of the end of both files, which says where everything is in them; that of pages is there."""
    digest: str
    """Of the entries in it, as in `domain.digest`: that of the period, unless somebody was erased
    between settling and archiving."""

    @property
    def names(self) -> tuple[str, str]:
        """Both names."""
        return self.entries, self.index


class Amendment(msgspec.Struct, frozen=True, array_like=True):
    """A change of a settled period."""

    at: int
    """When it was recorded."""
    reason: str
    digest: str
    """Of the period until then."""


class SettledPeriod(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A settled period: what stands there, and its archive."""

    board: str
    window: str
    period: str
    opens_at: int | None
    closes_at: int
    players: int
    """On everybody's ladder, when it was settled or last amended."""
    entries: int
    """On all ladders, at that time."""
    digest: str
    """Of all of them, at that time."""
    files: ArchiveFiles | None = None
    """None: it is not archived."""
    zero: PlayerNumber = 0
    """The number here of the player who is 0 in the files."""
    replaced: tuple[str, ...] = ()
    """Names of files that it had lately. They were deleted, unless somebody died before that."""
    amendments: tuple[Amendment, ...] = ()
    """The last ones, oldest first."""
    amended: int = 0
    """How many there were."""

    @property
    def name(self) -> tuple[str, str]:
        """The window and the period."""
        return self.window, self.period

    def with_files(self, files: ArchiveFiles | None, zero: PlayerNumber = 0) -> SettledPeriod:
        """The period with other files, or none."""
        old = () if self.files is None else self.files.names
        new = () if files is None else files.names
        replaced = [name for name in (*self.replaced, *old) if name not in new]
        last = tuple(replaced[-REPLACED_MAX:])
        return msgspec.structs.replace(self, files=files, zero=zero, replaced=last)

    def instead_of(self, before: SettledPeriod, now: int) -> SettledPeriod:
        """The period, settled anew: what stood there `before` is remembered like an amendment.

        So it goes where a window of a name that was used before has other periods of the same
        names; one that is added as it was finds its periods settled.
        """
        found = msgspec.structs.replace(
            self,
            replaced=before.with_files(None).replaced,
            amendments=before.amendments,
            amended=before.amended,
        )
        return found.with_amendment(Amendment(now, SETTLED_ANEW, before.digest))

    def with_amendment(self, amendment: Amendment) -> SettledPeriod:
        """The period with another amendment."""
        last = (*self.amendments, amendment)[-AMENDMENTS_MAX:]
        return msgspec.structs.replace(self, amendments=last, amended=self.amended + 1)


def period_key(generation: int, window: str, period: str) -> str:
    """The key of a period's document; those of a board are next to each other, as are a window's.

    >>> period_key(17, "daily", "2026-11-15")
    '0000000000000011/daily/2026-11-15'
    """
    return f"{keys_start(generation)}{window}/{period}"


def keys_start(generation: int) -> str:
    """What the keys of all periods of a board begin with."""
    return f"{generation:016x}/"


def keys_end(generation: int) -> str:
    """A text after the keys of all periods of a board, and before those of later ones."""
    return f"{generation:016x}0"


def generation_of(key: str) -> int:
    """The generation of the board that a key is about."""
    return int(key.partition("/")[0], 16)


declare(PERIOD, SettledPeriod)
