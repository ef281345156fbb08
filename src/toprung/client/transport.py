"""How requests travel: a port of three verbs, and httpx2 behind it twice.

The methods of the client are coroutines over this port. `AsyncTransport` suspends where it waits;
`BlockingTransport` blocks its thread instead and never suspends, so `run_blocking` can drive the
same coroutines in programs without an event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, Final, Literal, Protocol

import httpx2
import msgspec

from toprung.client.address import Address

CONNECTIONS_MAX: Final = 100


Effect = Literal["none", "idempotent", "once"]
"""What a request does: nothing, the same however often it arrives, or something each time."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    method: str
    path: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    """JSON."""
    effect: Effect = "once"
    silence_seconds_max: float | None = None
    """How long the answer may pause, where that differs from the time-out of others."""


class Disconnected(Exception):  # noqa: N818 -- named after what happened
    """The connection failed; `was_sent` says whether the service may have got the request."""

    def __init__(self, reason: str, *, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


class Reply(Protocol):
    """An answer whose body is still on its way. Close it."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""

    async def piece(self) -> bytes:
        """The next part of the body; empty at its end. Raises Disconnected."""
        ...

    async def close(self) -> None:
        """Let go of it; the connection is used again if all was read."""
        ...


class Transport(Protocol):
    """Sends requests to one service."""

    async def open(self, request: Request) -> Reply:
        """Send a request; returns when the answer begins. Raises Disconnected."""
        ...

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class AsyncTransport:
    """For programs with an event loop."""

    def __init__(self, address: Address, timeout_seconds: float) -> None:
        self._address = address
        self._timeout_seconds = timeout_seconds
        self._http = httpx2.AsyncClient(**_options(address, timeout_seconds))

    async def open(self, request: Request) -> Reply:
        """Send a request; returns when the answer begins."""
        sent = await _built(self._http, self._address, request, self._timeout_seconds)
        try:
            return _AsyncReply(await self._http.send(sent, stream=True))
        except httpx2.RequestError as error:
            raise _disconnected(error) from error

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()


class _AsyncReply:
    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._pieces: AsyncGenerator[bytes, None] = response.aiter_bytes()

    async def piece(self) -> bytes:
        try:
            return await anext(self._pieces, b"")
        except (httpx2.RequestError, httpx2.StreamError) as error:
            raise Disconnected(_reason(error), was_sent=True) from error

    async def close(self) -> None:
        await self._pieces.aclose()
        await self._response.aclose()


class BlockingTransport:
    """For programs without an event loop; its coroutines never suspend. Threads may share it."""

    def __init__(self, address: Address, timeout_seconds: float) -> None:
        self._address = address
        self._timeout_seconds = timeout_seconds
        self._http = httpx2.Client(**_options(address, timeout_seconds))

    async def open(self, request: Request) -> Reply:
        """Send a request; returns when the answer begins."""
        sent = await _built(self._http, self._address, request, self._timeout_seconds)
        try:
            return _BlockingReply(self._http.send(sent, stream=True))
        except httpx2.RequestError as error:
            raise _disconnected(error) from error

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)  # noqa: ASYNC251 -- there is no event loop to hold up

    async def close(self) -> None:
        """Close all connections."""
        self._http.close()


class _BlockingReply:
    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._pieces: Iterator[bytes] = response.iter_bytes()

    async def piece(self) -> bytes:
        try:
            return next(self._pieces, b"")
        except (httpx2.RequestError, httpx2.StreamError) as error:
            raise Disconnected(_reason(error), was_sent=True) from error

    async def close(self) -> None:
        self._response.close()


def _options(address: Address, timeout_seconds: float) -> dict[str, Any]:
    """What both kinds of httpx2 client are made with."""
    return {
        "timeout": timeout_seconds,
        "limits": httpx2.Limits(max_connections=CONNECTIONS_MAX),
        "trust_env": not address.is_local,
    }


async def _built(
    http: httpx2.Client | httpx2.AsyncClient,
    address: Address,
    request: Request,
    timeout_seconds: float,
) -> httpx2.Request:
    headers = await address.headers() | dict(request.headers)
    if request.body is not None:
        headers["content-type"] = "application/json"
    silence = request.silence_seconds_max or timeout_seconds
    return http.build_request(
        request.method,
        address.url + request.path,
        params=request.query or None,
        headers=headers,
        content=request.body,
        timeout=httpx2.Timeout(timeout_seconds, read=silence),
    )


def _disconnected(error: httpx2.RequestError) -> Disconnected:
    never_sent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return Disconnected(_reason(error), was_sent=not isinstance(error, never_sent))


def _reason(error: Exception) -> str:
    """What went wrong, in words; httpx2 has none for some errors."""
    return str(error) or type(error).__name__
