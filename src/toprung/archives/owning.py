"""Whose archives a store holds: one journal's, which a small file in it names.

Two journals that work on the same files delete each other's: what one of them expires, erases or
replaces, the other still names in its catalogue. A copy of a database has the catalogue of the
original, so nothing but this file tells them apart.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec

from toprung.archives.files import ArchiveFilesAt
from toprung.errors import ArchiveDamaged, ArchiveUnavailable

MARKER: Final = "toprung-journal.json"
"""The name of the file."""


class Marker(msgspec.Struct, frozen=True):
    """What is in it."""

    journal: str
    """Which journal it is: see `Journal.identity`."""
    about: str = (
        "This journal alone writes and deletes archives here. Another one may take them over:"
        " toprung archive adopt"
    )


class Owner:
    """One journal, and whether a store belongs to it. Blocks: for threads."""

    def __init__(self, files: ArchiveFilesAt) -> None:
        self._files = files

    def require(self, journal: str) -> None:
        """Refuse a store that belongs to another journal; one that is nobody's is taken."""
        found = self._read()
        if found is None and not self._write(journal, overwrites=False):
            found = self._read()  # another process was quicker
        if found is not None and found.journal != journal:
            raise ArchiveUnavailable(
                "the store holds the archives of another database, perhaps the one that this is a"
                " copy of; give this one a place of its own, or, if it replaces the other one for"
                " good, run: toprung archive adopt"
            )

    def adopt(self, journal: str) -> str | None:
        """Have the store belong to a journal from now on; whose it was."""
        found = None
        with suppress(ArchiveDamaged):
            found = self._read()
        self._write(journal, overwrites=True)
        return None if found is None else found.journal

    def _write(self, journal: str, *, overwrites: bool) -> bool:
        text = msgspec.json.encode(Marker(journal))
        return self._files.put_text(MARKER, text, overwrites=overwrites)

    def _read(self) -> Marker | None:
        text = self._files.text(MARKER)
        if text is None:
            return None
        try:
            return msgspec.json.decode(text, type=Marker)
        except msgspec.DecodeError as error:
            raise ArchiveDamaged(
                f"{MARKER!r}, which says whose archives these are, is damaged; if they are this"
                " database's, run: toprung archive adopt"
            ) from error
