"""What a connection reads and writes by: within bounds, and in few pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Sized
from typing import Any, Final

from uvicorn.protocols.http.flow_control import FlowControl

JOINED_BYTES_MAX: Final = 64 * 1024

_CHUNKED: Final = b"transfer-encoding: chunked\r\n\r\n"


class Flow(FlowControl):
    """When to read and write. Nothing is read while requests queue up that were read already.

    uvicorn reads on after every answer, so a caller who sends and sends would be kept in memory.
    """

    def __init__(self, transport: asyncio.Transport, queue: Sized) -> None:
        super().__init__(transport)
        self._queue = queue

    def resume_reading(self) -> None:
        """Read on, unless there is enough to do."""
        if not self._queue:
            super().resume_reading()


class Joined:
    """A transport that sends head and body of an answer in one piece: half the system calls."""

    __slots__ = ("_head", "_transport", "is_closing", "write_whole")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.write_whole = transport.write
        self.is_closing = transport.is_closing
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send; or hold back the head of an answer, whose body is about to come."""
        if self.is_closing():  # the caller has gone, and an event loop may complain of writing
            return
        if self._head:
            head, self._head = self._head, b""
            if len(data) <= JOINED_BYTES_MAX:
                self.write_whole(head + data)
            else:
                self.write_whole(head)
                self.write_whole(data)
        elif data.startswith(b"HTTP/1.1 2") and not data.endswith(_CHUNKED):
            self._head = data
        else:
            self.write_whole(data)

    def flush(self) -> None:
        """Send what is held back: answers to HEAD have no body."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Send what is held back, then close."""
        self.flush()
        self._transport.close()
