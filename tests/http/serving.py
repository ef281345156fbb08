"""A service inside the test's own process, for what a command line cannot set: clocks, limits."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2

from toprung.http.app import Service
from toprung.http.proxies import Proxies
from toprung.http.server import (
    CONNECTIONS_MAX,
    HELD_BYTES_MAX,
    _Server,
    listen,
    server_config,
    url_of,
)
from toprung.http.settings import ServiceSettings
from toprung.opening import open_async
from toprung.ports import Clock

T = TypeVar("T")

NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients that speak plain HTTP: loading the system's certificates takes longer than a test."""


class Serving:
    """A running service: its address, and a client of it."""

    def __init__(self, url: str, key: str | None, service: Service, server: _Server) -> None:
        self.url = url
        self.key = key
        """A key that may do everything, if keys are asked for."""
        self.service = service
        self.server = server
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.http = httpx2.Client(base_url=url, timeout=20, headers=headers, verify=NO_AUTHORITIES)
        self.anyone = httpx2.Client(base_url=url, timeout=20, verify=NO_AUTHORITIES)
        """A client that shows no key."""

        self._loop = asyncio.get_running_loop()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine of the library returns, on the event loop of the service."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def post_key(self, **body: Any) -> str:
        answer = self.http.post("/v1/keys", json={"name": "test", **body})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["key"])


@contextmanager
def serving(
    settings: ServiceSettings,
    clock: Clock | None = None,
    head_seconds_max: float = 10,
    target: str = "memory:",
    connections_max: int = CONNECTIONS_MAX,
    proxies: Proxies | None = None,
    held_bytes_max: int = HELD_BYTES_MAX,
    quotas: Mapping[str, int] | None = None,
    archive: str | None = None,
) -> Iterator[Serving]:
    """Serve a database, by default an empty one in memory, in a thread with its own event loop."""
    started = threading.Event()
    box: dict[str, Any] = {}

    async def run() -> None:
        async with open_async(target, clock=clock, quotas=quotas, archive=archive) as boards:
            assert boards.keys is not None
            key = (await boards.keys.create("root"))[1] if settings.needs_keys else None
            service = Service(boards, settings)
            with listen("127.0.0.1", 0) as listener:
                config = server_config(
                    service, proxies, connections_max, settings.connections_per_address_max
                )
                server = _Server(config, service.stop, head_seconds_max, held_bytes_max)
                box.update(loop=asyncio.get_running_loop(), server=server)
                box["serving"] = Serving(url_of(listener), key, service, server)
                async with service:
                    started.set()
                    await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert started.wait(20)
        with box["serving"].http, box["serving"].anyone:
            yield box["serving"]
    finally:
        box["loop"].call_soon_threadsafe(box["server"].handle_exit, 15, None)
        thread.join()
