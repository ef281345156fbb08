"""Sends requests to addresses that somebody named, and keeps connections for the next ones.

A name is looked up, each of its addresses is checked, and the connection goes to the very address
that was checked: a name that stands for something else a moment later is of no use. Certificates
are those of the name.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final

from toprung.domain.webhooks import WebhookTarget
from toprung.errors import Unavailable
from toprung.ports.poster import Posted, Poster
from toprung.senders.addresses import is_public
from toprung.senders.connection import Broken, Connection
from toprung.senders.resolving import Resolver, SystemResolver
from toprung.waiting.blocking import running_loop

TOTAL_SECONDS: Final = 15.0
"""For an attempt, from the look-up to the last byte that is read."""

CONNECT_SECONDS: Final = 5.0
ADDRESSES_MAX: Final = 4
"""Addresses of one name that are tried."""

IS_PRIVATE: Final = (
    "has a private address, which --webhooks-private or TOPRUNG_WEBHOOKS_PRIVATE=1 allows"
)
"""What is wrong with a receiver in this machine's network, and how to allow it."""

IDLE_SECONDS: Final = 20.0
"""After which a connection that nobody used is closed."""

IDLE_MAX: Final = 256
"""Connections that are kept for later, of all targets together."""

IDLE_PER_TARGET: Final = 16

REQUESTS_MAX: Final = 2048
"""Requests under way at the same time, of all targets together: more than webhooks make."""

_Key = tuple[bool, str, int]


