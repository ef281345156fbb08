"""Backups on their way to whoever asked: few at a time, and nothing is left of one that is over.

A backup is a copy of the database beside it, made first and then sent. It lies there without a name
while it is sent, so its room is free again when the last byte, the caller or the service is gone. A
caller that does not read is cut off by its connection; see `HttpConnection.give_up`.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from toprung.http.answers import NO_SNIFF, NO_STORE, Headers, Send
from toprung.http.problems import Refused

if TYPE_CHECKING:
    from toprung.http.call import Receive
    from toprung.service.leaderboards import Leaderboards

BACKUPS_MAX: Final = 2
"""At a time; each needs as much room on the disk as the database."""
RETRY_SECONDS: Final = 30
PREFIX: Final = ".toprung-backup-"
LEFT_SECONDS: Final = 86_400
"""After which a copy that still has a name is nobody's."""
PIECE_BYTES: Final = 256 * 1024

_HEADERS: Final[Headers] = (
    (b"content-type", b"application/vnd.sqlite3"),
    (b"content-disposition", b'attachment; filename="toprung-backup.db"'),
    NO_STORE,
    NO_SNIFF,
)


class Backups:
    """The backups that are under way, and how many there was no room for."""

    def __init__(self) -> None:
        self.running = 0
        self.refused = 0

    async def begin(self, boards: Leaderboards, receive: Receive) -> Download:
        """Make a copy; Refused if there are too many."""
        if self.running >= BACKUPS_MAX:
            self.refused += 1
            raise _too_many()
        self.running += 1
        try:
            copy = await _copy(boards)
        except BaseException:
            self.running -= 1
            raise
        return Download(self, copy, receive)


async def _copy(boards: Leaderboards) -> IO[bytes]:
    """A copy of the database, open and without a name."""
    folder = Path(boards.folder or tempfile.gettempdir())
    path = folder / f"{PREFIX}{secrets.token_hex(8)}"
    await asyncio.to_thread(_sweep, folder)
    try:
        await boards.backup(str(path))
        return path.open("rb")
    finally:
        path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what is left of backups during which a service was killed."""
    for path in folder.glob(f"{PREFIX}{'[0-9a-f]' * 16}"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFT_SECONDS:
                path.unlink()


class Download:
    """The answer that sends a copy."""

    status = 200

    def __init__(self, backups: Backups, copy: IO[bytes], receive: Receive) -> None:
        self._backups = backups
        self._copy = copy
        self._receive = receive

    async def send(self, send: Send, extra: Headers) -> None:
        """Send it, with `extra` headers first, as long as there is somebody to send it to."""
        gone = asyncio.create_task(self._until_gone())
        try:
            await self._send(send, extra, gone)
        finally:
            gone.cancel()
            self._copy.close()
            self._backups.running -= 1

    async def _send(self, send: Send, extra: Headers, gone: asyncio.Task[None]) -> None:
        size = self._copy.seek(0, 2)
        self._copy.seek(0)
        headers = [*_HEADERS, (b"content-length", b"%d" % size), *extra]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        while (piece := await asyncio.to_thread(self._copy.read, PIECE_BYTES)) and not gone.done():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _until_gone(self) -> None:
        message: Any = {}
        while message.get("type") != "http.disconnect":
            message = await self._receive()


def _too_many() -> Refused:
    """What a caller is told while there are enough."""
    return Refused(
        429,
        "too-many-backups",
        f"{BACKUPS_MAX} backups are under way; try again when one of them is complete",
        headers=((b"retry-after", b"%d" % RETRY_SECONDS),),
    )
