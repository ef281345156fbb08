"""Where the keys of tokens come from, and how they are kept up to date.

Whoever verifies a token reads `keys`, which never waits. `refresh` looks again: at a file whether
it has changed, at a URL by asking it. What cannot be read is told in the log, and the keys of
before stay: those of a file until it can be read again, those of a URL for `STALE_SECONDS`. A set
that is read replaces the one before as a whole, so a key that was taken out of it is gone.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import Final, Protocol

from toprung.domain.instant import SECOND
from toprung.errors import Invalid, ToprungError, Unavailable
from toprung.http.tokens.fetching import fetch
from toprung.http.tokens.keys import TokenKey, key_set, read_keys
from toprung.ports import Clock

FILE_BYTES_MAX: Final = 256 * 1024
FRESH_SECONDS: Final = 300
"""After which a URL is asked again, although nobody asks for another key."""
AGAIN_SECONDS: Final = 10
"""Between two questions to a URL, whatever tokens ask for; between two looks at a file."""
STALE_SECONDS: Final = 3600
"""For how long the keys of a URL are used that does not answer."""

_log = logging.getLogger("toprung.http")


class KeySource(Protocol):
    """Keys, and a way to look whether there are others now."""

    keys: tuple[TokenKey, ...]

    async def refresh(self, *, now: bool) -> None:
        """Look again, if it is time; `now`: if it was not just done."""
        ...

    @property
    def is_missing(self) -> bool:
        """Whether there are no keys because they could not be read."""
        ...


class FixedKeys:
    """Keys that stay as they are."""

    is_missing = False

    def __init__(self, keys: tuple[TokenKey, ...]) -> None:
        self.keys = keys

    async def refresh(self, *, now: bool) -> None:
        """There is nothing to look at."""


class FileKeys:
    """Keys of a file, which is read again when it has changed."""

    is_missing = False

    def __init__(self, path: str, clock: Clock) -> None:
        """Invalid if there are no keys in it: a service begins with what it was given."""
        self._path = path
        self._clock = clock
        self._looked_at = clock.elapsed()
        self._state, self.keys = self._read()

    async def refresh(self, *, now: bool) -> None:
        """Read it again, if it has changed."""
        since = self._clock.elapsed() - self._looked_at
        if since < (SECOND if now else AGAIN_SECONDS * SECOND):
            return
        self._looked_at = self._clock.elapsed()
        try:
            if await asyncio.to_thread(self._stat) != self._state:
                self._state, self.keys = await asyncio.to_thread(self._read)
        except (OSError, Invalid) as error:
            _log.warning("token keys stay as they were: %s", error)

    def _read(self) -> tuple[tuple[int, ...], tuple[TokenKey, ...]]:
        field = "token-keys"
        try:
            state = self._stat()
            with Path(self._path).open("rb") as file:
                text = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise Invalid(field, f"cannot read {self._path!r}: {error.strerror}") from None
        if len(text) > FILE_BYTES_MAX:
            raise Invalid(field, f"{self._path!r} has more than {FILE_BYTES_MAX:,} bytes")
        try:
            return state, read_keys(text, field)
        except Invalid as error:
            raise Invalid(field, f"{self._path!r}: {error.detail}") from None

    def _stat(self) -> tuple[int, ...]:
        found = Path(self._path).stat()
        return found.st_mtime_ns, found.st_size, found.st_ino


class UrlKeys:
    """Keys of a URL: one question at a time, and not too often."""

    def __init__(self, url: str, clock: Clock, tls: ssl.SSLContext | None = None) -> None:
        self._url = url
        self._clock = clock
        self._tls = tls
        self._asked_at: int | None = None
        self._answered_at: int | None = None
        self._asking: asyncio.Task[None] | None = None
        self._has_failed = False
        self.keys: tuple[TokenKey, ...] = ()

    @property
    def is_missing(self) -> bool:
        """Whether it never answered, or not for too long."""
        return self._answered_at is None

    async def refresh(self, *, now: bool) -> None:
        """Ask, if it is time; whoever comes meanwhile waits for the same answer."""
        self._let_go()
        if self._asking is None and self._is_due(now=now):
            self._asked_at = self._clock.elapsed()
            self._asking = asyncio.create_task(self._ask())
        if self._asking is not None:
            await asyncio.shield(self._asking)

    def _is_due(self, *, now: bool) -> bool:
        if self._asked_at is None:
            return True
        wait = AGAIN_SECONDS if now or self._has_failed else FRESH_SECONDS
        return self._clock.elapsed() - self._asked_at >= wait * SECOND

    def _let_go(self) -> None:
        """Forget keys that nobody has confirmed for too long."""
        if self._answered_at is None:
            return
        if self._clock.elapsed() - self._answered_at > STALE_SECONDS * SECOND:
            self.keys, self._answered_at = (), None
            _log.error("token keys are dropped: %s has not answered for long", self._url)

    async def _ask(self) -> None:
        try:
            text = await fetch(self._url, self._tls)
            self.keys = key_set(text, self._url, allows_secrets=False)
        except (Unavailable, Invalid) as error:
            self._note_failure(error)
        else:
            self._has_failed, self._answered_at = False, self._clock.elapsed()
        finally:
            self._asking = None

    def _note_failure(self, error: ToprungError) -> None:
        if not self._has_failed:  # the log need not hear it every few seconds
            _log.warning("token keys cannot be read: %s %s", self._url, error.detail)
        self._has_failed = True
