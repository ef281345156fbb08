"""The feed of the cluster profile: every applied change is published, every process listens.

The script that applies cards publishes which ladders it changed, and a process that has set or
erased players publishes whose names are others now. In a Cluster a message reaches the subscribers
of every node, so one connection to any of them is enough. Messages may be lost while a connection
is down; therefore whoever waits is told once more after every reconnection, and looks for itself,
and whoever remembers names drops all of them.

A connection may be down and nobody knows yet. So the server is asked all the time whether it is
there: its answer comes after all messages that were published before, and only for a moment after
that question are remembered names used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any

from toprung.feeds.local import LocalFeed
from toprung.ports import Feed, NameNews
from toprung.waiting.tasks import end_task

RECONNECT_SECONDS = 0.2
ASK_SECONDS = 0.2
"""How often the server is asked whether it is there."""

SILENCE_SECONDS_MAX = 4.0
"""For an answer to that; then another connection is tried."""

TRUST_SECONDS = 0.8
"""How long after a question that was answered names may be used that are remembered."""

NAMES_PER_MESSAGE = 500
"""Players whose names one message drops; of more, all players' are."""

_log = logging.getLogger("toprung")

Publish = Callable[[str, str], Awaitable[None]]
"""Sends a message to a channel."""


class RedisFeed:
    """Positions as changes become visible anywhere in the cluster."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Any]],
        publish: Publish,
        names: NameNews,
        prefix: str = "toprung:",
    ) -> None:
        """`connect` makes a client of some server that is alive; `names` hears of names."""
        self._connect = connect
        self._publish = publish
        self._names = names
        self._channel = f"{prefix}changes"
        self._names_channel = f"{prefix}names"
        self._local = LocalFeed()
        self._position = 0
        self._task: asyncio.Task[None] | None = None
        self._untold: set[str] | None = set()
        """Players whose names are others now; None: too many to tell."""
        self._telling: asyncio.Task[None] | None = None
        self._asked_at: float | None = None
        """When the server was asked, if it has not answered yet."""
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
        """Stop listening; what other processes have to be told is tried once more."""
        self._closing = True
        if self._telling is not None:
            await asyncio.wait([self._telling], timeout=RECONNECT_SECONDS)
        await end_task(self._telling)
        await end_task(self._task)

    def tell_names(self, players: Collection[str]) -> None:
        """Tell all processes that the names of players are others now, until that succeeds."""
        if self._untold is not None:
            self._untold |= set(players)
            if len(self._untold) > NAMES_PER_MESSAGE:
                self._untold = None
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell_names(), name="toprung-names")

    async def _tell_names(self) -> None:
        try:
            while self._untold is None or self._untold:
                untold, self._untold = self._untold, set()
                try:
                    text = json.dumps(None if untold is None else sorted(untold))
                    await self._publish(self._names_channel, text)
                except Exception as error:  # noqa: BLE001 -- whatever it is, tell them later
                    _log.info("names that are others now could not be told: %s", error)
                    both = None if untold is None or self._untold is None else untold | self._untold
                    self._untold = both
                    await asyncio.sleep(RECONNECT_SECONDS)
        finally:
            self._telling = None

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
                self._names.trust_until(0.0)
                if client is not None:
                    with suppress(Exception):
                        await client.aclose()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _follow(self, client: Any) -> None:
        async with client.pubsub() as subscription:
            begin = asked_at = time.monotonic()
            self._asked_at = None
            await subscription.subscribe(self._channel, self._names_channel)
            while True:
                message = await subscription.get_message(timeout=ASK_SECONDS)
                _end_if_cancelled()
                if message is not None:
                    self._hear(message, begin)
                now = time.monotonic()
                if self._asked_at is None and now - asked_at >= ASK_SECONDS:
                    self._asked_at = asked_at = now
                    await subscription.ping()
                elif self._asked_at is not None and now - asked_at > SILENCE_SECONDS_MAX:
                    raise TimeoutError("the server has gone silent")

    def _hear(self, message: Any, begin: float) -> None:
        kind = message["type"]
        is_names = message["channel"] == self._names_channel.encode()
        if kind == "subscribe" and is_names:
            self._names.drop(None)  # something may have been missed
            self._names.trust_until(begin + TRUST_SECONDS)
        elif kind == "subscribe":
            self.is_listening.set()
            self._tell(0)  # likewise
        elif kind == "pong" and self._asked_at is not None:
            self._names.trust_until(self._asked_at + TRUST_SECONDS)
            self._asked_at = None
        elif kind == "message" and is_names:
            self._names.drop(json.loads(message["data"]))
        elif kind == "message":
            _, ladders = json.loads(message["data"])
            self._tell(max(int(version) for _, version in ladders))


def _end_if_cancelled() -> None:
    """Raise a cancellation that the client library has swallowed, as it does now and then."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


_: type[Feed] = RedisFeed
