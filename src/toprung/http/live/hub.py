"""The hub: looks after all topics, and wakes who watches those that changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Final

from toprung.errors import Invalid, NotFound, ToprungError
from toprung.http.live.alarms import Alarms
from toprung.http.live.topics import Topic, TopicName
from toprung.http.problems import Refused

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.http.live.subscriptions import Subscription
    from toprung.http.live.watcher import Watcher
    from toprung.http.state import ServiceState

TICK_SECONDS: Final = 0.1
REFRESH_SECONDS: Final = 0.5
"""How often topics are looked at when nothing changes: a period may have ended."""
SWEEP_SECONDS: Final = 1.0
"""How often it is looked who has been quiet for long."""
REFRESHED_AT_ONCE: Final = 16
"""Where reads wait for servers: topics that are looked at at the same time."""
BREATH_SECONDS: Final = 0.002
"""After so long others have their turn, however many topics and watchers there are."""
WOKEN_MAX: Final = 256
"""Subscriptions between two looks at the clock."""

RENAMED_MAX: Final = 1000

_log = logging.getLogger("toprung.http")


class Hub:
    """All topics of a service; looks at them when something changed, and wakes who watches."""

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._topics: dict[TopicName, Topic] = {}
        self._awake = asyncio.Event()
        self._renamed: set[str] = set()
        self._breath_ends = 0.0
        self.watchers: set[Watcher] = set()
        self.alarms = Alarms()

    def rename(self, player: str) -> None:
        """A player's profile changed: who sees it is told with the next look.

        Beyond some hundred at once, the rest is seen with the next change of their ladders.
        """
        if len(self._renamed) < RENAMED_MAX and self._topics:
            self._renamed.add(player)

    def dismiss(self, valid: Mapping[str, AccessKey]) -> None:
        """Let all watchers go that came with a key which is not among these as it was."""
        for watcher in self.watchers:
            if watcher.lost_its_key(valid):
                watcher.close(is_allowed=False)

    async def topic(self, name: TopicName, *, as_public: bool) -> Topic:
        """The topic of this name, for who is about to join it.

        `as_public`: the caller was let in because the board is public, so the topic must know.
        """
        while True:
            topic = self._topics.get(name)
            if topic is None:
                board = await self._state.board(name.board)
                topic = Topic(name, board if name.viewer is None else board.for_viewer(name.viewer))
                await topic.refresh()
                self._topics.setdefault(name, topic)
            elif as_public and not topic.is_public and await topic.refresh():
                await self._wake(topic, set())
            if self._topics.get(name) is topic:  # and no other was made meanwhile
                return topic

    def join(self, subscription: Subscription) -> None:
        """Watch the subscription's topic from now on."""
        topic = subscription.topic
        topic.subscriptions[subscription] = None
        self._topics.setdefault(topic.name, topic)
        self._awake.set()

    def leave(self, subscription: Subscription) -> None:
        """One subscription less; a topic that nobody watches is forgotten."""
        topic = subscription.topic
        del topic.subscriptions[subscription]
        if not topic.subscriptions and self._topics.get(topic.name) is topic:
            del self._topics[topic.name]

    def close(self) -> None:
        """Let every watcher go."""
        for watcher in self.watchers:
            watcher.close()

    async def run(self) -> None:
        """Look after the topics, as long as the service runs."""
        feed, position = self._state.boards.feed, 0
        news: asyncio.Future[int] | None = None
        sweeping = asyncio.create_task(self._sweep())
        try:
            while True:
                if not self._topics:
                    self._awake.clear()
                    await self._awake.wait()
                if feed is not None:
                    news = news or asyncio.ensure_future(feed.changed(position))
                    await asyncio.wait({news}, timeout=REFRESH_SECONDS)
                    if news.done():
                        position, news = news.result(), None
                await self._refresh()
                await asyncio.sleep(TICK_SECONDS)
        finally:
            sweeping.cancel()
            if news is not None:
                news.cancel()

    async def _sweep(self) -> None:
        """Tell watchers that have been quiet for long, and end those whose token has expired."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now, instant = asyncio.get_running_loop().time(), self._state.boards.clock.now()
            for number, watcher in enumerate(list(self.watchers), 1):
                if watcher.has_expired(instant):
                    watcher.close(is_allowed=False)
                watcher.check_quiet(now)
                if number % WOKEN_MAX == 0:
                    await self._breathe()

    async def _refresh(self) -> None:
        renamed, self._renamed = self._renamed, set()
        topics = list(self._topics.values())
        if not self._state.boards.reads_suspend:
            for topic in topics:
                await self._refresh_topic(topic, renamed)
                await self._breathe()
            return
        for first in range(0, len(topics), REFRESHED_AT_ONCE):
            group = topics[first : first + REFRESHED_AT_ONCE]
            await asyncio.gather(*(self._refresh_topic(topic, renamed) for topic in group))

    async def _refresh_topic(self, topic: Topic, renamed: set[str]) -> None:
        try:
            changed = await self._has_changed(topic)
            if renamed and topic.error is None:
                changed |= topic.rename(renamed)
            if changed or renamed:
                await self._wake(topic, renamed, is_changed=changed)
        except ToprungError:  # not now; the next time may find more
            pass
        except Exception:  # noqa: BLE001 -- the others must not suffer
            _log.exception("a live topic could not be refreshed")

    async def _has_changed(self, topic: Topic) -> bool:
        try:
            return await topic.refresh()
        except (NotFound, Invalid, Refused) as error:
            topic.error = error
            if self._topics.get(topic.name) is topic:  # who subscribes from now on begins anew
                del self._topics[topic.name]
            return True

    async def _wake(self, topic: Topic, renamed: set[str], *, is_changed: bool = True) -> None:
        """Wake those to whom there may be something to tell."""
        for number, subscription in enumerate(list(topic.subscriptions), 1):
            if subscription.rename(renamed) or is_changed:
                subscription.wake()
            if number % WOKEN_MAX == 0:
                await self._breathe()

    async def _breathe(self) -> None:
        """Let others have their turn, if it is time."""
        if perf_counter() > self._breath_ends:
            await asyncio.sleep(0)
            self._breath_ends = perf_counter() + BREATH_SECONDS
