"""The feed of the cluster profile: every applied change is published, every process listens.

The script that applies cards publishes which ladders it changed. In a Cluster a message reaches the
subscribers of every node, so one connection to any of them is enough. Messages may be lost while a
connection is down; therefore whoever waits is told once more after every reconnection, and looks
for itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from toprung.feeds.local import LocalFeed
from toprung.ports import Feed
from toprung.waiting.tasks import end_task

RECONNECT_SECONDS = 0.2
SILENCE_SECONDS_MAX = 2.0
"""After so long without a word the server is asked whether it is there, and is given as long."""

_log = logging.getLogger("toprung")


class RedisFeed:
    """Positions as changes become visible anywhere in the cluster."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], prefix: str = "toprung:") -> None:
        """`connect` makes a client of some server that is alive."""
        self._connect = connect
        self._channel = f"{prefix}changes"
        self._local = LocalFeed()
        self._position = 0
        self._task: asyncio.Task[None] | None = None
        self.is_listening = asyncio.Event()
        self._closing = False

    def start(self) -> None:
        """Begin to listen in the background."""
        self._task = asyncio.create_task(self._listen(), name="toprung-feed")

    async def changed(self, since: int) -> int:
        """A position beyond `since`, as soon as something changed after it was handed out."""
        return await self._local.changed(since)

    def remind(self) -> None:
        """Tell whoever waits to look again: something may be other than it was shown."""
        self._tell(0)

    async def close(self) -> None:
        """Stop listening."""
        self._closing = True
        await end_task(self._task)

    def _tell(self, position: int) -> None:
        """Hand out ever greater numbers: batches of several processes come in any order."""
        self._position = max(self._position + 1, position)
        self._local.tell(self._position)

    async def _listen(self) -> None:
        while not self._closing:
            client = None
            try:
                client = await self._connect()
                await self._follow(client)
            except Exception as error:  # noqa: BLE001 -- whatever it is, listen again
                _log.info("the feed reconnects: %s", error)
            finally:
                self.is_listening.clear()
                if client is not None:
                    with suppress(Exception):
                        await client.aclose()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _follow(self, client: Any) -> None:
        async with client.pubsub() as subscription:
            await subscription.subscribe(self._channel)
            is_asked = False
            while True:
                message = await subscription.get_message(timeout=SILENCE_SECONDS_MAX)
                if message is not None:
                    is_asked = False
                    self._hear(message)
                elif is_asked:
                    raise TimeoutError("the server has gone silent")
                else:
                    is_asked = True
                    await subscription.ping()

    def _hear(self, message: Any) -> None:
        if message["type"] == "subscribe":
            self.is_listening.set()
            self._tell(0)  # something may have been missed
        elif message["type"] == "message":
            _, ladders = json.loads(message["data"])
            self._tell(max(int(version) for _, version in ladders))


_: type[Feed] = RedisFeed
