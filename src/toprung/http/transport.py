"""What a connection reads and writes by: within bounds, and in few pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

JOINED_BYTES_MAX: Final = 64 * 1024
"""Of one connection, that go out in one piece."""
LAID_MAX: Final = 64
"""Connections whose answers go out together."""

_CHUNKED: Final = b"transfer-encoding: chunked\r\n\r\n"


def address_of(name: Any) -> tuple[str, int] | None:
    """The address and port in what a socket is called; None if it has none.

    >>> address_of(("2001:db8::1", 443, 0, 0)), address_of("")
    (('2001:db8::1', 443), None)
    """
    return (str(name[0]), int(name[1])) if isinstance(name, tuple) else None


class Flow:
    """When to read and write. Nothing is read while there is enough that was read already.

    `has_enough` tells whether there is; a caller who sends and sends would be kept in memory.
    `must_listen` tells when reading goes on all the same: only so the end of a connection is seen.
    """

    __slots__ = (
        "_has_enough",
        "_is_writable",
        "_must_listen",
        "_transport",
        "read_paused",
        "write_paused",
    )

    def __init__(
        self,
        transport: asyncio.Transport,
        has_enough: Callable[[], bool],
        must_listen: Callable[[], bool],
    ) -> None:
        self._transport = transport
        self._has_enough = has_enough
        self._must_listen = must_listen
        self._is_writable: asyncio.Event | None = None
        self.read_paused = False
        self.write_paused = False
        """Whether the caller takes less than it is sent."""

    def pause_reading(self) -> None:
        """Read no more for now."""
        if not self.read_paused and not self._must_listen():
            self.read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on, unless there is enough to do."""
        if self.read_paused and not self._has_enough():
            self.read_paused = False
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        """Have whoever sends wait from now on."""
        self.write_paused, self._is_writable = True, asyncio.Event()

    def resume_writing(self) -> None:
        """Have them go on."""
        self.write_paused = False
        if self._is_writable is not None:
            self._is_writable.set()

    async def drain(self) -> None:
        """Wait until the caller has taken most of what it was sent, or has gone."""
        if self.write_paused and self._is_writable is not None:
            await self._is_writable.wait()


class Tray:
    """Answers that go out together, when all that had arrived is answered.

    Each piece that is written wakes whoever waits for it, which takes the system far from the code
    and the data that the next answer needs: answers that are made in a row and then written in a
    row cost less than those that are each written when made.
    """

    def __init__(self) -> None:
        self._laid: list[Joined] = []

    def lay(self, joined: Joined, loop: asyncio.AbstractEventLoop) -> None:
        """Send what `joined` has gathered, soon."""
        self._laid.append(joined)
        if len(self._laid) == 1:
            loop.call_soon(self.send)
        elif len(self._laid) >= LAID_MAX:
            self.send()

    def send(self) -> None:
        """Send everything."""
        laid, self._laid = self._laid, []
        for joined in laid:
            joined.flush()


class Joined:
    """A transport that sends in few pieces: half the system calls, or fewer.

    Head and body of an answer go out together, and so do whole answers that follow each other.
    """

    __slots__ = ("_gathered", "_head", "_loop", "_transport", "_tray", "is_closing")

    def __init__(
        self, transport: asyncio.Transport, tray: Tray, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._transport = transport
        self._tray = tray
        self._loop = loop
        self.is_closing = transport.is_closing
        self._gathered = b""
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write_whole(self, answer: bytes) -> None:
        """Send a whole answer, when the others that are being made are complete, too."""
        if not self._gathered:
            self._gathered = answer
            self._tray.lay(self, self._loop)
            return
        self._gathered += answer
        if len(self._gathered) > JOINED_BYTES_MAX:
            self.flush()

    def write(self, data: bytes) -> None:
        """Send; or hold back the head of an answer, whose body is about to come."""
        if self._gathered:
            self.flush()
        if self.is_closing():  # the caller has gone, and an event loop may complain of writing
            return
        if self._head:
            head, self._head = self._head, b""
            if len(data) <= JOINED_BYTES_MAX:
                self._transport.write(head + data)
            else:
                self._transport.write(head)
                self._transport.write(data)
        elif data.startswith(b"HTTP/1.1 2") and not data.endswith(_CHUNKED):
            self._head = data
        else:
            self._transport.write(data)

    def end_answer(self) -> None:
        """The answer is complete: one to HEAD has no body."""
        if self._head:
            self.write(b"")

    def flush(self) -> None:
        """Send what is held back."""
        held, self._gathered, self._head = self._gathered + self._head, b"", b""
        if held and not self.is_closing():
            self._transport.write(held)

    def close(self) -> None:
        """Send what is held back, then close."""
        self.flush()
        self._transport.close()
