"""The list of words that send names to review: a file, read again when it has changed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from toprung.domain.instant import SECOND
from toprung.domain.trust.names import NO_WORDS, WordList
from toprung.errors import Invalid, Unavailable
from toprung.ports import Clock
from toprung.waiting.threads import in_thread

FILE_BYTES_MAX: Final = 256 * 1024
LOOK_AFTER: Final = SECOND

_log = logging.getLogger("toprung")


class NameWords:
    """The words that a process knows, as its file has them; without a file none."""

    def __init__(self, path: str | None, clock: Clock) -> None:
        self._path = None if path is None else Path(path)
        self._clock = clock
        self._words = NO_WORDS
        self._looked_at: int | None = None
        self._seen: tuple[int, ...] | None = None
        """What tells whether the file has changed."""

    async def words(self) -> WordList:
        """The list as it is now; Unavailable if there should be one and none could be read."""
        now, path = self._clock.now(), self._path
        if path is not None and (
            self._looked_at is None or abs(now - self._looked_at) >= LOOK_AFTER
        ):
            await in_thread(lambda: self._look(path))
            self._looked_at = now
        return self._words

    def _look(self, path: Path) -> None:
        try:
            found = path.stat()
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen != self._seen:
                self._words, self._seen = _read(path), seen
        except (OSError, UnicodeDecodeError, Invalid) as error:
            _log.warning("the list of words for names cannot be read: %s", error)
            if self._seen is None:
                raise Unavailable("names cannot be judged: the list of words is missing") from error


def _read(path: Path) -> WordList:
    with path.open("rb") as file:
        text = file.read(FILE_BYTES_MAX + 1)
    if len(text) > FILE_BYTES_MAX:
        raise Invalid("words", f"the file has more than {FILE_BYTES_MAX:,} bytes")
    return WordList(text.decode().splitlines())
