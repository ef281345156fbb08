"""Receivers of webhooks: real servers on this machine, well-behaved and otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Request(NamedTuple):
    """What arrived."""

    head: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


async def read_request(reader: asyncio.StreamReader) -> Request:
    """The next request on a connection; IncompleteReadError if there is none."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    lines = head.split("\r\n")[1:-2]
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers["content-length"]))
    return Request(head, headers, body)


class Receiver:
    """Takes requests and answers each with the next of its answers, the last one for ever."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers) or [OK]
        self.requests: list[Request] = []
        self.connections = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        answer = OK
        while b"connection: close" not in answer:
            self.requests.append(await read_request(reader))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            writer.write(answer)

    @property
    def told(self) -> list[Any]:
        """What was told, in the order of arrival."""
        return [request.told for request in self.requests]


def answer(status: int, body: str = "", *headers: str) -> bytes:
    """An answer in full."""
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body.encode())}", *headers, "", body]
    return "\r\n".join(lines).encode()


@asynccontextmanager
async def listening(serve: Serve, **options: Any) -> AsyncIterator[int]:
    """A server on this machine; its port. Whatever a connection raises is the other end's doing."""
    underway: set[asyncio.Task[None]] = set()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        underway.add(task)
        try:
            await serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            underway.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        while underway:
            for task in list(underway):
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.sleep(0)


@asynccontextmanager
async def receiving(*answers: bytes) -> AsyncIterator[Receiver]:
    """A well-behaved receiver."""
    receiver = Receiver(*answers)
    async with listening(receiver.serve) as port:
        receiver.url = f"http://127.0.0.1:{port}/hook"
        yield receiver
