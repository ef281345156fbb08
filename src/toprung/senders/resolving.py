"""What a name stands for, asked of the system in a thread per name.

The system's resolver cannot be interrupted, and a name whose server is silent may take half a
minute. So each name has a thread of its own while it is looked up, which nobody waits for: neither
other names, nor the end of the process.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from toprung.errors import Unavailable

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, for a port, those to try first in front; OSError if there are none."""

LOOKUPS_MAX: Final = 128
"""Names that are looked up at the same time: more than there are webhooks."""


class SystemResolver:
    """Asks the system."""

    def __init__(self) -> None:
        self._underway: dict[tuple[str, int], asyncio.Future[Sequence[str]]] = {}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host; whoever asks for the same meanwhile gets the same."""
        found = self._underway.get((host, port))
        if found is None:
            if len(self._underway) >= LOOKUPS_MAX:
                raise Unavailable("too many names are being looked up")
            found = self._begin(host, port)
        return await asyncio.shield(found)

    def _begin(self, host: str, port: int) -> asyncio.Future[Sequence[str]]:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Sequence[str]] = loop.create_future()
        self._underway[host, port] = found

        def deliver(answer: Sequence[str] | OSError) -> None:
            del self._underway[host, port]
            if isinstance(answer, OSError):
                found.set_exception(answer)
                found.exception()  # it may be that nobody waits any more
            else:
                found.set_result(answer)

        def look_up() -> None:
            answer = _look_up(host, port)
            try:
                loop.call_soon_threadsafe(deliver, answer)
            except RuntimeError:  # the loop has been closed meanwhile
                return

        threading.Thread(target=look_up, name=f"toprung-name-{host}", daemon=True).start()
        return found


def _look_up(host: str, port: int) -> Sequence[str] | OSError:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except UnicodeError:  # a label that is too long for the system's encoding of names
        return OSError("is not a name that can be looked up")
    return list(dict.fromkeys(str(row[4][0]) for row in rows))