def requests_max(files: int) -> int:
    """How many requests may be under way in a process that may open so many files.

    Others need files as well: without one, callers are not heard, and a journal fails.

    >>> requests_max(1024), requests_max(1_000_000)
    (256, 2048)
    """
    return max(1, min(REQUESTS_MAX, files // 4))


def files_max(files: int) -> int:
    """How many files requests and connections that are kept take, of so many."""
    most = requests_max(files)
    return most + min(IDLE_MAX, most // 4)


def _files() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4 * REQUESTS_MAX if soft == resource.RLIM_INFINITY else soft


class HttpPoster:
    """Sends requests over HTTP/1.1, with or without TLS."""

    def __init__(
        self,
        *,
        allows_private: bool = False,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        agent: str = "toprung",
    ) -> None:
        self.allows_private = allows_private
        self._resolver = resolver or SystemResolver()
        self._tls = tls
        self._preparing = Lock()
        self._agent = agent
        self._idle: dict[_Key, list[Connection]] = {}
        self._places: asyncio.Semaphore | None = None
        """Of requests under way; made at the first one, when the system's limit has been raised."""

    async def post(
        self, target: WebhookTarget, headers: Sequence[tuple[str, str]], body: bytes
    ) -> Posted:
        """Send a request once, on a connection that is there, or on a new one."""
        if running_loop() is None:
            alone = self._post_alone(target, headers, body)
            with ThreadPoolExecutor(1) as thread:  # there may be a loop that is none of ours
                return thread.submit(asyncio.run, alone).result()
        message = self._message(target, headers, body)
        if self._places is None:
            self._places = asyncio.Semaphore(requests_max(_files()))
        try:
            async with self._places, asyncio.timeout(TOTAL_SECONDS):
                return await self._post(target, message)
        except TimeoutError:
            return Posted(None, f"did not answer within {TOTAL_SECONDS:g} seconds")
        except Broken as error:
            return Posted(None, str(error))

    async def close(self) -> None:
        """Let go of connections; later requests make new ones."""
        self._places = None  # whoever goes on may do so on another event loop
        for connections in self._idle.values():
            for connection in connections:
                connection.abort()
        self._idle.clear()

    async def _post_alone(
        self, target: WebhookTarget, headers: Sequence[tuple[str, str]], body: bytes
    ) -> Posted:
        """`post` on an event loop of its own, for callers that have none."""
        alone = HttpPoster(
            allows_private=self.allows_private,
            resolver=None if isinstance(self._resolver, SystemResolver) else self._resolver,
            tls=self._tls,
            agent=self._agent,
        )
        try:
            return await alone.post(target, headers, body)
        finally:
            await alone.close()

    def _message(
        self, target: WebhookTarget, headers: Sequence[tuple[str, str]], body: bytes
    ) -> bytes:
        lines = [
            f"POST {target.path} HTTP/1.1",
            f"host: {target.authority}",
            f"user-agent: {self._agent}",
            "accept-encoding: identity",
            f"content-length: {len(body)}",
            *(f"{name}: {value}" for name, value in headers),
        ]
        return "\r\n".join((*lines, "\r\n")).encode("ascii") + body

    async def _post(self, target: WebhookTarget, message: bytes) -> Posted:
        key = (target.is_tls, target.host, target.port)
        connection = self._take(key)
        if connection is not None:
            try:
                return await self._request(key, connection, message)
            except Broken as error:
                if not error.is_silent:
                    raise
                # The receiver closed it, as it may at any time: that says nothing about it.
        return await self._request(key, await self._connect(target), message)

    async def _request(self, key: _Key, connection: Connection, message: bytes) -> Posted:
        posted = await connection.request(message)
        if connection.is_open:
            self._keep(key, connection)
        return posted

    # --- connections that are kept ----------------------------------------------------------------

    def _take(self, key: _Key) -> Connection | None:
        connections = self._idle.get(key)
        while connections:
            connection = connections.pop()
            if connection.idle is not None:
                connection.idle.cancel()
            if connection.is_open:
                return connection
        self._idle.pop(key, None)
        return None

    def _keep(self, key: _Key, connection: Connection) -> None:
        connections = self._idle.setdefault(key, [])
        connections[:] = [each for each in connections if each.is_open]
        total = sum(map(len, self._idle.values()))
        if len(connections) >= IDLE_PER_TARGET or total >= min(
            IDLE_MAX, requests_max(_files()) // 4
        ):
            connection.abort()
            return
        connections.append(connection)
        loop = asyncio.get_running_loop()
        connection.idle = loop.call_later(IDLE_SECONDS, connection.abort)

    # --- new connections --------------------------------------------------------------------------

    async def _connect(self, target: WebhookTarget) -> Connection:
        """A connection to one of the target's addresses, if it has one that is allowed."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                addresses = await self._addresses(target)
                return await self._connect_any(target, addresses)
        except TimeoutError:
            reason = f"could not be connected to within {CONNECT_SECONDS:g} seconds"
            raise Broken(reason) from None

    async def _addresses(self, target: WebhookTarget) -> list[str]:
        try:
            found = await self._resolver(target.host, target.port)
        except Unavailable as error:
            raise Broken(f"was not looked up: {error}") from None
        except OSError:
            raise Broken("has a host name that cannot be resolved") from None
        allowed = [each for each in found if self.allows_private or is_public(each)]
        if found and not allowed:
            raise Broken(IS_PRIVATE)
        return allowed[:ADDRESSES_MAX]

    async def _connect_any(self, target: WebhookTarget, addresses: Sequence[str]) -> Connection:
        loop = asyncio.get_running_loop()
        context = await self._context() if target.is_tls else None
        problem = "has a host name that cannot be resolved"
        for address in addresses:
            try:
                _, connection = await loop.create_connection(
                    Connection,
                    address,
                    target.port,
                    ssl=context,
                    server_hostname=target.host if target.is_tls else None,
                )
            except ssl.SSLError as error:
                problem = f"has no valid certificate or speaks no TLS: {error.reason or 'refused'}"
            except OSError:
                problem = "refused the connection or cannot be reached"
            else:
                return connection
        raise Broken(problem)

    async def _context(self) -> ssl.SSLContext:
        """How TLS is spoken. All certificates that are trusted are read first, which takes long."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(self._trusting)
        return self._tls

    def _trusting(self) -> ssl.SSLContext:
        with self._preparing:
            if self._tls is None:
                context = ssl.create_default_context()
                context.set_alpn_protocols(["http/1.1"])
                self._tls = context
            return self._tls


_conforms: type[Poster] = HttpPoster
